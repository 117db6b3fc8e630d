"""Questions whose right answers are known, read strictly.

ScholarQABench: questions about literature with answers by experts, what the experts cite, and by
which criteria answers are judged. DataFinder: which data sets papers used (Viswanathan, Gao, Wu,
Liu & Neubig, ACL 2023, github.com/viswavi/datafinder). Leaderboards and what they compare: Papers
with Code, `sota-extractor`, from NLP-progress and the EFF.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import ConfigurationError
from schemas.identifiers import PaperId
from tasks.benchmarks.records import Record, json_lines, text_of
from tasks.benchmarks.survey_sets import given_paper
from tasks.literature.snapshot.records import normal_title

ANSWERS_FILE = "scholarqa_expert_answers/answers.jsonl.gz"
RUBRICS_FILE = "scholarqa_expert_answers/rubrics_cs.jsonl.gz"


@dataclass(frozen=True, slots=True)
class AnswerCase:
    """A question, its field, and the works that its expert cites."""

    case_id: str
    question: str
    subject: str
    cited: frozenset[PaperId]


@dataclass(frozen=True, slots=True)
class RubricCase:
    """A question, and criteria with their weights, which need not add up to 1."""

    case_id: str
    question: str
    criteria: Sequence[tuple[str, float]]


def answer_cases(path: Path) -> list[AnswerCase]:
    """Raises ConfigurationError for an entry without a question or passages."""
    return [
        AnswerCase(
            case_id=text_of(record, "id", path),
            question=text_of(record, "question", path),
            subject=text_of(record, "subject", path),
            cited=frozenset(
                given_paper(_name(each, path)) for each in _list(record, "passages", path)
            ),
        )
        for record in json_lines(path)
    ]


def passages_as_papers(path: Path) -> Iterator[dict[str, Any]]:
    """Every work that an expert cites, once, with all its passages for an abstract; nothing else is
    known of it.
    """
    texts: dict[str, dict[str, None]] = {}
    titles: dict[str, str] = {}
    for record in json_lines(path):
        for passage in _list(record, "passages", path):
            name = _name(passage, path)
            titles.setdefault(name, text_of(passage, "title", path))
            texts.setdefault(name, {})[text_of(passage, "text", path)] = None
    for name, title in titles.items():
        yield {
            "paper_id": name,
            "title": title,
            "abstract": "\n\n".join(texts[name]),
            "authors": [],
            "venue": "",
            "year": None,
            "url": "",
        }


def rubric_cases(path: Path) -> list[RubricCase]:
    """Raises ConfigurationError for an entry without a question or criteria."""
    return [
        RubricCase(
            case_id=text_of(record, "id", path),
            question=text_of(record, "question", path),
            criteria=tuple(
                (text_of(each, "criterion", path), _weight(each, path))
                for each in _list(record, "criteria", path)
            ),
        )
        for record in json_lines(path)
    ]


def _name(passage: Record, path: Path) -> str:
    return normal_title(text_of(passage, "title", path))


def _list(record: Record, name: str, path: Path) -> list[Record]:
    found = record.get(name)
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise ConfigurationError(f"{path}: an entry lists no {name}: is it the file its name says?")
    return found


def _weight(criterion: Record, path: Path) -> float:
    weight = criterion.get("weight")
    if not isinstance(weight, int | float) or weight <= 0:
        raise ConfigurationError(f"{path}: a criterion has no weight above 0")
    return float(weight)


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
