"""Under which name a person is known in what is published: drawn once, tied to the account by one
row, which may be deleted.
"""

import secrets

from warehouse.services.database import ServiceDatabase

_BYTES = 6


def pseudonym_of(database: ServiceDatabase, name: str) -> str:
    """The pseudonym of the account of this name; drawn when it is first asked for."""
    for (known,) in database.ask("pseudonym", name=name):
        return str(known)
    with database.transaction() as work:
        drawn = f"person-{secrets.token_hex(_BYTES)}"
        work.ask("add_pseudonym", name=name, pseudonym=drawn)
        ((kept,),) = work.ask("pseudonym", name=name)
    return str(kept)
