"""Results of experiments for the ideas that they tested."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from flows.cli.terminal import print_note, print_warning
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId, RunId
from schemas.works.experiment_run import EXPERIMENTS
from schemas.works.experimental_result import ExperimentalResult
from tasks.experiments.results import result_of, tried
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_kind, published_units
from warehouse.warehouse import Warehouse

ResultsOf = dict[IdeaId, tuple[ExperimentalResult, ...]]


def check_experiments(names: Sequence[str], warehouse: Warehouse) -> tuple[RunId, ...]:
    """Return the runs that `--experiment` names, sorted.

    Raises:
        ConfigurationError: one is not published, or is of another kind.
    """
    if not names:
        return ()
    with warehouse.queries() as queries:
        for name in names:
            kind = published_kind(queries.connection, RunId(name))
            if kind is not kind_of(EXPERIMENTS):
                raise ConfigurationError(
                    f"--experiment {name} is a {kind.word}: name a run of `assay experiment run`"
                )
    return tuple(sorted(map(RunId, names)))


def results_by_idea(
    run_ids: Iterable[RunId], ideas: Sequence[Idea], warehouse: Warehouse
) -> ResultsOf:
    """Return the experimental results of each tested idea, and print their number."""
    results_of: defaultdict[IdeaId, list[ExperimentalResult]] = defaultdict(list)
    for run_id in run_ids:
        with warehouse.queries() as queries:
            experiments = published_units(queries.connection, kind_of(EXPERIMENTS), run_id)
        count_before = len(results_of)
        for experiment in experiments:
            result = result_of(run_id, experiment)
            if result is not None:
                for idea in ideas:
                    if tried(idea, experiment):
                        results_of[idea.idea_id].append(result)
        idea_ids = dict.fromkeys(each.idea_id for each in experiments if each.idea_id is not None)
        if len(results_of) == count_before:
            explanation = f"it tried {', '.join(idea_ids)}" if idea_ids else "its tasks name none"
            print_warning(f"no idea here was tried in {run_id} in the same words: {explanation}")
    if results_of:
        print_note(f"{len(results_of):,} of {len(ideas):,} ideas bring results of experiments")
    return {idea_id: tuple(results) for idea_id, results in results_of.items()}
