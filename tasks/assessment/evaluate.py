"""The assessment of one idea, after all evidence: weigh, challenge, assess."""

from collections.abc import Callable
from dataclasses import dataclass

from schemas.judgement.assessment import AssessmentEvaluation
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import Concern
from schemas.judgement.suggestion import Suggestion
from schemas.literature.citation import Citation
from schemas.literature.paper import Paper
from schemas.profile import AssessmentParameters
from tasks.assessment.assessing import assess_plan
from tasks.assessment.challenging import challenge_concerns
from tasks.assessment.material import material_of
from tasks.assessment.weighing import weigh_concerns
from tasks.judging.step import Engine


@dataclass(frozen=True, slots=True)
class AssessmentFindings:
    """The evaluation, where it cites papers of other modules, and what it suggests.

    `concerns` are all of the idea, weighed and challenged, where its soundness was asked for.
    """

    evaluation: AssessmentEvaluation
    papers: tuple[Paper, ...] = ()
    citations: tuple[Citation, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    concerns: tuple[Concern, ...] = ()


async def evaluate_assessment(
    evaluation: IdeaEvaluation,
    parameters: AssessmentParameters,
    engine: Engine,
    engine_of: Callable[[int], Engine],
) -> AssessmentFindings:
    """Assess the plan by all that its modules came to.

    What the engine fails to give travels inside the value.

    Args:
        engine_of: the engine of each repetition, counted from 1.
    """
    material = material_of(evaluation)
    weighed = await weigh_concerns(material, parameters, engine)
    limit = parameters.maximum_concerns
    challenged = await challenge_concerns(material, weighed.concerns, limit, engine)
    assessed = await assess_plan(
        material,
        challenged.concerns,
        parameters,
        engine_of,
        unanswered=material.is_plan_unreviewed or bool(weighed.failures),
    )
    of_soundness = evaluation.soundness is not None
    return AssessmentFindings(
        AssessmentEvaluation(
            assessments=assessed.assessments,
            concerns=() if of_soundness else challenged.concerns,
            failures=(*weighed.failures, *challenged.failures, *assessed.failures),
        ),
        citations=(*weighed.citations, *challenged.citations, *assessed.citations),
        suggestions=weighed.suggestions,
        concerns=challenged.concerns if of_soundness else (),
    )
