"""A research idea as it enters the pipeline, and an idea that could not enter."""

from datetime import date

from pydantic import BaseModel, ConfigDict, Field

from schemas.base import Noun, Prose, Writable
from schemas.formats import EARLIEST_YEAR, LATEST_YEAR
from schemas.identifiers import IdeaId, content_hash
from schemas.literature.publication import read_date
from schemas.literature.publication_fields import (
    author_names,
    identified,
    names_authors,
    names_publication,
)
from schemas.reasons import Reason
from schemas.text.patterns import bounded

AUTHORS = "authors"
"""The name under which the metadata holds an idea's authors."""

METADATA = "metadata"

FIELD_PARTS = (
    *("idea_id", "title", "text", "problem", "method", "experiment", "cutoff_date", "group"),
    *(AUTHORS, METADATA),
)
"""What a column of an idea file can be read as."""

_MOMENT = bounded(r"^(\d{4}-\d{2}-\d{2})[T ]\d{2}:\d{2}")
_CLOCK = bounded(r"\d[ ,T]{1,2}\d{1,2}:\d{2}")
_SLASHED = bounded(r"\d{1,2}[/-]\d{1,2}[/-]\d{4}")


def cutoff_day(text: str) -> date:
    """Return the day of `2024-05-17` or of a moment, or the last day of the month `2024-05`.

    Dates are read as those of publications are, moments by the day that is written in them.
    Refused are `17/05/2024`, since some write the month first, a year, a bare number other than
    `20240517`, a range, and a day that no month has.

    Raises:
        ValueError: it is no single day or month from 1500 to 2100.
    """
    text = text.strip()
    if moment := _MOMENT.match(text):
        text = moment[1]
    stated = None if text.isdecimal() and len(text) != len("20240517") else read_date(text)
    if stated is None or stated.month is None or not stated.sure:
        raise ValueError(
            f"{text!r} is no single day or month from {EARLIEST_YEAR} to {LATEST_YEAR}"
        )
    return stated.last


def looks_like_date(text: str) -> bool:
    """Return whether `text` is a date, or would be one if the order of day and month were clear.

    Moments count only in ISO 8601: forms and notebooks stamp each row with a time of their own.
    """
    if _CLOCK.search(text) and not _MOMENT.match(text.strip()):
        return False
    if _SLASHED.fullmatch(text.strip()) is not None:
        return True
    try:
        cutoff_day(text)
    except ValueError:
        return False
    return True


class SentIdea(BaseModel):
    """An idea as a program sends it, with fields of an idea file: a text, or its parts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = ""
    title: str = ""
    problem: str = ""
    method: str = ""
    experiment: str = ""
    idea_id: str = Field(default="", max_length=200)
    group: str = ""
    cutoff_date: str = Field(default="", description="Nothing later may be cited: YYYY-MM-DD.")

    @property
    def name(self) -> str:
        """Return what lists call it."""
        return self.title or self.text or self.problem or self.method or "an idea"


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
    def fields(self) -> dict[str, object]:
        """Return what an idea file holds of it. Marks of duplicates are none: reading finds them
        again.
        """
        names = ("idea_id", "title", "text", "problem", "method", "experiment", "cutoff_date")
        values = {name: getattr(self, name) for name in (*names, "group", METADATA)}
        return {name: value for name, value in values.items() if value not in (None, {})}

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
        """Hash of what is judged: the text, the cutoff date, and the authors by whom the idea's own
        papers are set apart; not its own identifier, group or other metadata.
        """
        cutoff = self.cutoff_date.isoformat() if self.cutoff_date else ""
        return content_hash(self.text, cutoff, *self.authors)

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


class FieldReading(Noun):
    """Reading of one column of an idea file."""

    file: str
    column: str = Field(description="Its name as the file has it.")
    read_as: str = Field(description="A part of the idea, a heading of its text, or metadata.")
    filled: int = Field(ge=0, description="Entries in which it holds anything.")
    longest_characters: int = Field(ge=0, description="Of its values.")
    example: str = Field(description="The beginning of its first value.")


class IdeaBatch(Noun):
    """Ideas of a file in its order, and its rejected entries with reasons."""

    ideas: tuple[Idea, ...]
    rejected: tuple[RejectedIdea, ...]
    fields: tuple[FieldReading, ...] = ()
    remarks: tuple[str, ...] = Field(
        default=(), description="What of the file is not read or not judged, a line each."
    )

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for each rejected entry, and the remarks."""
        return (*(f"{each.location}: {each.detail}" for each in self.rejected), *self.remarks)
