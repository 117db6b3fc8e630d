"""Search for the published run of an idea file."""

from collections.abc import Mapping
from pathlib import Path

from flows.profiles import load_profile
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import RunId
from schemas.options.commands import RankOptions
from schemas.run import Run
from tasks.ideas.read import read_ideas
from warehouse.queries import Queries
from warehouse.rows import noun_of
from warehouse.warehouse import Warehouse


def find_run(name: str | None, options: RankOptions) -> Run | None:
    """Return the run with this run_id, of this idea file, or the newest for None.

    None if the ideas of a file have to be evaluated: no run has engine, profile and label, or an
    option is set that is not stored with a run. The evaluation reuses what is done.

    Raises:
        ConfigurationError: no such run, and no such file.
        IdeaFileError: the file cannot be read.
    """
    warehouse = Warehouse(options.warehouse.resolve())
    path = Path(name) if name is not None and Path(name).exists() else None
    if path is not None and not warehouse.may_hold_a_lake():
        return None
    if path is None and options.field:
        raise ConfigurationError("--field is about columns of an idea file: name the file")
    with warehouse.queries() as queries:
        if name is None:
            return queries.latest_run()
        if path is None or name in {run.run_id for run in queries.list_runs()}:
            return queries.run(RunId(name))
        if options.survey or any(
            option is not None
            for option in (options.literature, options.modules, options.cutoff, options.full_text)
        ):
            return None
        criteria = {
            "engine": options.engine and options.engine.text,
            "profile": options.profile and load_profile(options.profile).name,
            "label": options.label,
        }
        return newest_run_of(
            path,
            queries,
            {field: value for field, value in criteria.items() if value},
            fields=options.field,
        )


def newest_run_of(
    path: Path, queries: Queries, criteria: Mapping[str, str], *, fields: tuple[str, ...] = ()
) -> Run | None:
    """Return the newest run with exactly the ideas of a file that meets the `criteria`.

    Raises:
        IdeaFileError: the file cannot be read.
    """
    batch = read_ideas(path, default_cutoff=None, fields=fields)
    ideas = {(idea.text, idea.description_sha256) for idea in batch.ideas}
    for run in queries.list_runs():
        is_alike = all(getattr(run, field) == value for field, value in criteria.items())
        if is_alike and run.idea_count == len(ideas) and _ideas(queries, run.run_id) == ideas:
            return run
    return None


def _ideas(queries: Queries, run_id: RunId) -> set[tuple[str, str]]:
    rows = queries.rows("ideas_of_run", run_id=run_id)
    ideas = (noun_of(Idea, row) for row in rows)
    return {(idea.text, idea.description_sha256) for idea in ideas}
