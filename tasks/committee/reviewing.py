"""Reviews of an idea by personas (InnoEval, "Innovation Review Committee")."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId, content_hash
from schemas.judgement.committee import (
    KnowledgePhase,
    KnowledgeRecord,
    Persona,
    PersonaReview,
    ReviewDimension,
)
from schemas.literature.citation import Citation
from schemas.literature.knowledge import SourceKind
from schemas.outcome import Outcome, Unscored
from schemas.reasons import Reason
from tasks.citations.settle import settle
from tasks.committee.evidence_display import (
    EvidenceDisplay,
    Library,
    citations_of,
    display_evidence,
    relevant_evidence,
)
from tasks.committee.knowledge.gather import Knowledge
from tasks.committee.steps.prompt_inputs import PartShown
from tasks.committee.steps.reviews import (
    PERSONA_REVIEW,
    DimensionShown,
    PersonaInput,
    PersonaReply,
    ReviewerShown,
)
from tasks.embeddings import Embedder
from tasks.judging.findings import CitedResult
from tasks.judging.packing import even_batches, first_alone, side_by_side
from tasks.judging.step import Engine, unasked_provenance


@dataclass(frozen=True, slots=True)
class PanelMember:
    """A persona on the committee of one idea, and the seed of its evidence mask."""

    persona: Persona
    mask_seed: int


async def nearest_personas(
    personas: Sequence[Persona], count: int, field: str, embedder: Embedder
) -> tuple[Persona, ...]:
    """Return the `count` personas whose profiles are nearest to a field's name, nearest first."""
    if not count:
        return ()
    candidates = sorted(personas, key=lambda persona: persona.persona_id)
    field_vector, *profiles = await embedder.embed(
        [field, *(f"{persona.name}. {persona.profile}" for persona in candidates)]
    )
    nearness = [round(float(field_vector @ profile), 6) for profile in profiles]
    places = sorted(range(len(candidates)), key=lambda place: -nearness[place])
    return tuple(candidates[place] for place in places[:count])


def draw_personas(
    personas: Sequence[Persona],
    count: int,
    seed: int,
    idea_id: IdeaId,
    *,
    same_panel: bool = False,
    near: Sequence[Persona] = (),
) -> tuple[PanelMember, ...]:
    """Draw `count` different personas: those of `near`, and others at random.

    The draw depends on seed, idea and personas only, not on their order; with `same_panel` not on
    the idea. The evidence mask of a persona is drawn for each idea.

    Raises:
        ConfigurationError: there are fewer than `count`.
    """
    if len(personas) < count:
        raise ConfigurationError(
            f"persona_count is {count}, but there are {len(personas)} personas: ask for fewer, or"
            " add some"
        )
    candidates = sorted(personas, key=lambda persona: persona.persona_id)
    # No secret: the draw must be reproducible.
    lot = _seed(seed, IdeaId("") if same_panel else idea_id, "draw")
    generator = random.Random(lot)  # noqa: S311
    other_personas = [persona for persona in candidates if persona not in near]
    return tuple(
        PanelMember(persona, _seed(seed, idea_id, persona.persona_id))
        for persona in (*near, *generator.sample(other_personas, count - len(near)))
    )


def familiar_knowledge(member: PanelMember, records: Sequence[KnowledgeRecord]) -> frozenset[str]:
    """Return the ids of knowledge that the persona knows.

    They are its familiar share of each kind, rounded up.

    Masks are nested: with the same seed, a more familiar persona knows everything that a less
    familiar one does. They do not depend on the dimension or the order of `records`.
    """
    known_ids: set[str] = set()
    for kind in SourceKind:
        of_kind = sorted(
            (record for record in records if record.kind is kind),
            # By the item's content, not its position among the results.
            key=lambda record: content_hash(str(member.mask_seed), record.url, record.title),
        )
        # Rounded before it is rounded up: in floats 0.55 · 100 is a little more than 55.
        known_ids.update(
            record.knowledge_id
            for record in of_kind[
                : math.ceil(round(familiarity(member.persona, kind) * len(of_kind), 9))
            ]
        )
    return frozenset(known_ids)


def familiarity(persona: Persona, kind: SourceKind) -> float:
    shares = {
        SourceKind.PAPERS: persona.familiarity_papers_0_to_1,
        SourceKind.WEB: persona.familiarity_web_0_to_1,
        SourceKind.CODE: persona.familiarity_code_0_to_1,
    }
    return shares[kind]


def _seed(seed: int, idea_id: IdeaId, purpose: str) -> int:
    return int(content_hash(str(seed), idea_id, purpose, length=8), 16)


@dataclass(frozen=True, slots=True)
class Case:
    """Input of all reviewers.

    `field_not_covered`: the literature was not searched, because it does not cover the idea's field.
    """

    idea: Idea
    parts: tuple[PartShown, ...]
    knowledge: Knowledge
    library: Library
    field_not_covered: bool = False


@dataclass(frozen=True, slots=True)
class PersonaReviewResult(CitedResult[PersonaReview]):
    reviewer: str = ""


