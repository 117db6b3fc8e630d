"""ScholarIdeas: research ideas, and apart from them the statements that experts made about each
(ScholarEval §3).
"""

from dataclasses import dataclass
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from tasks.benchmarks.records import Record, day_of, json_lines, text_of
from tasks.ideas.parts import parts_of, title_of

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
    """Return every idea with its rubrics; an idea without any is kept and adds to no score.

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
