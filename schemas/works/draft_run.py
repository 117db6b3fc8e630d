"""Kind of work `write`: jobs, options, requests and heads of drafts."""

from collections.abc import Sequence
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
from schemas.run import EndedEarly, WorkHead
from schemas.work import Request
from schemas.work_schema import WorkSchema, tables_of_unit
from schemas.works.draft import Draft, DraftClaim, DraftFigure, DraftSection, DraftWork, Form
from schemas.works.draft_neighbour import NeighbourSection, SectionPart
from schemas.works.draft_venue import Venue, VenueRules


class PlannedSection(Noun):
    """Section of an outline."""

    heading: str = Field(min_length=1, max_length=200)
    purpose: str = Field(min_length=1, max_length=2_000, description="Content it should have.")
    claim_keys: tuple[str, ...] = ()
    figure_ids: tuple[str, ...] = ()
    part: SectionPart | None = Field(
        default=None, description="Usual part of papers; None: none of them."
    )
    planned_words: int = Field(default=300, ge=20, le=5_000)
    style: str = Field(default="", max_length=200, description="Style, in a few words.")
    planned_from: str = Field(
        default="", max_length=500, description="Source of length, position and style."
    )


def outline_of(draft: Draft) -> tuple[PlannedSection, ...]:
    """Return the outline of a draft."""
    names = set(PlannedSection.model_fields)
    return tuple(
        PlannedSection.model_validate(section.model_dump(include=names))
        for section in draft.sections
    )


def outline_text(outline: Sequence[PlannedSection]) -> str:
    """Return the outline as editable YAML."""
    rows = [each.model_dump(mode="json") for each in outline]
    return yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, width=100)


class StoredText(Noun):
    """Text of another paper, which a draft must not copy."""

    title: str
    text: str


class Material(Noun):
    """Inputs of a draft, collected before the text is written."""

    form: Form
    title: str = Field(min_length=1)
    claims: tuple[DraftClaim, ...]
    figures: tuple[DraftFigure, ...]
    works: tuple[DraftWork, ...]
    stored: tuple[StoredText, ...] = ()
    failures: tuple[Failure, ...] = Field(
        default=(), description="Inputs that were left out, with reasons."
    )
    neighbours: tuple[NeighbourSection, ...] = ()
    venue: VenueRules = VenueRules(venue="neutral")


class SectionPoint(Noun):
    """Change requested for a section."""

    heading: str
    point: str


class DraftRevision(Noun):
    """State of the first round of a draft, for the second round."""

    run_id: RunId = Field(description="The first round.")
    review_run_id: RunId = Field(description="The check that reviewed it.")
    draft: Draft = Field(description="The published draft of the first round.")
    points: tuple[SectionPoint, ...] = Field(min_length=1)


class PlannedDraft(Noun):
    """Draft to write, with its inputs and outline."""

    draft_id: str = Field(min_length=1)
    content_sha256: str = Field(description="Hash over all inputs.")
    material: Material
    outline: tuple[PlannedSection, ...]
    venue: Venue | None = Field(default=None, description="Template; None: neutral.")
    revision: DraftRevision | None = Field(default=None, description="None: a first round.")
    idea_run_id: RunId | None = None
    experiment_run_ids: tuple[RunId, ...] = ()
    survey_run_id: RunId | None = None
    api_calls: tuple[ApiCall, ...] = Field(
        default=(), description="Requests for the full texts of neighboring papers."
    )


class DraftParameters(Noun):
    """Parameters of a draft."""

    method_version: int = Field(description="Version of the code for texts and checks.")
    review: bool = Field(default=False, description="Whether it is reviewed and rewritten.")
    draws: bool = Field(default=False, description="Whether an image model draws a figure.")


DraftRequest = Request[PlannedDraft, DraftParameters]


class DraftHead(WorkHead):
    """One draft by one engine, with its sources."""

    idea_run_id: RunId | None = Field(
        default=None, description="The run that evaluated the idea; None: the idea is from a file."
    )
    experiment_run_ids: tuple[str, ...] = Field(
        default=(), description="Runs of experiments that it reports."
    )
    venue: str = Field(description="Template.")
    survey_run_id: RunId | None = Field(
        default=None, description="The survey of its works; None: no survey."
    )
    revises: str = Field(
        default="", description="run_id of the first round; empty: it is the first round."
    )
    review_run_id: str = Field(
        default="", description="The check that reviewed the first round; empty: none."
    )
    incomplete_reason: EndedEarly = None


class WriteOptions(DeclaredOptions):
    """Options of `assay write`."""

    experiment: tuple[str, ...] = option(
        (), "RUN[/TASK]", "A run of experiments to report, or one of its tasks; repeatable."
    )
    survey: str | None = option(None, "RUN", "The survey for related work.")
    bib: Path | None = option(None, "FILE", "A bibliography, whose keys are used.")
    outline: Path | None = option(None, "FILE", "An edited outline.yaml of an earlier draft.")
    full_text: bool = option(
        False, "", "Download missing full texts of similar papers to measure their sections."
    )
    field: Fields = ()
    venue: str = option(
        "neutral",
        "NAME|DIR",
        "Template: neutral, article, conference or preprint, or a folder of your own.",
    )
    outline_only: bool = option(
        False, "", "Print the outline for editing (see --outline), and write nothing."
    )
    review: bool = option(
        False,
        "",
        "Review the draft as by `assay check --review`, and rewrite it by the findings. Needs a"
        " model, and costs about three times as much.",
    )
    image_model: str | None = option(
        None,
        "MODEL",
        "Image model, such as openai/gpt-image-1, that draws the method figure, with a disclosure."
        " Default: a program draws it.",
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
    """Also options with local files, and a model that is not offered."""
    command: Literal["write"] = "write"
    idea: Annotated[str, Field(min_length=1, max_length=200)] | SentIdea = Field(
        description="The identifier of an idea of the lake, or an idea itself."
    )
    options: WriteOptions


_of_draft = tables_of_unit(Draft, "draft_id")
DRAFTS = WorkSchema(
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
)
