"""Data sets of expert novelty judgements: the novelty checker and RINoBench.

Sources: Shahid et al., SDP 2025 (ideas with about ten papers each); Schopf & Färber (RINoBench,
gold labels only if the user has them). Readers raise ConfigurationError for invalid files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId, PaperId, content_hash
from schemas.literature.paper import Paper
from tasks.benchmarks.records import Record, day_of, json_lines, json_list, text_of
from tasks.ideas.parts import title_of
from tasks.metrics.novelty import SCALE
from tasks.novelty.profile_files import text_of_parts

NOVELTY_CHECKER_FILE = "novelty_checker.jsonl"


@dataclass(frozen=True, slots=True)
class LabeledIdea:
    """Idea with its related works.

    `novel` is the expert's label, None if there is none.
    """

    idea: Idea
    works: tuple[Paper, ...]
    novel: bool | None


def read_novelty_checker(path: Path) -> list[LabeledIdea]:
    """Return all ideas in file order.

    Those without a label do not count in scores.
    """
    ideas = [_read_idea(record, path) for record in json_lines(path)]
    ids = {one.idea.idea_id for one in ideas}
    if len(ids) < len(ideas):
        raise ConfigurationError(f"{path} has an idea_id twice")
    return ideas


def _read_idea(record: Record, path: Path) -> LabeledIdea:
    idea_id, text, novel = (
        text_of(record, "idea_id", path),
        text_of(record, "idea", path),
        record.get("novel"),
    )
    if novel is not None and not isinstance(novel, bool):
        raise ConfigurationError(f"{path}: novel of {idea_id} is neither true nor false")
    return LabeledIdea(
        Idea(
            idea_id=IdeaId(idea_id),
            title=title_of(text),
            text=text,
            cutoff_date=day_of(record, path),
        ),
        works_of(record.get("papers"), path),
        novel,
    )


def works_of(entries: object, path: Path) -> tuple[Paper, ...]:
    """Return related works as papers, without duplicates."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigurationError(
            f"{path}: related works must be a list of objects with title and abstract"
        )
    papers: dict[str, Paper] = {}
    for entry in entries:
        title = text_of(entry, "title", path)
        abstract, url, year = entry.get("abstract"), entry.get("url"), entry.get("year")
        paper_id = PaperId(content_hash(title, str(abstract), length=40))
        papers[paper_id] = Paper(
            paper_id=paper_id,
            title=title,
            abstract=abstract if isinstance(abstract, str) and abstract.strip() else None,
            year=year if isinstance(year, int) and not isinstance(year, bool) else None,
            url=url if isinstance(url, str) else "",
        )
    return tuple(papers.values())


FOLDER = "rinobench"
GOLD, TRAINING = f"{FOLDER}/test.json", f"{FOLDER}/train.json"
"""Paths of the benchmark's files; rows have research_idea, related_works, novelty_reasoning and
novelty_score.
"""
PREDICTIONS, SCORES = "novelty_predictions-", "novelty_pred_evaluation-"
TEST_LABELS: Mapping[int, int] = {1: 15, 2: 60, 3: 87, 4: 81, 5: 34}
"""Ideas of the test split by gold score (Table 2)."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One released prediction.

    Its values are None if a model gave no score from 1 to 5.
    """

    score: int | None
    reasoning: str


@dataclass(frozen=True, slots=True)
class GoldIdea:
    """Idea of RINoBench with the experts' score and reasoning; None: not given."""

    idea: Idea
    works: tuple[Paper, ...]
    score: int | None
    reasoning: str


def read_predictions(folder: Path) -> dict[str, list[Prediction]]:
    """Return predictions by model, in the order of the test split."""
    paths = sorted((folder / FOLDER).glob(f"{PREDICTIONS}*.json"))
    return {
        path.stem.removeprefix(PREDICTIONS): [_prediction(record) for record in json_list(path)]
        for path in paths
    }


def read_scores(folder: Path) -> dict[str, dict[str, float]]:
    """Return published metrics by model, with the names of `tasks.metrics.novelty`."""
    return {
        path.stem.removeprefix(SCORES): _scores(path)
        for path in sorted((folder / FOLDER).glob(f"{SCORES}*.json"))
    }


def read_gold(path: Path) -> list[GoldIdea]:
    """Return the ideas of a split, identified by position in the file.

    `research_idea` is a text, or an object with problem_statement, objective and solution_approach.
    """
    return [
        _gold(record, f"{path.stem}_{number}", path)
        for number, record in enumerate(json_list(path))
    ]


def _prediction(record: Record) -> Prediction:
    score, reasoning = record.get("novelty_score"), record.get("reasoning")
    is_score = isinstance(score, int) and not isinstance(score, bool) and score in SCALE
    return Prediction(
        score if is_score and isinstance(score, int) else None,
        reasoning if isinstance(reasoning, str) else "",
    )


def _scores(path: Path) -> dict[str, float]:
    try:
        content = orjson.loads(path.read_bytes())
        shares = {
            ("macro_f1" if name == "macro" else f"f1_{name}"): float(value)
            for name, value in content["f1_scores"].items()
        }
        return shares | {
            (name if name == "mean_absolute_error" else name.removeprefix("mean_")): float(value)
            for name, value in content.items()
            if name != "f1_scores"
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            f"{path} holds no scores of RINoBench ({type(error).__name__}): is it the file its name"
            " says?"
        ) from error


def _gold(record: Record, idea_id: str, path: Path) -> GoldIdea:
    score, reasoning = record.get("novelty_score"), record.get("novelty_reasoning")
    if score is not None and (
        not isinstance(score, int) or isinstance(score, bool) or score not in SCALE
    ):
        raise ConfigurationError(
            f"{path}: novelty_score of {idea_id} is {score!r}, not a whole number from 1 to 5"
        )
    text = _idea_text(record, path)
    idea = Idea(
        idea_id=IdeaId(idea_id),
        title=title_of(text),
        text=text,
        cutoff_date=day_of(record, path),
    )
    return GoldIdea(
        idea,
        works_of(record.get("related_works"), path),
        score,
        reasoning if isinstance(reasoning, str) else "",
    )


def _idea_text(record: Record, path: Path) -> str:
    idea = record.get("research_idea")
    if not isinstance(idea, dict):
        return text_of(record, "research_idea", path)
    text = text_of_parts(idea)
    if not text:
        raise ConfigurationError(f"{path}: a research_idea has no text")
    return text
