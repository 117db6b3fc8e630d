"""A research idea as it enters the pipeline, and an idea that could not enter."""

from calendar import monthrange
from datetime import date, datetime

from pydantic import Field

from schemas.base import Noun, Prose, Writable
from schemas.formats import EARLIEST_YEAR, LATEST_YEAR
from schemas.identifiers import IdeaId, content_hash
from schemas.publication_fields import author_names, identified, names_authors, names_publication
from schemas.reasons import Reason


def cutoff_day(text: str) -> date:
    """`2024-05-17`, a moment of that day, or `2024-05`, which is the last day of the month.

    Raises:
        ValueError: it is none of them, or no day from 1500 to 2100.
    """
    year, _, month = text.partition("-")
    if len(year) == 4 and len(month) == 2 and f"{year}{month}".isdecimal():
        day = date(int(year), int(month), monthrange(int(year), int(month))[1])
    else:
        day = datetime.fromisoformat(text).date()
    if not EARLIEST_YEAR <= day.year <= LATEST_YEAR:
        raise ValueError(f"{day.isoformat()} is not from {EARLIEST_YEAR} to {LATEST_YEAR}")
    return day


class Idea(Noun):
    """One research idea.

    `text` is the whole idea as one Markdown text: given as free text, or put together from the
    parts.
    """

    idea_id: IdeaId = Field(
        min_length=1,
        max_length=200,
        description="Given by the user, or a content hash.",
    )
    title: str = Field(description="Given, or the first heading or sentence.")
    text: Prose = Field(min_length=1, description="The whole idea, Markdown.")
    problem: Prose | None = Field(default=None, description="The problem, when given apart.")
    method: Prose | None = Field(default=None, description="The method, when given apart.")
    experiment: Prose | None = Field(default=None, description="The experiment, when given apart.")
    cutoff_date: date | None = Field(
        default=None,
        description="Nothing published after this day may be cited; None: no cutoff.",
    )
    group: str | None = Field(
        default=None,
        description="Ideas of one group are ranked together; None: those without a group.",
    )
    metadata: dict[str, str] = Field(
        default_factory=dict,
        description="What else the user gave, a JSON object of strings.",
    )
    duplicate_of: IdeaId | None = Field(
        default=None,
        description="An earlier idea that says nearly the same.",
    )
    duplicate_similarity_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="How nearly.",
    )

    @property
    def authors(self) -> tuple[str, ...]:
        """The names that the metadata gives as authors, in one field or several; by them the
        idea's own publication is known. No engine is shown them.
        """
        given = (text for name, text in self.metadata.items() if names_authors(name))
        return tuple(name for text in given for name in author_names(text))

    @property
    def publications(self) -> tuple[str, ...]:
        """DOIs, arXiv numbers and addresses that the metadata gives of the idea's publication."""
        return tuple(
            identified(name, text)
            for name, text in self.metadata.items()
            if names_publication(name) and text.strip()
        )

    @property
    def content_sha256(self) -> str:
        """Hash of what is judged: the text, the cutoff date, and authors and identifiers by which
        the idea's own papers are set apart; not its own identifier, group or other metadata.
        """
        cutoff = self.cutoff_date.isoformat() if self.cutoff_date else ""
        return content_hash(self.text, cutoff, *self.authors, *self.publications)

    @property
    def description_sha256(self) -> str:
        """Hash of what is shown and ranked by, and not judged: identifier, title, group,
        metadata.
        """
        metadata = (f"{name}={value}" for name, value in sorted(self.metadata.items()))
        group = "grouped" if self.group is not None else "alone"
        return content_hash(self.idea_id, self.title, group, self.group or "", *metadata)


class RejectedIdea(Noun):
    """An entry of an idea file that cannot be evaluated, and how to mend it."""

    idea_id: IdeaId | None = Field(
        description="The idea; None for an entry that gave no identifier.",
    )
    location: Writable = Field(description="Where it stood: `ideas.jsonl line 3`.")
    reason: Reason
    detail: Writable = Field(description="One line: what is wrong and how to mend it.")


class IdeaBatch(Noun):
    """What reading an idea file gave: the good ideas in file order, and the rest with reasons."""

    ideas: tuple[Idea, ...]
    rejected: tuple[RejectedIdea, ...]
