"""Results of experiments as evidence on an idea, and the query that a surprise suggests."""

from schemas.idea import Idea
from schemas.identifiers import RunId
from schemas.works.experiment import Experiment, Finding, Role
from schemas.works.experimental_result import ExperimentalResult, Surprise
from tasks.text.phrases import phrase_queries, specific_stems

_LEAST_SHARED_STEMS = 2
_COLUMNS = set(ExperimentalResult.model_fields) & set(Experiment.model_fields)


def tried(idea: Idea, experiment: Experiment) -> bool:
    """Return whether the experiment tried this idea: same id and same words."""
    same_name = experiment.idea_id == idea.idea_id
    return same_name and experiment.idea_text.split() == idea.text.split()


def result_of(run_id: RunId, experiment: Experiment) -> ExperimentalResult | None:
    """Return the result of an experiment; None if nothing was measured."""
    if experiment.finding is None:
        return None
    programs = {each.program_id: each for each in experiment.programs}
    parent = next((each for each in programs.values() if each.role is Role.PARENT), None)
    best = programs.get(experiment.best_program_id or "")
    concern, query = "", ""
    # A surprise is an idea that did not help, or that helped against a concern.
    surprise: Surprise | None = None
    if experiment.finding is Finding.NOT_SUPPORTED:
        surprise = Surprise.NOT_SUPPORTED
    elif experiment.finding is Finding.SUPPORTED:
        question_stems = specific_stems(f"{experiment.question} {experiment.metric}")
        concerns = (
            each
            for each in experiment.idea_concerns
            if len(specific_stems(each) & question_stems) >= _LEAST_SHARED_STEMS
        )
        if concern := next(concerns, ""):
            surprise = Surprise.AGAINST_A_CONCERN
    if surprise is not None:
        # For the concern, else the task's question, in words of the idea.
        topic = concern or experiment.question
        (queries,) = phrase_queries(experiment.idea_text, [topic], 1)
        query = queries[0] if queries else ""
    return ExperimentalResult(
        **experiment.model_dump(include=_COLUMNS),
        experiment_run_id=run_id,
        run_count=best.run_count if best is not None else 0,
        parent_mean=parent.mean if parent is not None else None,
        best_mean=best.mean if best is not None else None,
        gain=best.gain if best is not None else None,
        gain_low=best.gain_low if best is not None else None,
        gain_high=best.gain_high if best is not None else None,
        surprise=surprise,
        concern=concern,
        proposed_query=query,
    )