@dataclass(frozen=True, slots=True)
class _Seat:
    """One persona with the evidence from before the cutoff that it knows."""

    case: Case
    member: PanelMember
    display: EvidenceDisplay
    shown_count: int
    masked_count: int

    @classmethod
    def of(cls, case: Case, member: PanelMember) -> "_Seat":
        evidence = relevant_evidence(case.knowledge.evidence, KnowledgePhase.BEFORE)
        bearing = {row.knowledge_id for row in evidence}
        records = [each for each in case.knowledge.records if each.knowledge_id in bearing]
        known_ids = familiar_knowledge(member, records)
        known_evidence = [row for row in evidence if row.knowledge_id in known_ids]
        display = display_evidence(known_evidence, case.library)
        shown_count = len(known_evidence)
        return cls(case, member, display, shown_count, len(evidence) - shown_count)

    def question(self, dimensions: Sequence[ReviewDimension]) -> PersonaInput:
        persona = self.member.persona
        return PersonaInput(
            idea=self.case.idea.text,
            parts=self.case.parts,
            evidence=self.display.items,
            unanswered_searches=self.case.knowledge.unanswered_searches,
            field_not_covered=self.case.field_not_covered,
            reviewer=ReviewerShown(
                name=persona.name, profile=persona.profile, habits=persona.habits
            ),
            dimensions=tuple(
                DimensionShown(name=each.name, question=each.question, scale=each.scale)
                for each in dimensions
            ),
        )

    def result(
        self,
        dimension: ReviewDimension,
        columns: dict[str, Any],
        citations: tuple[Citation, ...] = (),
    ) -> PersonaReviewResult:
        row = PersonaReview(
            persona_id=self.member.persona.persona_id,
            dimension=dimension.name,
            shown_evidence_count=self.shown_count,
            masked_evidence_count=self.masked_count,
            mask_seed=self.member.mask_seed,
            **columns,
        )
        name = self.member.persona.name
        return PersonaReviewResult(row, self.display.prompt_papers, citations, reviewer=name)

    def unscored(self, dimension: ReviewDimension, why: Unscored) -> PersonaReviewResult:
        return self.result(dimension, {"score_0_to_10": None, **why.columns})


async def review_case(
    case: Case,
    panel: Sequence[PanelMember],
    dimensions: Sequence[ReviewDimension],
    dimensions_per_call: int,
    engine: Engine,
) -> tuple[PersonaReviewResult, ...]:
    """Return one review per persona and dimension, in that order.

    Each is scored or has a reason.

    Personas run concurrently.
    """

    async def review(seat: _Seat) -> list[PersonaReviewResult]:
        judged_dimensions = [
            each for each in dimensions if seat.display.items or not each.needs_evidence
        ]
        batches = even_batches(judged_dimensions, dimensions_per_call)
        outcomes = await first_alone(
            [partial(engine.run, PERSONA_REVIEW, seat.question(batch)) for batch in batches]
        )
        by_dimension = {
            each.name: _read_review(seat, each, outcome)
            for batch, outcome in zip(batches, outcomes, strict=True)
            for each in batch
        }
        missing = Unscored(*_why_without_evidence(seat), unasked_provenance(PERSONA_REVIEW, engine))
        return [by_dimension.get(each.name) or seat.unscored(each, missing) for each in dimensions]

    reviews_by_member = await side_by_side(review(_Seat.of(case, each)) for each in panel)
    return tuple(result for each in reviews_by_member for result in each)


def _why_without_evidence(seat: _Seat) -> tuple[Reason, str]:
    """Return why there is no evidence.

    It is `no_evidence` only if every search was answered.
    """
    knowledge = seat.case.knowledge
    if seat.masked_count:
        return (
            Reason.NO_EVIDENCE,
            f"the reviewer knows none of the {seat.masked_count} pieces of evidence there are",
        )
    reasons = [
        row.unscored_reason
        for row in knowledge.evidence
        if row.unscored_reason not in (None, Reason.NO_EVIDENCE)
    ]
    if reasons and reasons[0] is not None:
        detail = (
            f"{len(reasons)} pieces of knowledge could not be held against the idea, and no other"
            " bears on it"
        )
        return reasons[0], detail
    if knowledge.unanswered_searches:
        detail = (
            "no evidence was found, but a search failed (see failures); run again to try once more"
        )
        return Reason.SOURCE_UNAVAILABLE, detail
    if seat.case.field_not_covered:
        return Reason.FIELD_NOT_COVERED, "no other source has evidence that bears on the idea"
    return Reason.NO_EVIDENCE, "no knowledge that bears on the idea was found"


def _read_review(
    seat: _Seat, dimension: ReviewDimension, outcome: Outcome[PersonaReply]
) -> PersonaReviewResult:
    if isinstance(outcome, Unscored):
        return seat.unscored(dimension, outcome)
    entries = [
        entry
        for entry in outcome.value.reviews
        if entry.dimension.casefold().replace(" ", "_") == dimension.name
    ]
    if len(entries) != 1:
        count = f"{len(entries)} entries" if entries else "no entry"
        detail = f"the reply has {count} for the dimension"
        unscored = Unscored(Reason.REPLY_UNPARSABLE, detail, outcome.provenance)
        return seat.unscored(dimension, unscored)
    if not entries[0].review.strip():
        detail = "the reply gives a score without a reason"
        return seat.unscored(dimension, Unscored(Reason.REPLY_EMPTY, detail, outcome.provenance))
    text = settle(entries[0].review, seat.display.prompt_papers)
    columns = {
        "score_0_to_10": entries[0].score,
        "confidence_0_to_3": entries[0].confidence,
        "review": text.markdown,
        "removed_citation_count": text.removed_citation_count,
        "uncited_sentence_count": text.uncited_sentence_count,
        "provenance": outcome.provenance,
    }
    citations = citations_of(
        text,
        seat.display.prompt_papers,
        seat.case.library,
        subject=f"{seat.member.persona.persona_id} {dimension.name}",
        field="review",
    )
    return seat.result(dimension, columns, citations)
