"""The publication kind of a record (preprint, proceedings, journal), by identifiers and venue."""

from enum import IntEnum

from schemas.text.patterns import IGNORECASE, bounded


class Kind(IntEnum):
    """Publication kind of a record.

    Of a work's versions, the one with the smallest kind is shown.
    """

    JOURNAL = 0
    PROCEEDINGS = 1
    UNKNOWN = 2
    PREPRINT = 3


_DOI = bounded(
    r"(?:https?://)?(?:(?:dx\.|www\.)?doi\.org/)?(?:doi:?)?\s{0,9}(10\.\d{1,9}(?:\.\d{1,9}){0,3}/\S+)",
    IGNORECASE,
)
_CLOSING = ".,;:"
_ARXIV_DOI = bounded(r"10\.48550/arxiv\.(.+)")
_ARXIV_VERSION = bounded(r"v\d{1,3}\Z")
_PREPRINT_DOI = bounded(
    r"10\.(?:48550/|1101/(?:\d{6}|\d{4}\.\d{2}\.\d{2}\.)|64898/|21203/rs\.|2139/ssrn\."
    r"|31\d{3}/osf\.io/|20944/preprints|26434/chemrxiv|36227/techrxiv|22541/|1002/essoar"
    r"|7287/peerj\.preprints|14293/s2199|33774/|32388/|5281/zenodo|6084/m9\.figshare|55277/"
    r"|5194/(?:[a-z]{2,12}-\d{4}-\d|[a-z]{2,6}d-\d))"
)
_PREPRINT_VENUE = bounded(
    r"\b(?:arxiv|[a-z]{2,6}rxiv|corr|ssrn|research square|preprints?(?:\.org)?|osf|egusphere"
    r"|(?<!faraday )discussions\Z|e-?prints?|essoar|ess open archive|zenodo|authorea|abs/\d{4})(?!\w)",
    IGNORECASE,
)
_PROCEEDINGS_DOI = bounded(r"10\.(?:18653/|1109/[a-z]{2,20}\d|1007/97[89]|24963/|52202/)")
_PROCEEDINGS_VENUE = bounded(
    r"\b(?:proceedings|proc\.|conference|conf\.|symposium|workshops?|annual meeting"
    r"|lecture notes|neurips|nips|icml|iclr|cvpr|iccv|eccv|aaai|ijcai|acl|emnlp|naacl)\b",
    IGNORECASE,
)
_JOURNALS_OF_PROCEEDINGS = bounded(
    r"^(?:proceedings of the (?:national academy|royal society|ieee$|vldb)|proc\. natl)", IGNORECASE
)
# Numbered deposits of one work, such as `10.21203/rs.3.rs-1/v2` or `10.12688/f1000research.1.2`.
_DEPOSIT = bounded(r"[._/-]?v\d{1,3}\Z")
_NUMBERED_DOI = bounded(r"10\.(?:12688/[a-z]{1,30}\d{0,6}\.\d{1,9}|1002/essoar\.\d{1,12})")
_NUMBER = bounded(r"\.\d{1,2}\Z")

# Comments and replies in the public review of a paper are no papers.
_DISCUSSION_DOI = bounded(r"10\.5194/\S{1,80}-(?:rc|ac|cc|ec|sc|cec)\d{1,3}\Z")
_COMMENT = r"(?:rc|ac|cc|ec|sc|cec)\d{1,3}"
_DISCUSSION_TITLE = bounded(
    rf"^(?:{_COMMENT}\s?: ?['\"‘“]?(?:comment|reply|response|review)"
    rf"|(?:final )?(?:author )?(?:reply|response|comments?) (?:on|to) ['\"‘“]?(?:{_COMMENT}\b"
    r"|[a-z]{2,12}-\d{4}-\d)"
    r"|(?:(?:open )?peer review|open review|reviewer)(?: report| comments?)?(?: ?#? ?\d{1,2})?"
    r" (?:for|of|on):? [\"“]|review for [\"“]"
    r"|(?:author|authors'|authors’) (?:response|reply|comment)s?(?: for| to| on)?:? [\"“]"
    r"|author response: |decision letter(?: for|:) |elife assessment: "
    r"|reviewer #\d{1,2} \((?:public|recommendations))",
    IGNORECASE,
)


def canonical_doi(text: str) -> str | None:
    """Return `https://doi.org/10.1/ABC.` as `10.1/abc`; None if the text is no DOI."""
    match = _DOI.fullmatch(text.strip())
    return match[1].lower().replace("%2f", "/").rstrip(_CLOSING) if match else None


def without_deposit(doi: str) -> str:
    """Return a canonical DOI without its deposit number, if it has one."""
    stem = _DEPOSIT.sub("", doi) if _PREPRINT_DOI.match(doi) else doi
    return _NUMBER.sub("", stem) if _NUMBERED_DOI.match(stem) else stem


def arxiv_of_doi(doi: str) -> str | None:
    """Return the arXiv number of a canonical arXiv DOI, without its version; else None."""
    match = _ARXIV_DOI.fullmatch(doi)
    return _ARXIV_VERSION.sub("", match[1]) if match else None


def kind_of(doi: str | None, arxiv_id: str | None, venue: str) -> Kind:
    """Return the publication kind of a record. `doi` is canonical."""
    if doi:
        if _PREPRINT_DOI.match(doi):
            return Kind.PREPRINT
        names_proceedings = _PROCEEDINGS_VENUE.search(venue) and not _JOURNALS_OF_PROCEEDINGS.match(
            venue
        )
        return (
            Kind.PROCEEDINGS if names_proceedings or _PROCEEDINGS_DOI.match(doi) else Kind.JOURNAL
        )
    if _PREPRINT_VENUE.search(venue) or (arxiv_id and not venue):
        return Kind.PREPRINT
    if _PROCEEDINGS_VENUE.search(venue) and not _JOURNALS_OF_PROCEEDINGS.match(venue):
        return Kind.PROCEEDINGS
    return Kind.JOURNAL if venue else Kind.UNKNOWN


def is_discussion(title: str, doi: str | None) -> bool:
    """Return whether a record is a comment or reply in the public review of a paper."""
    return (doi is not None and _DISCUSSION_DOI.search(doi) is not None) or (
        _DISCUSSION_TITLE.search(title) is not None
    )
