"""Why a full text could not be had or read: the closed list, and the failure that carries one."""

from enum import StrEnum

from schemas.retrieval import SourceFailure


class DocumentReason(StrEnum):
    """`TRANSIENT` ones may pass; the rest will fail again."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    MALFORMED_ANSWER = "malformed_answer"
    UNSAFE_ADDRESS = "unsafe_address"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    TOO_LARGE = "too_large"
    NOT_A_PDF = "not_a_pdf"
    WRONG_TYPE = "wrong_type"
    NOT_LATEX = "not_latex"
    ENCRYPTED = "encrypted"
    TOO_MANY_PAGES = "too_many_pages"
    DAMAGED = "damaged"
    PARSER_LIMIT = "parser_limit"
    NO_TEXT = "no_text"
    NO_SECTIONS = "no_sections"
    NO_OPEN_ACCESS = "no_open_access"
    NO_ABSTRACT = "no_abstract"


TRANSIENT = frozenset({DocumentReason.UNREACHABLE, DocumentReason.TIMEOUT, DocumentReason.SERVER_ERROR, DocumentReason.RATE_LIMITED})
LIMITS = frozenset({DocumentReason.TOO_LARGE, DocumentReason.TOO_MANY_PAGES, DocumentReason.PARSER_LIMIT})
"""A limit was met: under a higher one the same document may be read."""


def failure(source: str, endpoint: str, reason: DocumentReason, detail: str) -> SourceFailure:
    """A failure on one line of at most 300 characters."""
    return SourceFailure(source=source, endpoint=endpoint, reason=reason.value, detail=" ".join(detail.split())[:300])


def reason_of_status(status: int) -> DocumentReason:
    """What an HTTP status other than success says about trying again."""
    if status == 429:
        return DocumentReason.RATE_LIMITED
    if status in (401, 402, 403, 407, 451):
        return DocumentReason.FORBIDDEN
    if status in (404, 410):
        return DocumentReason.NOT_FOUND
    return DocumentReason.SERVER_ERROR if status >= 500 or status == 408 else DocumentReason.BAD_REQUEST
