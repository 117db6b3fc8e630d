"""One command that writes a draft: what it is written from, what it is, what landed."""

from collections.abc import Sequence

import yaml
from pydantic import Field

from schemas.base import Noun
from schemas.calls import ApiCall
from schemas.failure import Failure
from schemas.identifiers import RunId
from schemas.run import EndedEarly, WorkHead
from schemas.work import Request
from schemas.works.draft import Draft, DraftClaim, DraftFigure, DraftWork, Form
from schemas.works.draft_neighbour import NeighbourSection, SectionPart
from schemas.works.draft_venue import Venue, VenueRules


class PlannedSection(Noun):
    """What the outline says of one section."""

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
    """What is to be changed in a section."""

    heading: str
    point: str


class DraftRevision(Noun):
    """What a second round goes on from."""

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
    """How a draft is written."""

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
