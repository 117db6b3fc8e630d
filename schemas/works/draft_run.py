"""One command that writes a draft: what it is written from, what it is, what landed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field

from schemas.base import Noun
from schemas.calls import ApiCall
from schemas.failure import Failure
from schemas.idea import SentIdea
from schemas.identifiers import RunId
from schemas.options.commands import DeclaredOptions
from schemas.options.values import Fields, option
from schemas.people.ledger import Artefact
from schemas.people.work_job import OF_THE_MACHINE, WorkJob
from schemas.reasons import Reason
from schemas.run import EndedEarly, WorkHead
from schemas.work import Request
from schemas.work_schema import WorkSchema, tables_of_unit
from schemas.works.draft import Draft, DraftClaim, DraftFigure, DraftSection, DraftWork, Form
from schemas.works.draft_neighbour import NeighbourSection, SectionPart
from schemas.works.draft_venue import Venue, VenueRules


class PlannedSection(Noun):
    """Section as the outline plans it."""

    heading: str = Field(min_length=1, max_length=200)
    purpose: str = Field(min_length=1, max_length=2_000, description="What it has to say.")
    claim_keys: tuple[str, ...] = ()
    figure_ids: tuple[str, ...] = ()
    part: SectionPart | None = Field(
        default=None, description="What the section is for; None: nothing that papers have."
    )
    planned_words: int = Field(default=300, ge=20, le=5_000)
    style: str = Field(default="", max_length=200, description="How it is written, in a few words.")
    planned_from: str = Field(
        default="", max_length=500, description="Where words, place and style are from."
    )


def outline_of(draft: Draft) -> tuple[PlannedSection, ...]:
    """The outline that a draft was written by."""
    names = set(PlannedSection.model_fields)
    return tuple(
        PlannedSection.model_validate(section.model_dump(include=names))
        for section in draft.sections
    )


def outline_text(outline: Sequence[PlannedSection]) -> str:
    """The outline as YAML, for a person to edit."""
    rows = [each.model_dump(mode="json") for each in outline]
    return yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, width=100)


class StoredText(Noun):
    """A text of another paper, which a draft must not repeat."""

    title: str
    text: str


class Material(Noun):
    """All that a draft is written from, collected before any sentence."""

    form: Form
    title: str = Field(min_length=1)
    claims: tuple[DraftClaim, ...]
    figures: tuple[DraftFigure, ...]
    works: tuple[DraftWork, ...]
    stored: tuple[StoredText, ...] = ()
    failures: tuple[Failure, ...] = Field(
        default=(), description="What was collected and is left out, and why."
    )
    neighbours: tuple[NeighbourSection, ...] = ()
    venue: VenueRules = VenueRules(venue="neutral")


class SectionPoint(Noun):
    """Change that a section needs."""

    heading: str
    point: str


class DraftRevision(Noun):
    """State from which a second round of a draft goes on."""

    run_id: RunId = Field(description="The first round.")
    review_run_id: RunId = Field(description="The check that reviewed it.")
    draft: Draft = Field(description="The first round as it was published.")
    points: tuple[SectionPoint, ...] = Field(min_length=1)


class PlannedDraft(Noun):
    """One draft that is to be written: from what, by which outline."""

    draft_id: str = Field(min_length=1)
    content_sha256: str = Field(description="Over all that it is written from.")
    material: Material
    outline: tuple[PlannedSection, ...]
    venue: Venue | None = Field(default=None, description="Sets its files; None: neutrally.")
    revision: DraftRevision | None = Field(default=None, description="None: it is a first round.")
    idea_run_id: RunId | None = None
    experiment_run_ids: tuple[RunId, ...] = ()
    survey_run_id: RunId | None = None
    api_calls: tuple[ApiCall, ...] = Field(
        default=(), description="Requests for the full texts of neighbours."
    )


class DraftParameters(Noun):
    """Parameters of a draft."""

    method_version: int = Field(description="Of what no model writes, and of the check.")
    review: bool = Field(default=False, description="Whether it is reviewed and written again.")
    draws: bool = Field(default=False, description="Whether an image model draws a figure.")


DraftRequest = Request[PlannedDraft, DraftParameters]


class DraftHead(WorkHead):
    """One draft by one engine, and what it rests on."""

    idea_run_id: RunId | None = Field(
        default=None, description="The run that evaluated the idea; None: it came from a file."
    )
    experiment_run_ids: tuple[str, ...] = Field(
        default=(), description="Runs of experiments that it reports."
    )
    venue: str = Field(description="Template it follows.")
    survey_run_id: RunId | None = Field(
        default=None, description="The survey that its works are from; None: there was none."
    )
    revises: str = Field(
        default="", description="The first round, by its run_id; empty: it is one itself."
    )
    review_run_id: str = Field(
        default="", description="The check that reviewed the first round; empty: none did."
    )
    incomplete_reason: EndedEarly = None


class WriteOptions(DeclaredOptions):
    """Of `assay write`."""

    experiment: tuple[str, ...] = option(
        (), "RUN[/TASK]", "A run of experiments that it reports, or a task of it; may be repeated."
    )
    survey: str | None = option(None, "RUN", "The survey that related work is taken from.")
    bib: Path | None = option(None, "FILE", "A bibliography of your own, whose keys are kept.")
    outline: Path | None = option(
        None, "FILE", "An outline.yaml of an earlier draft, as you have edited it."
    )
    full_text: bool = option(
        False, "", "Fetch full texts of papers nearby that are not stored, to measure them."
    )
    field: Fields = ()
    venue: str = option(
        "neutral",
        "NAME|DIR",
        "Template: neutral, article, conference or preprint, or a folder of your own.",
    )
    outline_only: bool = option(
        False, "", "Print the outline, to be edited and given back with --outline; write nothing."
    )
    review: bool = option(
        False,
        "",
        "Have the draft reviewed as by `assay check --review`, and write it once more by what is"
        " found. Needs a model, and costs about three times as much.",
    )
    image_model: str | None = option(
        None,
        "MODEL",
        "Have an image model, such as openai/gpt-image-1, draw the method figure that the engine"
        " describes; marked as such. Default: a program draws it.",
    )


class WriteJob(WorkJob):
    """Put together a draft of an idea in which every number and citation has a source: a proposal,
    or a paper where experiments are named. It is refused where it says what nothing carries.
    """

    tool = "write_draft"
    not_offered = OF_THE_MACHINE | {
        *("bib", "outline", "outline_only", "venue", "field"),
        "image_model",
    }
    """Beside those, files of the caller's choice, and a model that readers are not offered."""
    command: Literal["write"] = "write"
    idea: Annotated[str, Field(min_length=1, max_length=200)] | SentIdea = Field(
        description="The identifier of an idea of the lake, or an idea itself."
    )
    options: WriteOptions


def _reasons(draft: Draft) -> Iterator[Reason | None]:
    yield draft.unscored_reason
    yield from (section.unscored_reason for section in draft.sections)
    yield from (failure.reason for failure in draft.failures)


_of_draft = tables_of_unit(Draft, "draft_id")
DRAFTS = WorkSchema(
    word="draft",
    unit="idea",
    noun=Draft,
    head=DraftHead,
    tables=(
        _of_draft("drafts", Draft),
        _of_draft("draft_sections", DraftSection, "section_id"),
        _of_draft("draft_claims", DraftClaim, "claim_key"),
        _of_draft("draft_figures", DraftFigure, "figure_id"),
        _of_draft("draft_works", DraftWork, "cite_key"),
        _of_draft("draft_neighbours", NeighbourSection, "paper_id", "section_number"),
    ),
    artefact=Artefact.DRAFT,
    given=("content_sha256",),
    reasons=_reasons,
    jobs=(WriteJob,),
)
