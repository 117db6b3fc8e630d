"""Report on an ideation: lineage, versions, and cost by round.

The ideas are also written as JSON Lines, which other commands take.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.lineage import lineage
from dashboards.render.prose import prose, prose_line
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.works.ideation import FindingAnswer, IdeationRound, IdeaVersion, Move, kept_versions
from schemas.works.ideation_run import IDEATIONS, IdeationHead
from warehouse.lake import rows_in
from warehouse.parquet import write_bytes
from warehouse.rows import Row
from warehouse.statements import statement
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse

IDEAS = "ideas.jsonl"
OUTCOMES = (
    "Judged scores are not outcomes. Of 43 ideas that were carried out, what experts had scored"
    " before correlated \u22120.05 with what came of them (arXiv 2506.20803). A higher score of a"
    " later version says that this critic found less wanting, not that the idea is better."
)


@dataclass(frozen=True)
class IdeationPage(PublishedPage):
    """The report on an ideation.

    Attributes:
        scores: of evaluated versions, from 0 to 10.
        costs: by round.
    """

    head: IdeationHead
    rounds: tuple[IdeationRound, ...]
    scores: dict[str, float | None]
    costs: tuple[Row, ...]

    @property
    def units(self) -> tuple[IdeationRound, ...]:
        return self.rounds

    def json_fields(self) -> dict[str, Any]:
        """Return the best version of each idea, with its score."""
        return {"ideas": [each.idea.fields | {"score": self.score(each)} for each in self.best]}

    def short_page(self) -> pg.Page:
        return pg.Page((), tuple(self._short_blocks()))

    def _short_blocks(self) -> Iterator[pg.Block]:
        if self.leads:
            rows = [
                (each.seed_id, each.title, (each.text or "").partition("\n")[0])
                for each in self.leads
            ]
            yield pg.table(("Seed", "Lead", "What there is"), rows)
            yield pg.text(
                "These are leads, not ideas: a model writes ideas with ",
                pg.code("--engine litellm:MODEL"),
                ".",
            )
        if self.best:
            ideas = [
                (
                    *(each.version_id, each.title, ", ".join(each.keywords)),
                    figures.score(self.score(each)),
                )
                for each in self.best
            ]
            yield pg.table(("Idea", "Title", "Concepts", "Score:"), ideas)
            yield pg.text("Judged scores are not outcomes (arXiv 2506.20803).")
        dropped_versions = [each for each in self.versions if each.dropped_reason]
        yield from pg.bullets(
            f"dropped {each.version_id}: {each.dropped_detail}" for each in dropped_versions
        )

    def write_ideas(self, path: Path) -> tuple[Path, ...]:
        """Write the best version of each idea as JSON Lines, if there are any."""
        if not self.best:
            return ()
        lines = (orjson.dumps(each.idea.fields) + b"\n" for each in self.best)
        write_bytes(path, b"".join(lines))
        return (path,)

    def save_as(self, path: Path) -> tuple[Path, ...] | None:
        """Write a `.jsonl` file with the best version of each idea."""
        return self.write_ideas(path) if path.suffix == ".jsonl" else None

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write the report, and `ideas.jsonl` if there are ideas."""
        return *super().write(folder), *self.write_ideas(folder / IDEAS)

    def score(self, version: IdeaVersion) -> float | None:
        """Return the score from 0 to 10; None: not scored."""
        return self.scores.get(version.version_id)

    def page(self) -> pg.Page:
        title = f"Ideas from {figures.plural(self.head.seed_count, 'seed')}"
        return pg.Page(pg.line(title), tuple(self._blocks()), f"Ideation {self.head.run_id}")

    def _blocks(self) -> Iterator[pg.Block]:
        head = self.head
        stacks: dict[tuple[str, int], list[IdeaVersion]] = {}
        for version in self.versions:
            stacks.setdefault((version.seed_id, version.slot), []).append(version)
        yield pg.facts(
            pg.code(head.run_id),
            f"{head.round_count} of {figures.plural(head.rounds, 'round')}",
            f"{figures.plural(head.per_seed, 'idea')} a seed",
            pg.line("engine ", pg.code(head.engine)),
            pg.line("profile ", pg.code(head.profile)),
            pg.line("literature ", pg.code(head.literature)),
        )
        yield from map(pg.note, (*wording.banners(head.engine, head.literature), OUTCOMES))
        if self.leads:
            yield pg.note(
                "These are leads, not ideas: concepts that papers have not joined, with what there is"
                " about them. Ideas are written with a language model."
            )
        if head.incomplete_reason is not None:
            yield pg.note(wording.early_end(head.incomplete_reason))
        if self.versions:
            chart = lineage("lineage", self.versions, self.scores)
            yield from (pg.heading("Lineage"), chart)
        if self.costs:
            yield from (pg.heading("Rounds"), _rounds(self.costs))
        for (seed_id, slot), stack in sorted(stacks.items()):
            yield pg.heading(f"{seed_id}, idea {slot}")
            for version in stack:
                yield from self._version(version)

    def _version(self, version: IdeaVersion) -> Iterator[pg.Block]:
        yield pg.heading(f"Round {version.round}: {version.title or 'not made'}", level=3)
        if version.text is None:
            reason = wording.reason(version.unscored_reason or "")
            yield pg.text(f"Not made: {reason}; {version.unscored_detail}.")
            return
        if version.dropped_reason is not None:
            reason = wording.reason(version.dropped_reason)
            yield pg.text(f"Went no further: {reason}; {version.dropped_detail}.")
        elif version.version_id in self.scores:
            yield pg.text(f"Score {figures.score(self.scores[version.version_id])} of 10.")
        keyword_note = ""
        if version.added_keyword and version.reason:
            given_up = f" for {version.replaced_keyword}" if version.replaced_keyword else ""
            keyword_note = f" Added {version.added_keyword}{given_up}: {version.reason}"
        elif version.reason:
            keyword_note = f" None was added: {version.reason}"
        yield pg.text(f"Concepts: {', '.join(version.keywords)}.{keyword_note}")
        answers = [answer for each in self.rounds for answer in each.answers]
        yield from pg.bullets(
            _answer(each) for each in answers if each.version_id == version.version_id
        )
        relations = [
            relation
            for each in self.rounds
            for relation in each.relations
            if relation.version_id == version.version_id
        ]
        rows = [
            (
                *(each.neighbour, each.keyword, each.shared_count, "yes" if each.chosen else ""),
                each.relation
                or (f"both with {', '.join(each.bridges)}" if each.bridges else "not told"),
            )
            for each in sorted(relations, key=lambda each: not each.chosen)
        ]
        if rows:
            columns = ("concept", "beside", "papers with both:", "chosen", "relation")
            yield pg.table(columns, rows)
        yield from prose(version.text)

    @cached_property
    def versions(self) -> tuple[IdeaVersion, ...]:
        return tuple(version for each in self.rounds for version in each.versions)

    @property
    def leads(self) -> tuple[IdeaVersion, ...]:
        return tuple(version for version in self.versions if version.move is Move.LEAD)

    @property
    def best(self) -> tuple[IdeaVersion, ...]:
        """The best version of each idea, best idea first.

        Of equal scores the newer version counts, and without any score the newest.
        """
        stacks: dict[tuple[str, int], list[IdeaVersion]] = {}
        for version in kept_versions(self.versions):
            stacks.setdefault((version.seed_id, version.slot), []).append(version)
        best_versions = (
            max(stack, key=lambda v: (self._value(v), v.round)) for stack in stacks.values()
        )
        return tuple(sorted(best_versions, key=lambda v: (-self._value(v), v.version_id)))

    def _value(self, version: IdeaVersion) -> float:
        score = self.scores.get(version.version_id)
        return -1.0 if score is None else score


