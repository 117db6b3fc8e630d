"""RINoBench's files: released predictions and scores, and gold labels where a user has them (Schopf
& Färber).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.paper import Paper
from tasks.benchmarks.novelty_checker import works_of
from tasks.benchmarks.records import Record, day_of, json_list, text_of
from tasks.ideas.parts import title_of
from tasks.metrics.novelty import SCALE
from tasks.novelty.profile_files import text_of_parts

FOLDER = "rinobench"
GOLD, TRAINING = f"{FOLDER}/test.json", f"{FOLDER}/train.json"
"""Where a user puts the benchmark's own files; their rows have research_idea, related_works,
novelty_reasoning, novelty_score.
"""
PREDICTIONS, SCORES = "novelty_predictions-", "novelty_pred_evaluation-"
TEST_LABELS: Mapping[int, int] = {1: 15, 2: 60, 3: 87, 4: 81, 5: 34}
"""Ideas of the test split by gold score (Table 2)."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One released prediction; None where a model gave no score from 1 to 5."""

    score: int | None
    reasoning: str


@dataclass(frozen=True, slots=True)
class GoldIdea:
    """An idea of the benchmark; what experts say stands apart from what a system may see.

    None: not given.
    """

    idea: Idea
    works: tuple[Paper, ...]
    score: int | None
    reasoning: str


def read_predictions(folder: Path) -> dict[str, list[Prediction]]:
    """Predictions by model, in the order of the test split; none where the folder is missing.

    Raises:
        ConfigurationError: a file is not what its name says.
    """
    paths = sorted((folder / FOLDER).glob(f"{PREDICTIONS}*.json"))
    return {
        path.stem.removeprefix(PREDICTIONS): [_prediction(record) for record in json_list(path)]
        for path in paths
    }


def read_scores(folder: Path) -> dict[str, dict[str, float]]:
    """Published metrics by model: `macro_f1`, `f1_1` … `f1_5`, and the others as
    `tasks.metrics.novelty` names them.

    Raises:
        ConfigurationError: a file is not what its name says.
    """
    return {
        path.stem.removeprefix(SCORES): _scores(path)
        for path in sorted((folder / FOLDER).glob(f"{SCORES}*.json"))
    }


def read_gold(path: Path) -> list[GoldIdea]:
    """Ideas with related works, gold scores and gold justifications, named by their place in the
    file.

    `research_idea` is a text, or an object with problem_statement, objective and solution_approach.

    Raises:
        ConfigurationError: the file is not what its name says, or a score is none from 1 to 5.
    """
    return [
        _gold(record, f"{path.stem}_{number}", path)
        for number, record in enumerate(json_list(path))
    ]


def _prediction(record: Record) -> Prediction:
    score, reasoning = record.get("novelty_score"), record.get("reasoning")
    sound = isinstance(score, int) and not isinstance(score, bool) and score in SCALE
    return Prediction(
        score if sound and isinstance(score, int) else None,
        reasoning if isinstance(reasoning, str) else "",
    )


def _scores(path: Path) -> dict[str, float]:
    try:
        found = orjson.loads(path.read_bytes())
        shares = {
            ("macro_f1" if name == "macro" else f"f1_{name}"): float(value)
            for name, value in found["f1_scores"].items()
        }
        return shares | {
            (
                name.removeprefix(
                    "mean_",
                )
                if name != "mean_absolute_error"
                else name
            ): float(value)
            for name, value in found.items()
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
