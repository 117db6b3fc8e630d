"""Metadata fields of an idea that identify its own publication."""

from schemas.text.patterns import bounded

_AUTHORS = bounded(
    r"(?:list ?of ?|the )?authors?(?: ?\(s\)|['’]s|s?['’])?(?: ?full)? ?(?:names?|list)?"
)
_PUBLICATION = bounded(
    r"(?:paper|publication|article|arxiv|preprint|s2|semantic ?scholar|openalex|openreview|pubmed"
    r"|corpus)? ?(?:doi|arxiv|arxiv ?number|id|url|uri|link|pdf|pmid|eprint)"
)
_PREFIXES = {"arxiv": "arxiv:", "eprint": "arxiv:", "corpus": "corpusid:", "pmid": "pmid:"}
"""Prefixes of bare numbers, by a word in the field's name."""
_PARTICLES = bounded(r"^(?:[a-z]{1,4} ){1,3}")
_INITIALS = bounded(r"(?:[^\W\d_]\.?[ -]?){1,4}")


def names_authors(field: str) -> bool:
    """Return whether a field name is one of authors: `author`, `Author(s)`, `Authors' names`."""
    return _AUTHORS.fullmatch(_words(field)) is not None


def names_publication(field: str) -> bool:
    """Return whether a field name is one of an identifier or address of a publication."""
    words = _words(field)
    return words != "id" and _PUBLICATION.fullmatch(words) is not None  # `id` is the idea's own


def prefixed_identifier(field: str, text: str) -> str:
    """Return the identifier in a field, with a prefix by the field's name if it has none."""
    text = text.strip()
    prefix = next((_PREFIXES[word] for word in _PREFIXES if word in field.lower()), "")
    return f"{prefix}{text}" if text and ":" not in text else text


def _words(field: str) -> str:
    text = "".join(" " if sign in "_-" else sign for sign in field if not sign.isdigit())
    return " ".join(text.lower().split())


def author_names(text: str) -> tuple[str, ...]:
    """Split a text into names, by semicolons or else by commas and `and`.

    `Third, Cara and Fourth, Dan` and `Third, C., Fourth, D.` are two names each.
    """
    text = text.strip().strip("[]").replace("\n", ";").replace("|", ";").replace("&", " and ")
    parts = text.split(";") if ";" in text else f" {text} ".split(" and ")
    family_first = len(parts) > 1 and all(part.count(",") == 1 for part in parts)
    if not (";" in text or family_first):
        parts = [name for part in parts for name in _comma_names(part)]
    cleaned_names = (" ".join(name.strip(" '\"*").removesuffix("et al.").split()) for name in parts)
    return tuple(name for name in cleaned_names if name)


def _comma_names(text: str) -> list[str]:
    pieces = [piece.strip(" '\"") for piece in text.split(",") if piece.strip(" '\"")]
    pairs = list(zip(pieces[::2], pieces[1::2], strict=False))
    initials = all(
        given_name.isupper() and _INITIALS.fullmatch(given_name) for _, given_name in pairs
    )
    one = len(pairs) == 1 and not any(
        " " in word for word in (_PARTICLES.sub("", pieces[0]), pieces[1])
    )
    if pairs and len(pieces) % 2 == 0 and (initials or one):
        return [f"{family}, {given_name}" for family, given_name in pairs]
    return pieces
