"""Which published run evaluated the ideas of a file."""

from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from tasks.ideas.read import read_ideas
from warehouse.queries import Queries


def newest_run_of(path: Path, queries: Queries) -> RunId:
    """The newest run whose ideas are those of the file: same identifiers, same texts, whatever the options.

    Raises:
        ConfigurationError: no published run evaluated exactly these ideas.
        IdeaFileError: the file cannot be read.
    """
    wanted = {(str(idea.idea_id), idea.text) for idea in read_ideas(path, default_cutoff=None).ideas}
    for run in queries.list_runs():
        if run.idea_count == len(wanted) and _ideas(queries, run.run_id) == wanted:
            return run.run_id
    raise ConfigurationError(f"no published run evaluated exactly the ideas of {path}: `assay evaluate {path}`, or name a run_id")


def _ideas(queries: Queries, run_id: RunId) -> set[tuple[str, str]]:
    rows = queries.connection.execute("select idea_id, text from ideas where run_id = $run_id", {"run_id": run_id}).fetchall()
    return {(str(idea_id), str(text)) for idea_id, text in rows}
