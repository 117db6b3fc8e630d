"""Which data sets papers used (DataFinder), and what leaderboards compare: read strictly.

DataFinder: Viswanathan, Gao, Wu, Liu & Neubig, ACL 2023, github.com/viswavi/datafinder. The
leaderboards: Papers with Code, `sota-extractor`, from NLP-progress and the EFF.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import ConfigurationError
from tasks.benchmarks.records import Record, json_lines, text_of

QUERIES_FILE = "dataset_recommendation/queries.jsonl"
DATA_SETS_FILE = "dataset_recommendation/datasets.jsonl.gz"
LEADERBOARDS_FILE = "leaderboards/leaderboards.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Project:
    """The description of a project, the paper it became in some year, and the data sets it used."""

    project_id: str
    year: int
    query: str
    abstract: str
    data_sets: frozenset[str]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A task on a data set; what was compared on it, by title of paper, and measured."""

    leaderboard_id: str
    task: str
    data_set: str
    text: str
    papers: frozenset[str]
    metrics: frozenset[str]


def read_projects(path: Path) -> list[Project]:
    """Raises ConfigurationError for a file of another form; `data_sets` are those of the corpus."""
    return [
        Project(
            text_of(row, "id", path),
            _year(row, path),
            text_of(row, "query", path),
            str(row.get("paper_abstract") or ""),
            frozenset(_texts(row, "datasets_in_corpus", path)),
        )
        for row in json_lines(path)
    ]


def read_descriptions(path: Path) -> dict[str, str]:
    """What each data set is, by name. Raises ConfigurationError for a file of another form."""
    return {text_of(row, "id", path): str(row.get("text") or "") for row in json_lines(path)}


def read_leaderboards(path: Path) -> list[Leaderboard]:
    """Raises ConfigurationError for a file of another form."""
    found = []
    for row in json_lines(path):
        task, data_set = text_of(row, "task", path), text_of(row, "dataset", path)
        told = (row.get(name) for name in ("task_description", "dataset_description"))
        entries = row.get("rows")
        if not isinstance(entries, list):
            raise ConfigurationError(f"{path}: an entry has no list under 'rows'")
        papers = (each.get("paper_title") for each in entries if isinstance(each, Mapping))
        found.append(
            Leaderboard(
                text_of(row, "id", path),
                task,
                data_set,
                ". ".join([task, data_set, *(str(each) for each in told if each)]),
                frozenset(str(title) for title in papers if title),
                frozenset(_texts(row, "metrics", path)),
            )
        )
    return found


def _year(row: Record, path: Path) -> int:
    value = row.get("year")
    if not isinstance(value, int):
        raise ConfigurationError(f"{path}: an entry has no number under 'year'")
    return value


def _texts(row: Record, name: str, path: Path) -> list[str]:
    value = row.get(name)
    if not isinstance(value, list):
        raise ConfigurationError(f"{path}: an entry has no list under {name!r}")
    return [str(each) for each in value]
