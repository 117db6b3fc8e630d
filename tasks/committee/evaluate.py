"""Evaluation of one idea by a committee: structure, knowledge, reviews, meta-review (InnoEval)."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import replace
from schemas.failure import Failure, call_failures
from schemas.idea import Idea
from schemas.judgement.committee import Claim, CommitteeEvaluation, IdeaPart, Persona
from schemas.outcome import Unscored
from schemas.profile import CommitteeParameters
from schemas.reasons import Reason
from tasks.committee.concluding import conclude, no_committee
from tasks.committee.evidence_display import Library
from tasks.committee.knowledge.context import STAGE
from tasks.committee.knowledge.gather import gather_knowledge
from tasks.committee.knowledge.tools import LITERATURE, KnowledgeTools
from tasks.committee.reviewing import Case, draw_personas, nearest_personas, review_case
from tasks.committee.steps.prompt_inputs import PartShown
from tasks.committee.steps.structure_idea import STRUCTURE_IDEA, StructureInput
from tasks.judging.findings import Findings
from tasks.judging.step import Engine
from tasks.personas.roster import load_roster

ESSENTIAL = (IdeaPart.METHODS, IdeaPart.EXPERIMENTAL_SETTINGS)
"""Parts whose absence is a failure; other absent parts only have no claims."""


@dataclass(frozen=True, slots=True)
class StructuredIdea:
    """Atomic claims of an idea's six parts, in order.

    `unscored` is the reason if there are none.
    """

    claims: tuple[Claim, ...]
    failures: tuple[Failure, ...] = ()
    unscored: Unscored | None = None

    @property
    def parts(self) -> tuple[PartShown, ...]:
        """All six parts, missing ones without claims."""
        return tuple(
            PartShown(
                part=part.value,
                claims=tuple(claim.statement for claim in self.claims if claim.part is part),
            )
            for part in IdeaPart
        )


async def structure_idea(idea: Idea, engine: Engine) -> StructuredIdea:
    """Ask for the claims of the idea's parts (InnoEval, "Overall Architecture").

    A missing method or test is recorded as a failure.
    """
    outcome = await engine.run(STRUCTURE_IDEA, StructureInput(idea=idea.text))
    if isinstance(outcome, Unscored):
        return StructuredIdea((), call_failures([outcome], STAGE, STRUCTURE_IDEA.name), outcome)
    claims_by_part = outcome.value.claims()
    pairs = [
        (part, statement) for part, statements in claims_by_part.items() for statement in statements
    ]
    if not pairs:
        unscored = Unscored(
            Reason.NOTHING_TO_JUDGE, "the reply finds no claim in the idea", outcome.provenance
        )
        return StructuredIdea((), (_missing(idea, list(IdeaPart)),), unscored)
    claims = tuple(
        Claim(claim_id=f"c{number}", part=part, statement=statement, provenance=outcome.provenance)
        for number, (part, statement) in enumerate(pairs, start=1)
    )
    absent = [part for part in ESSENTIAL if not claims_by_part[part]]
    return StructuredIdea(claims, (_missing(idea, absent),) if absent else ())


def _missing(idea: Idea, parts: list[IdeaPart]) -> Failure:
    names = ", ".join(part.value.replace("_", " ") for part in parts)
    detail = f"the idea does not have: {names}; it was judged without"
    return Failure(stage=STAGE, subject=idea.idea_id, reason=Reason.NOTHING_TO_JUDGE, detail=detail)


async def evaluate_committee(
    idea: Idea,
    parameters: CommitteeParameters,
    seed: int,
    engine: Engine,
    tools: KnowledgeTools,
    *,
    with_literature: bool = True,
) -> Findings[CommitteeEvaluation]:
    """Review `idea`, with or without literature.

    The result does not depend on timing; equal seeds draw equal personas and masks. Failures of
    sources, pages and the engine are unscored rows or failures in the result.

    Raises:
        ConfigurationError: a personas file with a mistake, or fewer personas than are to be drawn.
    """
    roster = load_roster(parameters.personas_file)
    field, count = parameters.panel_field, parameters.persona_count
    near_personas: Sequence[Persona] = ()
    if field is not None:
        near_personas = await nearest_personas(roster.personas, count // 2, field, tools.embedder)
    panel = draw_personas(
        roster.personas,
        count,
        seed,
        idea.idea_id,
        same_panel=parameters.same_panel,
        near=near_personas,
    )
    structured_idea = await structure_idea(idea, engine)
    if structured_idea.unscored is not None:
        detail = f"the idea could not be taken apart: {structured_idea.unscored.detail}"
        unscored = dataclasses.replace(structured_idea.unscored, detail=detail)
        evaluation = CommitteeEvaluation(
            claims=(),
            knowledge=(),
            evidence=(),
            reviews=(),
            meta_review=no_committee(unscored),
            failures=structured_idea.failures,
        )
        return Findings(evaluation)
    search_parameters = parameters
    if not with_literature:
        other_sources = tuple(name for name in parameters.sources if name != LITERATURE)
        search_parameters = replace(parameters, sources=other_sources)
    knowledge = await gather_knowledge(
        idea, structured_idea.claims, search_parameters, engine, tools
    )
    case = Case(
        idea=idea,
        parts=structured_idea.parts,
        knowledge=knowledge,
        library=Library.of(knowledge.records, knowledge.papers),
        field_not_covered=search_parameters.sources != parameters.sources,
    )
    reviews = await review_case(
        case, panel, roster.dimensions, parameters.dimensions_per_call, engine
    )
    meta_review = await conclude(case, reviews, roster.dimensions, engine)
    evaluation = CommitteeEvaluation(
        claims=structured_idea.claims,
        knowledge=knowledge.records,
        evidence=knowledge.evidence,
        reviews=tuple(each.value for each in reviews),
        meta_review=meta_review.value,
        failures=(*structured_idea.failures, *knowledge.failures, *meta_review.failures),
    )
    citations = (row for each in reviews for row in each.citations)
    return Findings(
        evaluation,
        knowledge.papers,
        (*citations, *meta_review.citations),
        meta_review.suggestions,
    )