def _rounds(costs: Sequence[Row]) -> pg.Table:
    rows = []
    for row in costs:
        closest, words = row["mean_closest"], row["mean_words"]
        rows.append(
            (
                *(row["round"], row["made_count"], row["dropped_count"], row["unscored_count"]),
                *(figures.score(row["mean_score"]), row["scored_count"]),
                "not looked at" if closest is None else figures.measure(closest),
                "none" if words is None else str(round(words)),
                *(row["calls"], figures.usd(row["cost_usd"])),
            )
        )
    columns = ("round:", "versions made:", "dropped:", "not made:", "mean score:", "scored:")
    more = ("likeness to the nearest paper:", "words:", "calls:", "cost:")
    return pg.table((*columns, *more), rows)


def _answer(answer: FindingAnswer) -> pg.Line:
    kind = answer.kind.value.replace("_", " ") if answer.kind is not None else "unknown"
    finding = (f" ({kind}: ", prose_line(answer.finding), ")") if answer.finding else ()
    state = "answered" if answer.answered else f"not answered: {answer.detail}"
    return pg.line(answer.finding_key, *finding, f", {state}. “{answer.quote}”")


def ideation_page(warehouse: Warehouse, run_id: RunId) -> IdeationPage:
    """Return a published ideation; raise UnknownNameError without any."""
    with warehouse.reader() as connection:
        head = published_head(connection, kind_of(IDEATIONS), run_id)
        rounds = published_units(connection, kind_of(IDEATIONS), run_id)
        runs = {"run_ids": list(head.evaluated_run_ids)}
        scores = rows_in(connection, statement("queries", "version_scores"), runs)
        runs_and_own = runs | {"run_id": run_id}
        costs = rows_in(connection, statement("queries", "cost_by_round"), runs_and_own)
    return IdeationPage(
        head,
        tuple(sorted(rounds, key=_number)),
        {str(row["idea_id"]): row["score"] for row in scores},
        tuple(costs),
    )


def _number(ideation_round: IdeationRound) -> int:
    """Return the round's number, so that 9 sorts before 10."""
    return next((version.round for version in ideation_round.versions), 0)
