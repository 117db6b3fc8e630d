"""Modules that evaluate an idea: their names, tools and steps."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schemas.idea import Idea
from schemas.judgement.contribution import EarlierJudgements
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.literature.coverage import FieldCoverage
from schemas.profile import Profile
from schemas.run import Module
from schemas.works.experimental_result import ExperimentalResult
from tasks.accounting.ledger import Ledger
from tasks.documents.document import DocumentLibrary
from tasks.embeddings import Embedder
from tasks.evaluation.surveyed_literature import IDEA_SURVEY_STEPS
from tasks.judging.findings import Findings
from tasks.judging.step import Engine, Step
from tasks.literature.client import LiteratureClient

if TYPE_CHECKING:  # a module takes a while to import, and a run with nothing to do needs none
    from tasks.committee.knowledge.tools import KnowledgeTools


@dataclass(frozen=True, slots=True)
class IdeaTools:
    """Tools of one idea; all of them write into its ledger.

    Attributes:
        knowledge: None unless the committee is requested.
        before: reusable judgements of an earlier run.
        experimental_results: results of experiments on the idea.
        field_embedder: for the coverage of the field; None: not checked, and `coverage` is None.
        engine_of_repetition: returns the engine of a repetition of the assessment, counted from 1.
        evaluation: results of the other modules, for the assessment.
    """

    engine: Engine
    literature: LiteratureClient
    documents: DocumentLibrary
    embedder: Embedder
    ledger: Ledger
    knowledge: "KnowledgeTools | None" = None
    before: EarlierJudgements | None = None
    experimental_results: tuple[ExperimentalResult, ...] = ()
    field_embedder: Embedder | None = None
    coverage: FieldCoverage | None = None
    engine_of_repetition: Callable[[int], Engine] | None = None
    evaluation: IdeaEvaluation | None = None

    @property
    def covers_field(self) -> bool:
        """True if the literature covers the field, or coverage was not checked."""
        return self.coverage is None or self.coverage.field_covered


@dataclass(frozen=True, slots=True)
class EvaluatingModule:
    """A module of the evaluation.

    Attributes:
        package: package of its steps, subpackages included.
        evaluate: evaluates an idea; failures of sources and engine are part of the findings.
    """

    package: str
    evaluate: Callable[[Idea, Profile, IdeaTools], Awaitable[Findings[Any]]]

    def holds(self, package: str) -> bool:
        """Return whether a step of `package` is one of the module's."""
        return package == self.package or package.startswith(f"{self.package}.")


async def _soundness(idea: Idea, profile: Profile, tools: IdeaTools) -> Findings[Any]:
    from tasks.soundness.evaluate import evaluate_plan_alone, evaluate_soundness

    if not tools.covers_field:
        return await evaluate_plan_alone(
            idea, profile.soundness, tools.engine, tools.experimental_results
        )
    return await evaluate_soundness(
        idea,
        profile.soundness,
        tools.engine,
        tools.literature,
        tools.documents,
        tools.experimental_results,
    )


async def _contribution(idea: Idea, profile: Profile, tools: IdeaTools) -> Findings[Any]:
    from tasks.contribution.evaluate import evaluate_contribution, nothing_asked

    if not tools.covers_field:
        return nothing_asked()
    return await evaluate_contribution(
        idea,
        profile.contribution,
        tools.engine,
        tools.literature,
        tools.embedder,
        tools.before,
    )


async def _novelty(idea: Idea, profile: Profile, tools: IdeaTools) -> Findings[Any]:
    from tasks.novelty.evaluate import evaluate_novelty, field_not_covered

    if not tools.covers_field:
        return field_not_covered(tools.engine)
    return await evaluate_novelty(
        idea, profile.novelty, tools.engine, tools.literature, tools.embedder
    )


async def _committee(idea: Idea, profile: Profile, tools: IdeaTools) -> Findings[Any]:
    from tasks.committee.evaluate import evaluate_committee

    assert tools.knowledge is not None, (
        "a run that asks for the committee has the tools of its search"
    )
    return await evaluate_committee(
        idea,
        profile.committee,
        profile.seed,
        tools.engine,
        tools.knowledge,
        with_literature=tools.covers_field,
    )


async def _assessment(_: Idea, profile: Profile, tools: IdeaTools) -> Findings[Any]:
    from tasks.assessment.evaluate import evaluate_assessment

    assert tools.evaluation is not None, "the assessment comes after the other modules"
    assert tools.engine_of_repetition is not None, (
        "a run that asks for the assessment has an engine for each repetition"
    )
    return await evaluate_assessment(
        tools.evaluation, profile.assessment, tools.engine, tools.engine_of_repetition
    )


SHARED = frozenset(("tasks.judging", "tasks.recommendation"))
"""Packages of steps that several modules use."""

MODULES: dict[Module, EvaluatingModule] = {
    Module.SOUNDNESS: EvaluatingModule("tasks.soundness", _soundness),
    Module.CONTRIBUTION: EvaluatingModule("tasks.contribution", _contribution),
    Module.COMMITTEE: EvaluatingModule("tasks.committee", _committee),
    Module.NOVELTY: EvaluatingModule("tasks.novelty", _novelty),
    Module.ASSESSMENT: EvaluatingModule("tasks.assessment", _assessment),
}
"""A module added here and to `Module` is evaluated, keyed and accepted; fields of `IdeaEvaluation`
hold its findings.
"""


def steps_of(
    modules: Iterable[Module], steps: Iterable[Step[Any, Any]], *, surveyed: bool = False
) -> list[Step[Any, Any]]:
    """Return the `steps` that the modules use or share, in order.

    Args:
        surveyed: whether the survey's steps are included.
    """
    requested_modules = [MODULES[module] for module in modules]
    return [
        step
        for step in steps
        if step.package in SHARED
        or any(module.holds(step.package) for module in requested_modules)
        or (surveyed and step in IDEA_SURVEY_STEPS)
    ]
