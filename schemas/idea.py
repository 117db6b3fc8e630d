"""Research ideas, and entries of idea files that were rejected."""

from datetime import date

from pydantic import BaseModel, ConfigDict, Field

from schemas.base import Noun, Prose, Writable
from schemas.formats import EARLIEST_YEAR, LATEST_YEAR
from schemas.identifiers import IdeaId, content_hash
from schemas.literature.publication import read_date
from schemas.literature.publication_fields import (
    author_names,
    names_authors,
    names_publication,
    prefixed_identifier,
)
from schemas.reasons import Reason
from schemas.text.patterns import bounded

AUTHORS = "authors"
"""Metadata field of an idea's authors."""

METADATA = "metadata"

FIELD_PARTS = (
    *("idea_id", "title", "text", "problem", "method", "experiment", "cutoff_date", "group"),
    *(AUTHORS, METADATA),
)
"""Fields of an idea that a column of an idea file can fill."""

_MOMENT = bounded(r"^(\d{4}-\d{2}-\d{2})[T ]\d{2}:\d{2}")
_CLOCK = bounded(r"\d[ ,T]{1,2}\d{1,2}:\d{2}")
_SLASH_DATE = bounded(r"\d{1,2}[/-]\d{1,2}[/-]\d{4}")


def cutoff_day(text: str) -> date:
    """Parse a cutoff date; of a month such as `2024-05`, return the last day.

    Accepts the formats of publication dates, and timestamps. Rejects ambiguous orders of day and
    month (`03/05/2024`), years alone, ranges, and days that do not exist.

    Raises:
        ValueError: the text is not a single day or month from 1500 to 2100.
    """
    text = text.strip()
    if moment := _MOMENT.match(text):
        text = moment[1]
    stated_date = None if text.isdecimal() and len(text) != len("20240517") else read_date(text)
    if stated_date is None or stated_date.month is None or not stated_date.sure:
        raise ValueError(
            f"{text!r} is no single day or month from {EARLIEST_YEAR} to {LATEST_YEAR}"
        )
    return stated_date.last


def looks_like_date(text: str) -> bool:
    """Return whether `text` is a date, including those with an ambiguous order."""
    # Timestamps count only in ISO 8601: forms and notebooks add other ones to each row.
    if _CLOCK.search(text) and not _MOMENT.match(text.strip()):
        return False
    if _SLASH_DATE.fullmatch(text.strip()) is not None:
        return True
    try:
        cutoff_day(text)
    except ValueError:
        return False
    return True


class SentIdea(BaseModel):
    """Idea submitted by a program, with the fields of an idea file."""

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
        """Return the name for lists."""
        return self.title or self.text or self.problem or self.method or "an idea"


class Idea(Noun):
    """One research idea.

    `text` is the whole idea as Markdown, given as free text or composed from the parts.
    """

    idea_id: IdeaId = Field(
        min_length=1,
        max_length=200,
        description="Given by the user, or a content hash.",
    )
    title: str = Field(description="Given, or the first heading or sentence.")
    text: Prose = Field(min_length=1, description="The whole idea, Markdown.")
    problem: Prose | None = Field(default=None, description="The problem, if given separately.")
    method: Prose | None = Field(default=None, description="The method, if given separately.")
    experiment: Prose | None = Field(
        default=None, description="The experiment, if given separately."
    )
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
        description="Other fields of the user, a JSON object of strings.",
    )
    manuscript: str | None = Field(
        default=None,
        description="File of the manuscript whose plan the idea is; None: it was given as an idea.",
    )
    translation: Prose | None = Field(
        default=None,
        description="The text in English, by a model, which was judged; None: it is in English.",
    )
    duplicate_of: IdeaId | None = Field(
        default=None,
        description="An earlier, nearly identical idea.",
    )
    duplicate_similarity_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Similarity to that idea.",
    )

    @property
    def fields(self) -> dict[str, object]:
        """Return the idea as an entry of an idea file, without marks of duplicates."""
        names = ("idea_id", "title", "text", "problem", "method", "experiment", "cutoff_date")
        values = {name: getattr(self, name) for name in (*names, "group", METADATA)}
        return {name: value for name, value in values.items() if value not in (None, {})}

    @property
    def english_text(self) -> str:
        """Return the text that is searched with and judged."""
        return self.translation or self.text

    @property
    def authors(self) -> tuple[str, ...]:
        """Return the authors in the metadata, which identify the idea's own publication.

        Engines do not receive them.
        """
        author_texts = (text for name, text in self.metadata.items() if names_authors(name))
        return tuple(name for text in author_texts for name in author_names(text))

    @property
    def publications(self) -> tuple[str, ...]:
        """Return DOIs, arXiv numbers and addresses of the idea's publication in the metadata."""
        return tuple(
            prefixed_identifier(name, text)
            for name, text in self.metadata.items()
            if names_publication(name) and text.strip()
        )

    @property
    def content_sha256(self) -> str:
        """Return a hash of everything that affects the evaluation: text, cutoff date, authors."""
        cutoff = self.cutoff_date.isoformat() if self.cutoff_date else ""
        return content_hash(self.text, cutoff, *self.authors)

    @property
    def description_sha256(self) -> str:
        """Return a hash of the other fields: identifier, title, group, metadata."""
        metadata = (f"{name}={value}" for name, value in sorted(self.metadata.items()))
        group = "grouped" if self.group is not None else "alone"
        return content_hash(self.idea_id, self.title, group, self.group or "", *metadata)


class RejectedIdea(Noun):
    """Entry of an idea file that cannot be evaluated, with the remedy."""

    idea_id: IdeaId | None = Field(
        description="The idea; None for an entry without identifier.",
    )
    location: Writable = Field(description="Position: `ideas.jsonl line 3`.")
    reason: Reason
    detail: Writable = Field(description="One line: the error and the remedy.")


class FieldReading(Noun):
    """Interpretation of one column of an idea file."""

    file: str
    column: str = Field(description="Name in the file.")
    read_as: str = Field(description="A field of the idea, a heading of its text, or metadata.")
    filled: int = Field(ge=0, description="Entries with a value.")
    longest_characters: int = Field(ge=0, description="Length of the longest value.")
    example: str = Field(description="Beginning of the first value.")


class IdeaBatch(Noun):
    """Ideas of a file in order, and its rejected entries."""

    ideas: tuple[Idea, ...]
    rejected: tuple[RejectedIdea, ...]
    fields: tuple[FieldReading, ...] = ()
    remarks: tuple[str, ...] = Field(
        default=(), description="Parts of the file that are not read or not judged, a line each."
    )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each rejected entry, and the remarks."""
        return (*(f"{each.location}: {each.detail}" for each in self.rejected), *self.remarks)
