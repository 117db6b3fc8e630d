"""Data sets of expert novelty judgements: the novelty checker and RINoBench.

Sources: Shahid et al., SDP 2025 (ideas with about ten papers each); Schopf & Färber (RINoBench,
gold labels only if the user has them). Readers raise ConfigurationError for invalid files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field

from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId, PaperId, content_hash
from schemas.literature.paper import Paper
from tasks.benchmarks.records import Day, OrNone, Row, Text, rows_of
from tasks.ideas.parts import title_of
from tasks.novelty.profile_files import text_of_parts

NOVELTY_CHECKER_FILE = "novelty_checker.jsonl"


class RelatedWork(Row):
    """Related work as a release lists it."""

    title: Text
    abstract: Annotated[str | None, OrNone] = None
    url: Annotated[str | None, OrNone] = None
    year: Annotated[int | None, OrNone] = None


def works_of(entries: Sequence[RelatedWork]) -> tuple[Paper, ...]:
    """Return related works as papers, without duplicates."""
    papers: dict[str, Paper] = {}
    for entry in entries:
        abstract = entry.abstract
        paper_id = PaperId(content_hash(entry.title, str(abstract), length=40))
        papers[paper_id] = Paper(
            paper_id=paper_id,
            title=entry.title,
            abstract=abstract if abstract and abstract.strip() else None,
            year=entry.year,
            url=entry.url or "",
        )
    return tuple(papers.values())


class LabeledIdea(Row):
    """Idea with its related works; `novel` is the expert's label, None if there is none."""

    idea_id: Text
    text: Text = Field(validation_alias="idea")
    papers: tuple[RelatedWork, ...]
    novel: bool | None = None
    cutoff_date: Day = None

    @property
    def idea(self) -> Idea:
        """Return the idea that is judged."""
        return Idea(
            idea_id=IdeaId(self.idea_id),
            title=title_of(self.text),
            text=self.text,
            cutoff_date=self.cutoff_date,
        )

    @property
    def works(self) -> tuple[Paper, ...]:
        """Return the related works as papers."""
        return works_of(self.papers)


def read_novelty_checker(path: Path) -> list[LabeledIdea]:
    """Return all ideas in file order.

    Those without a label do not count in scores.
    """
    ideas = rows_of(path, LabeledIdea)
    if len({one.idea_id for one in ideas}) < len(ideas):
        raise ConfigurationError(f"{path} has an idea_id twice")
    return ideas


SCALE: tuple[int, ...] = (1, 2, 3, 4, 5)
FOLDER = "rinobench"
GOLD, TRAINING = f"{FOLDER}/test.json", f"{FOLDER}/train.json"
"""Paths of the benchmark's files; rows have research_idea, related_works, novelty_reasoning and
novelty_score.
"""
PREDICTIONS, SCORES = "novelty_predictions-", "novelty_pred_evaluation-"
TEST_LABELS: Mapping[int, int] = {1: 15, 2: 60, 3: 87, 4: 81, 5: 34}
"""Ideas of the test split by gold score (Table 2)."""


Score = Annotated[int, Field(ge=1, le=5)]


class Prediction(Row):
    """One released prediction; its score is None if a model gave none from 1 to 5."""

    score: Annotated[Score | None, OrNone] = Field(default=None, validation_alias="novelty_score")
    reasoning: Annotated[str | None, OrNone] = None


class GoldRow(Row):
    """Entry of RINoBench's splits; missing values were not given."""

    research_idea: Text | dict[str, object]
    related_works: tuple[RelatedWork, ...]
    novelty_score: Score | None = None
    novelty_reasoning: Annotated[str | None, OrNone] = None
    cutoff_date: Day = None


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
    return {path.stem.removeprefix(PREDICTIONS): rows_of(path, Prediction) for path in paths}


def read_scores(folder: Path) -> dict[str, dict[str, float]]:
    """Return published metrics by model, with the names of `justification_metrics`."""
    return {
        path.stem.removeprefix(SCORES): _scores(path)
        for path in sorted((folder / FOLDER).glob(f"{SCORES}*.json"))
    }


def read_gold(path: Path) -> list[GoldIdea]:
    """Return the ideas of a split, identified by position in the file.

    `research_idea` is a text, or an object with problem_statement, objective and solution_approach.
    """
    ideas = []
    for number, row in enumerate(rows_of(path, GoldRow)):
        given = row.research_idea
        text = given if isinstance(given, str) else text_of_parts(given)
        if not text:
            raise ConfigurationError(f"{path}: a research_idea has no text")
        idea = Idea(
            idea_id=IdeaId(f"{path.stem}_{number}"),
            title=title_of(text),
            text=text,
            cutoff_date=row.cutoff_date,
        )
        works = works_of(row.related_works)
        ideas.append(GoldIdea(idea, works, row.novelty_score, row.novelty_reasoning or ""))
    return ideas


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
