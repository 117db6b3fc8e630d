"""Questions about literature with answers by experts (ScholarQABench): what the experts cite, and
by which criteria answers are judged.
"""

from collections.abc import Iterator, Sequence
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
