"""The novelty checker's ideas, each with about ten papers and an expert's verdict (Shahid et al.,
SDP 2025).
"""

from dataclasses import dataclass
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId, PaperId, content_hash
from schemas.paper import Paper
from tasks.benchmarks.records import Record, day_of, json_lines, text_of
from tasks.ideas.parts import title_of

FILE = "novelty_checker.jsonl"


@dataclass(frozen=True, slots=True)
class JudgedIdea:
    """An idea with its related works. `novel`: what an expert says; None: no label."""

    idea: Idea
    works: tuple[Paper, ...]
    novel: bool | None


def read_novelty_checker(path: Path) -> list[JudgedIdea]:
    """Every idea, in file order; one without a label is kept, and judged, and adds to no score.

    Raises:
        ConfigurationError: the file is not what its name says.
    """
    found = [_judged(record, path) for record in json_lines(path)]
    ids = {one.idea.idea_id for one in found}
    if len(ids) < len(found):
        raise ConfigurationError(f"{path} has an idea_id twice")
    return found


def _judged(record: Record, path: Path) -> JudgedIdea:
    idea_id, text, novel = (
        text_of(record, "idea_id", path),
        text_of(record, "idea", path),
        record.get("novel"),
    )
    if novel is not None and not isinstance(novel, bool):
        raise ConfigurationError(f"{path}: novel of {idea_id} is neither true nor false")
    return JudgedIdea(
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
    """Related works as papers, each title once.

    Raises:
        ConfigurationError: no list of objects with titles.
    """
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigurationError(
            f"{path}: related works are to be a list of objects with title and abstract"
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
