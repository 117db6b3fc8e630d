"""Who votes."""


def signed_in() -> str | None:
    """Pseudonym of who is signed in and may vote; None: nobody, or one who may not."""
    return None
