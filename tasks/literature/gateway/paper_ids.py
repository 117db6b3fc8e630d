"""Paper identifiers as the API takes them: one spelling each, and the ones that would spoil a whole batch kept out."""

from schemas.patterns import IGNORECASE, bounded
from tasks.web.addresses import ascii_lower

_FORMS = {
    "corpusid": bounded(r"\d{1,18}"),
    "doi": bounded(r"10\.\d{4,9}/\S+"),
    "arxiv": bounded(r"(\d{4}\.\d{4,5}|[a-z-]{1,30}(\.[a-z]{2})?/\d{7})(v\d+)?", IGNORECASE),
    "mag": bounded(r"\d+"),
    "acl": bounded(r"\S+"),
    "pmid": bounded(r"\d+"),
    "pmcid": bounded(r"(PMC)?\d+", IGNORECASE),
    "url": bounded(r"https?://\S+"),
}
_SPELLING = {"corpusid": "CorpusId", "url": "URL"}
_SHA = bounded(r"[0-9a-f]{40}")
_VERSION = bounded(r"v\d{1,9}$", IGNORECASE)


def canonical_id(text: str) -> str | None:
    """`corpusID:7` → `CorpusId:7`; None for a text that is no identifier (asking for it can reject its whole batch)."""
    text = text.strip()
    if _SHA.fullmatch(text.lower()):
        return text.lower()
    if _FORMS["doi"].fullmatch(text):
        return f"DOI:{ascii_lower(text)}"
    prefix, _, rest = text.partition(":")
    kind, rest = prefix.lower(), rest.strip()
    if kind not in _FORMS or not _FORMS[kind].fullmatch(rest):
        return None
    if kind == "arxiv":
        rest = _VERSION.sub("", rest)
    if kind == "pmcid":
        rest = rest.upper().removeprefix("PMC")
    return f"{_SPELLING.get(kind, kind.upper())}:{ascii_lower(rest) if kind == 'doi' else rest}"
