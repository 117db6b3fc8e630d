"""The report on an ideation: the lineage of each idea, every version with why it is as it is, cost
by round; and the ideas as JSON Lines that other commands take.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import orjson

from dashboards.render import wording
from dashboards.render.charts.lineage import lineage
from dashboards.render.page import Figure, Page
from dashboards.render.render import rendered_page
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.works.ideation import (
    FindingAnswer,
    IdeationRound,
    IdeaVersion,
    KeywordRelation,
    Move,
    kept_versions,
)
from schemas.works.ideation_run import IdeationHead
from warehouse.kinds.ideations import IDEATIONS
from warehouse.lake import rows_in
from warehouse.parquet import write_bytes
from warehouse.rows import Row
from warehouse.statements import statement
from warehouse.units.reading import published_head, published_units
from warehouse.warehouse import Warehouse

IDEAS = "ideas.jsonl"
OUTCOMES = (
    "Judged scores are not outcomes. Of 43 ideas that were carried out, what experts had scored"
    " before correlated \u22120.05 with what came of them (arXiv 2506.20803). A higher score of a"
    " later version says that this critic found less wanting, not that the idea is better."
)


@dataclass(frozen=True)
class IdeationPage(PublishedPage):
    """What the report shows. `scores`: of evaluated versions, from 0 to 10; `costs`: by round."""

    head: IdeationHead
    rounds: tuple[IdeationRound, ...]
    scores: dict[str, float | None]
    costs: tuple[Row, ...]

    @property
    def units(self) -> tuple[IdeationRound, ...]:
        return self.rounds

    def beside(self) -> dict[str, Any]:
        """The best version of each idea, with its score."""
        return {"ideas": [each.idea.fields | {"score": self.score(each)} for each in self.best]}

    def short_page(self) -> Page:
        return rendered_page("ideation_short.md.jinja", "", page=self)

    def write_ideas(self, path: Path) -> tuple[Path, ...]:
        """The best version of each idea, which other commands take; the file, where there are
        ideas.
        """
        if not self.best:
            return ()
        lines = (orjson.dumps(each.idea.fields) + b"\n" for each in self.best)
        write_bytes(path, b"".join(lines))
        return (path,)

    def write(self, folder: Path) -> tuple[Path, ...]:
        """As every page, and `ideas.jsonl` where there are ideas."""
        return *super().write(folder), *self.write_ideas(folder / IDEAS)

    def score(self, version: IdeaVersion) -> float | None:
        """From 0 to 10; None: it was not scored."""
        return self.scores.get(version.version_id)

    def page(self) -> Page:
        banners = wording.banners(self.head.engine, self.head.literature)
        return rendered_page(
            "ideation.md.jinja",
            f"Ideation {self.head.run_id}",
            [self.lineage],
            page=self,
            banners=(*banners, OUTCOMES),
        )

    @cached_property
    def versions(self) -> tuple[IdeaVersion, ...]:
        return tuple(version for each in self.rounds for version in each.versions)

    @cached_property
    def lineage(self) -> Figure | None:
        """None where nothing was made."""
        return lineage("lineage", self.versions, self.scores) if self.versions else None

    @property
    def leads(self) -> tuple[IdeaVersion, ...]:
        return tuple(version for version in self.versions if version.move is Move.LEAD)

    @property
    def best(self) -> tuple[IdeaVersion, ...]:
        """Of each idea the version with the highest score, the best first; of equal scores the
        newer one, and without any score the newest.
        """
        stacks: dict[tuple[str, int], list[IdeaVersion]] = {}
        for version in kept_versions(self.versions):
            stacks.setdefault((version.seed_id, version.slot), []).append(version)
        chosen = (max(stack, key=lambda v: (self._value(v), v.round)) for stack in stacks.values())
        return tuple(sorted(chosen, key=lambda v: (-self._value(v), v.version_id)))

    def _value(self, version: IdeaVersion) -> float:
        score = self.scores.get(version.version_id)
        return -1.0 if score is None else score

    def stack_of(self, version: IdeaVersion) -> tuple[IdeaVersion, ...]:
        """Every version of the same idea, also those that went no further, the oldest first."""
        place = (version.seed_id, version.slot)
        return tuple(each for each in self.versions if (each.seed_id, each.slot) == place)

    def relations_of(self, version: IdeaVersion) -> tuple[KeywordRelation, ...]:
        """What was looked at for it, the chosen one first."""
        found = [
            relation
            for each in self.rounds
            for relation in each.relations
            if relation.version_id == version.version_id
        ]
        return tuple(sorted(found, key=lambda relation: not relation.chosen))

    def answers_of(self, version: IdeaVersion) -> tuple[FindingAnswer, ...]:
        return tuple(
            answer
            for each in self.rounds
            for answer in each.answers
            if answer.version_id == version.version_id
        )

    @property
    def first_of_ideas(self) -> tuple[IdeaVersion, ...]:
        """One version of each idea of which anything was tried."""
        places = {(each.seed_id, each.slot): each for each in reversed(self.versions)}
        return tuple(places[place] for place in sorted(places))


def ideation_page(warehouse: Warehouse, run_id: RunId) -> IdeationPage:
    """Raises UnknownNameError when the run is not published."""
    with warehouse.reader() as connection:
        return ideation_page_of(connection, run_id)


def ideation_page_of(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> IdeationPage:
    """Raises UnknownNameError when the run is not published."""
    head = published_head(connection, IDEATIONS, run_id)
    runs = {"run_ids": list(head.evaluated_run_ids)}
    scores = rows_in(connection, statement("queries", "version_scores"), runs)
    costs = rows_in(connection, statement("queries", "cost_by_round"), runs | {"run_id": run_id})
    rounds = published_units(connection, IDEATIONS, run_id)
    return IdeationPage(
        head,
        tuple(sorted(rounds, key=_number)),
        {str(row["idea_id"]): row["score"] for row in scores},
        tuple(costs),
    )


def _number(made: IdeationRound) -> int:
    """By which round 9 stands before round 10."""
    return next((version.round for version in made.versions), 0)
