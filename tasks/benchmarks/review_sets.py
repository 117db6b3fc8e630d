"""Sets of judgements by people: ScholarIdeas, the statements experts made about ideas (ScholarEval
§3); scores of human- and machine-written ideas (Si, Yang & Hashimoto 2024); blind votes on pairs of
ideas, the wiki surveys of `formidable-family`.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.judgement.ranking import Match, Winner
from tasks.benchmarks.records import Record, day_of, json_lines, text_of
from tasks.ideas.parts import parts_of, title_of
from tasks.ranking.dimensions import OVERALL
from tasks.ranking.tally import HUMAN

SCHOLARIDEAS_FILE = "scholarideas.jsonl"


@dataclass(frozen=True, slots=True)
class Rubric:
    """One statement of an expert's review; `rubric_id` is unique over all ideas."""

    rubric_id: str
    idea_id: IdeaId
    discipline: str
    statement: str
    type: str
    axis: str
    severity: str


@dataclass(frozen=True, slots=True)
class ReviewedIdea:
    """An idea as a system may see it, and apart from it what experts said."""

    idea: Idea
    rubrics: tuple[Rubric, ...]


def read_scholarideas(path: Path) -> list[ReviewedIdea]:
    """Every idea with its rubrics; an idea without any is kept and adds to no score.

    Raises:
        ConfigurationError: the file is not what its name says.
    """
    found = [_reviewed(record, path) for record in json_lines(path)]
    ids = [entry.idea.idea_id for entry in found]
    repeated = next((idea_id for idea_id in ids if ids.count(idea_id) > 1), None)
    if repeated is not None:
        raise ConfigurationError(f"{path} has idea {repeated} twice")
    return found


def _reviewed(record: Record, path: Path) -> ReviewedIdea:
    idea_id, text = IdeaId(text_of(record, "idea_id", path)), text_of(record, "text", path)
    discipline = text_of(record, "discipline", path)
    parts = parts_of(text)
    idea = Idea(
        idea_id=idea_id,
        title=title_of(text),
        text=text,
        problem=parts.problem,
        method=parts.method,
        experiment=parts.experiment,
        cutoff_date=day_of(record, path),
        group=discipline,
    )
    rubrics = record.get("rubrics")
    listed = rubrics if isinstance(rubrics, list) else []
    return ReviewedIdea(
        idea,
        tuple(
            _rubric(entry, idea_id, number, discipline, path)
            for number, entry in enumerate(listed, start=1)
        ),
    )


def _rubric(entry: object, idea_id: IdeaId, number: int, discipline: str, path: Path) -> Rubric:
    if not isinstance(entry, dict):
        raise ConfigurationError(f"{path}: rubric {number} of {idea_id} is no JSON object")
    statement, kind, axis, severity = (
        text_of(entry, name, path) for name in ("statement", "type", "axis", "severity")
    )
    return Rubric(f"{idea_id}:{number}", idea_id, discipline, statement, kind, axis, severity)


EXPERT_REVIEWS_FILE = "expert_reviews.parquet"
REFERENCE = "Human"
SCORES = (
    "novelty_score",
    "excitement_score",
    "feasibility_score",
    "effectiveness_score",
    "overall_score",
)


@dataclass(frozen=True, slots=True)
class ExpertReview:
    """One review: scores by name, None where the expert gave none."""

    idea_id: str
    condition: str
    scores: dict[str, float | None]


def read_expert_reviews(path: Path) -> list[ExpertReview]:
    """Every review of the file.

    Raises ConfigurationError for a file that is not what its name says.
    """
    try:
        rows = pq.read_table(path, columns=["idea_id", "condition", *SCORES]).to_pylist()
    except (OSError, pa.ArrowException, KeyError) as error:
        raise ConfigurationError(
            f"{path} cannot be read as expert reviews ({' '.join(str(error).split())[:200]})"
        ) from error
    if not rows:
        raise ConfigurationError(f"{path} holds nothing")
    return [
        ExpertReview(
            str(row["idea_id"]),
            str(row["condition"]),
            {name: _number(row[name]) for name in SCORES},
        )
        for row in rows
    ]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


WIKI_VOTES_FILE = "wiki_survey_votes/votes.jsonl.gz"
_WINNERS = {"left": Winner.FIRST, "right": Winner.SECOND}
_BEGAN = datetime(2020, 1, 1, tzinfo=UTC)


def read_wiki_votes(path: Path) -> list[Match]:
    """Votes in the order of the file, each survey a group. The file tells no time of day: a second
    lies between two votes.

    Raises:
        ConfigurationError: the file does not hold such votes.
    """
    found = []
    for number, record in enumerate(json_lines(path)):
        winner = _WINNERS.get(text_of(record, "winner", path))
        if winner is None:
            raise ConfigurationError(f"{path}: winner is neither left nor right in an entry")
        topic, survey = text_of(record, "topic", path), text_of(record, "survey_id", path)
        found.append(
            Match(
                match_id=text_of(record, "id", path),
                group=f"{topic} {survey}",
                first_idea_id=IdeaId(text_of(record, "left", path)),
                second_idea_id=IdeaId(text_of(record, "right", path)),
                dimension=OVERALL.name,
                winner=winner,
                round=1,
                judge=f"{HUMAN}{text_of(record, 'voter', path)}",
                created_at=_BEGAN + timedelta(seconds=number),
            )
        )
    return found
