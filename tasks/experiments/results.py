"""Results of experiments as evidence on an idea, and the query that a surprise suggests."""

from collections.abc import Iterable

from schemas.idea import Idea
from schemas.identifiers import RunId
from schemas.works.experiment import Experiment, Finding, Program, Role
from schemas.works.experimental_result import ExperimentalResult, Surprise
from tasks.text.phrases import phrase_queries, specific_stems

_LEAST_SHARED_STEMS = 2


def tried(idea: Idea, experiment: Experiment) -> bool:
    """Return whether the experiment tried this idea: same id and same words."""
    same_name = experiment.idea_id == idea.idea_id
    return same_name and experiment.idea_text.split() == idea.text.split()


def result_of(run_id: RunId, experiment: Experiment) -> ExperimentalResult | None:
    """Return the result of an experiment; None if nothing was measured."""
    if experiment.finding is None:
        return None
    parent = _first(each for each in experiment.programs if each.role is Role.PARENT)
    best_id = experiment.best_program_id
    best = _first(each for each in experiment.programs if each.program_id == best_id)
    surprise, concern = _surprise(experiment)
    return ExperimentalResult(
        experiment_run_id=run_id,
        task_id=experiment.task_id,
        question=experiment.question,
        metric=experiment.metric,
        direction=experiment.direction,
        least_difference=experiment.least_difference,
        finding=experiment.finding,
        because=experiment.because,
        tried_count=experiment.tried_count,
        run_count=best.run_count if best is not None else 0,
        parent_mean=parent.mean if parent is not None else None,
        best_mean=best.mean if best is not None else None,
        gain=best.gain if best is not None else None,
        gain_low=best.gain_low if best is not None else None,
        gain_high=best.gain_high if best is not None else None,
        baseline_id=experiment.baseline_id,
        baseline_gain=experiment.baseline_gain,
        baseline_low=experiment.baseline_low,
        baseline_high=experiment.baseline_high,
        surprise=surprise,
        concern=concern,
        proposed_query=_query(experiment, concern) if surprise is not None else "",
    )


def _first(programs: Iterable[Program]) -> Program | None:
    return next(iter(programs), None)


def _surprise(experiment: Experiment) -> tuple[Surprise | None, str]:
    """Return the surprise: an idea that did not help, or that helped against a concern."""
    if experiment.finding is Finding.NOT_SUPPORTED:
        return Surprise.NOT_SUPPORTED, ""
    if experiment.finding is not Finding.SUPPORTED:
        return None, ""
    question_stems = specific_stems(f"{experiment.question} {experiment.metric}")
    concerns = (
        concern
        for concern in experiment.idea_concerns
        if len(specific_stems(concern) & question_stems) >= _LEAST_SHARED_STEMS
    )
    concern = next(concerns, "")
    return (Surprise.AGAINST_A_CONCERN, concern) if concern else (None, "")


def _query(experiment: Experiment, concern: str) -> str:
    """Search for the concern, else the task's question, in words of the idea."""
    topic = concern or experiment.question
    (queries,) = phrase_queries(experiment.idea_text, [topic], 1)
    return queries[0] if queries else ""
