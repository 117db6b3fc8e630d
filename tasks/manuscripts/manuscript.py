"""A manuscript as it was read."""

from dataclasses import dataclass, field

from schemas.failure import Failure
from schemas.manuscripts import ManuscriptForm
from schemas.reasons import Reason

PAGE_MARK = "[page {number}]"


@dataclass(frozen=True, slots=True)
class Manuscript:
    """What a checker gets, and what places named in a reply are held against.

    Attributes:
        text: with a line `[page N]` before each page where pages are known; LaTeX as one source.
        pages: the text of each page; empty where there are none.
        attachment: the PDF itself, for engines that read one; None where the text is sent.
        passed_over: the failure of a better reader that another stood in for.
    """

    manuscript_id: str
    name: str
    title: str
    form: ManuscriptForm
    content_sha256: str
    text: str = field(repr=False)
    pages: tuple[str, ...] = field(default=(), repr=False)
    headings: tuple[str, ...] = field(default=(), repr=False)
    bibliography: str = field(default="", repr=False)
    attachment: bytes | None = field(default=None, repr=False)
    passed_over: Failure | None = None

    @property
    def word_count(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A manuscript that cannot be read."""

    reason: Reason
    detail: str
