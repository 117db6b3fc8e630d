"""Paper identifiers as the API takes them: one spelling each, and the ones that would spoil a whole batch kept out."""

import re

_FORMS = {
    "corpusid": re.compile(r"\d{1,18}"),
    "doi": re.compile(r"10\.\d{4,9}/\S+"),
    "arxiv": re.compile(r"(\d{4}\.\d{4,5}|[a-z-]+(\.[a-z]{2})?/\d{7})(v\d+)?", re.IGNORECASE),
    "mag": re.compile(r"\d+"),
    "acl": re.compile(r"\S+"),
    "pmid": re.compile(r"\d+"),
    "pmcid": re.compile(r"(PMC)?\d+", re.IGNORECASE),
    "url": re.compile(r"https?://\S+"),
}
_SPELLING = {"corpusid": "CorpusId", "url": "URL"}
_SHA = re.compile(r"[0-9a-f]{40}")
_VERSION = re.compile(r"v\d+$", re.IGNORECASE)


def canonical_id(text: str) -> str | None:
    """`corpusID:7` → `CorpusId:7`; None for a text that is no identifier (asking for it can reject its whole batch)."""
    text = text.strip()
    if _SHA.fullmatch(text.lower()):
        return text.lower()
    if _FORMS["doi"].fullmatch(text):
        return f"DOI:{text.lower()}"
    prefix, _, rest = text.partition(":")
    kind, rest = prefix.lower(), rest.strip()
    if kind not in _FORMS or not _FORMS[kind].fullmatch(rest):
        return None
    if kind == "arxiv":
        rest = _VERSION.sub("", rest)
    if kind == "pmcid":
        rest = rest.upper().removeprefix("PMC")
    return f"{_SPELLING.get(kind, kind.upper())}:{rest.lower() if kind == 'doi' else rest}"
