"""What a committee makes of one idea: taken apart, looked up, grounded, reviewed by many, concluded (InnoEval)."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.citation import Citation
from schemas.committee import CommitteeEvaluation, MetaReview
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.paper import Paper
from schemas.profile import CommitteeParameters
from tasks.committee.concluding import conclude, no_committee
from tasks.committee.drawing import draw_personas
from tasks.committee.knowledge.gather import Knowledge, gather_knowledge
from tasks.committee.knowledge.tools import KnowledgeTools
from tasks.committee.reviewing import Case, Reviewed, review_case
from tasks.committee.showing import Library
from tasks.committee.structuring import Structured, structure_idea
from tasks.judging.step import Engine
from tasks.personas.roster import load_roster


@dataclass(frozen=True, slots=True)
class CommitteeFindings:
    """The evaluation, every admissible paper retrieved for it, and where it cites them."""

    evaluation: CommitteeEvaluation
    papers: tuple[Paper, ...]
    citations: tuple[Citation, ...]


async def evaluate_committee(
    idea: Idea, parameters: CommitteeParameters, seed: int, engine: Engine, tools: KnowledgeTools
) -> CommitteeFindings:
    """Review `idea`. The result does not depend on who answers first, and the same seed draws the same personas and masks.

    What a source, a page or the engine fails to give is a value in the result: an unscored row, a failure, or both.

    Raises:
        ConfigurationError: a personas file with a mistake, or fewer personas than are to be drawn.
    """
    roster = load_roster(parameters.personas_file)
    drawn = draw_personas(roster.personas, parameters.persona_count, seed, idea.idea_id)
    structured = await structure_idea(idea, engine)
    if structured.unscored is not None:
        unscored = structured.unscored
        detail = f"the idea could not be taken apart: {unscored.detail}"
        return _findings(
            structured, _NOTHING, (), no_committee(unscored.reason, detail, unscored.provenance)
        )
    knowledge = await gather_knowledge(idea, structured.claims, parameters, engine, tools)
    case = _case(idea, structured, knowledge)
    reviewed = await review_case(
        case, drawn, roster.dimensions, parameters.dimensions_per_call, engine
    )
    concluded = await conclude(case, reviewed, roster.dimensions, engine)
    return _findings(
        structured,
        knowledge,
        reviewed,
        concluded.meta_review,
        concluded.citations,
        concluded.failures,
    )


_NOTHING = Knowledge((), (), (), ())


def _case(idea: Idea, structured: Structured, knowledge: Knowledge) -> Case:
    return Case(
        idea=idea,
        parts=structured.parts,
        records=knowledge.records,
        evidence=knowledge.evidence,
        library=Library.of(knowledge.records, knowledge.papers),
        unanswered_searches=knowledge.unanswered_searches,
    )


def _findings(
    structured: Structured,
    knowledge: Knowledge,
    reviewed: Sequence[Reviewed],
    meta_review: MetaReview,
    citations: tuple[Citation, ...] = (),
    failures: tuple[Failure, ...] = (),
) -> CommitteeFindings:
    evaluation = CommitteeEvaluation(
        claims=structured.claims,
        knowledge=knowledge.records,
        evidence=knowledge.evidence,
        reviews=tuple(each.review for each in reviewed),
        meta_review=meta_review,
        failures=(*structured.failures, *knowledge.failures, *failures),
    )
    return CommitteeFindings(
        evaluation,
        knowledge.papers,
        (*(row for each in reviewed for row in each.citations), *citations),
    )
