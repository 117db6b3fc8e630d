"""Re-evaluation of the ideas of an earlier run."""

from collections.abc import Sequence
from pathlib import Path

from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import RunId
from schemas.judgement.run_request import RunRequest
from schemas.options.commands import EvaluateOptions
from schemas.options.values import parse_modules
from schemas.settings import Settings
from tasks.contribution.context import judged_before
from tasks.evaluation.shard_job import PlannedIdea
from tasks.ideas.json_lines import write_ideas
from warehouse.kinds.runs.landing import RUNS
from warehouse.rows import noun_of
from warehouse.units.published_work import published_kind
from warehouse.warehouse import Warehouse


def reevaluation_input(
    name: str, options: EvaluateOptions, settings: Settings
) -> tuple[tuple[Path], EvaluateOptions]:
    """Write the ideas of run `name` to a file, and complete the options from the run.

    Engine, profile and modules of the run replace options that are at their defaults.

    Raises:
        ConfigurationError: no such run of ideas, or its ideas are not in the lake.
    """
    if options.field:
        raise ConfigurationError("--field is about columns of a file: leave it out with --again")
    warehouse = Warehouse(options.warehouse.resolve(), settings)
    with warehouse.queries() as queries:
        run_id = RunId(name)
        kind = published_kind(queries.connection, run_id)
        if kind is not RUNS:
            raise ConfigurationError(f"{name} is a {kind.word}: --again takes a run of ideas")
        run = queries.run(run_id)
        ideas = [noun_of(Idea, row) for row in queries.rows("stored_ideas", run_id=run_id)]
    if not ideas:
        raise ConfigurationError(
            f"the lake holds no idea of run {name}: evaluate their file without --again"
        )
    if options.cutoff is not None:
        cutoff = options.cutoff
        ideas = [
            replace(each, cutoff_date=max(each.cutoff_date or cutoff, cutoff)) for each in ideas
        ]
    path = warehouse.state / "again" / f"{run_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_ideas(ideas, path)
    defaults = EvaluateOptions()
    of_run = {
        "engine": EngineChoice.named(run.engine),
        "profile": run.profile,
        "modules": parse_modules(run.modules),
    }
    updates = {
        name: value
        for name, value in of_run.items()
        if getattr(options, name) == getattr(defaults, name)
    }
    return (path,), options.model_copy(update=updates)


def add_earlier_judgements(
    planned_ideas: Sequence[PlannedIdea], request: RunRequest, warehouse: Warehouse
) -> list[PlannedIdea]:
    """Add the earlier run's judgements of papers, if engine and profile are the same."""
    assert request.parameters.again is not None
    with warehouse.queries() as queries:
        run = queries.run(request.parameters.again)
        if (run.engine, run.profile) != (request.engine.text, request.profile.name):
            return list(planned_ideas)
        idea_ids = [entry.idea.idea_id for entry in planned_ideas]
        judgements = {
            review.evaluation.idea.idea_id: judged_before(
                review.evaluation.contribution, review.evaluation.papers
            )
            for review in queries.idea_reviews(request.parameters.again, idea_ids)
            if review.evaluation.contribution is not None
        }
    return [replace(entry, before=judgements.get(entry.idea.idea_id)) for entry in planned_ideas]
