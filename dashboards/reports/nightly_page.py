"""What the summary of a night shows: each run beside the last comparable one before the night."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from enum import StrEnum
from typing import NamedTuple

import polars

from dashboards.reports import wording
from dashboards.reports.alarms import (
    USUAL,
    cost_alarms,
    expectation_alarms,
    judge_alarms,
    unscored_alarms,
    unscored_share,
)
from dashboards.reports.safe_text import Markdown
from schemas.identifiers import RunId
from schemas.ledger import LedgerHead
from schemas.run import Run
from schemas.settings import AlarmSettings
from warehouse.answers import RankedIdea, RunCost
from warehouse.queries import Queries

TOP_IDEAS = 5


class About(StrEnum):
    """What an alarm is about, and so where its figures stand."""

    UNSCORED = "unscored"
    CHECKS = "checks"
    JUDGES = "judges"
    COST = "cost"


class Alarm(NamedTuple):
    about: About
    sentence: Markdown


@dataclass(frozen=True, slots=True)
class NightFigures:
    """A run and what it came to, beside the last comparable run.

    Attributes:
        before, cost_before: None where no earlier run compares.
        unscored_share: of all judgements; None where nothing was to be judged.
    """

    run: Run
    cost: RunCost
    before: Run | None
    cost_before: RunCost | None
    unscored_share: float | None
    alarms: tuple[Alarm, ...]


@dataclass(frozen=True, slots=True)
class NightRun(NightFigures):
    """One run of the night, with its ideas."""

    ideas: Mapping[str, int]
    top: tuple[RankedIdea, ...]

    @property
    def what_leads(self) -> str:
        """What the order of `top` rests on."""
        return wording.what_leads(any(idea.by_matches for idea in self.top))


@dataclass(frozen=True, slots=True)
class NightlyPage:
    """Everything `nightly.md.jinja` prints. `outcomes`: what became of each idea file. `ledger`:
    the head of the ledger; None where there is no lake.
    """

    day: date
    outcomes: tuple[tuple[str, str], ...]
    runs: tuple[NightRun, ...]
    ledger: LedgerHead | None = None

    @property
    def alarm_count(self) -> int:
        return sum(len(night.alarms) for night in self.runs)


def nightly_page(
    queries: Queries | None,
    day: date,
    outcomes: Mapping[str, str],
    run_ids: Collection[RunId],
    thresholds: AlarmSettings = USUAL,
) -> NightlyPage:
    """Ask the warehouse about the runs of a night.

    Args:
        queries: None where there is no lake.

    Raises:
        ConfigurationError: one of the runs is not published.
    """
    runs = (
        ()
        if queries is None
        else tuple(
            night_run(queries, run_id, run_ids, thresholds) for run_id in dict.fromkeys(run_ids)
        )
    )
    ledger = None if queries is None else queries.ledger_head()
    return NightlyPage(day=day, outcomes=tuple(outcomes.items()), runs=runs, ledger=ledger)


def night_run(
    queries: Queries,
    run_id: RunId,
    tonight: Collection[RunId] = (),
    thresholds: AlarmSettings = USUAL,
) -> NightRun:
    """As `night_figures`, with the ideas that lead and those that are new."""
    figures = night_figures(queries, run_id, tonight, thresholds)
    (ideas,) = queries.rows("new_ideas", run_id=run_id)
    ranked = [idea for idea in queries.ranking(run_id) if idea.rank is not None]
    top = tuple(sorted(ranked, key=lambda idea: idea.place)[:TOP_IDEAS])
    known = {each.name: getattr(figures, each.name) for each in fields(figures)}
    return NightRun(**known, ideas=ideas, top=top)


def night_figures(
    queries: Queries,
    run_id: RunId,
    tonight: Collection[RunId] = (),
    thresholds: AlarmSettings = USUAL,
) -> NightFigures:
    """One run beside the last comparable one that is not of the same night.

    Raises:
        ConfigurationError: no such published run.
    """
    run = queries.run(run_id)
    earlier = (
        each
        for each in queries.list_runs()
        if each.started_at < run.started_at
        and each.run_id not in tonight
        and run.compares_with(each)
    )
    before = next(earlier, None)
    cost = queries.run_cost(run_id)
    cost_before = None if before is None else queries.run_cost(before.run_id)
    judged = queries.page_frame("unscored_reasons", run_id=run_id)
    return NightFigures(
        run=run,
        cost=cost,
        before=before,
        cost_before=cost_before,
        unscored_share=unscored_share(judged),
        alarms=tuple(_alarms(queries, run, judged, before, cost, cost_before, thresholds)),
    )


def _alarms(
    queries: Queries,
    run: Run,
    judged: polars.DataFrame,
    before: Run | None,
    cost: RunCost,
    cost_before: RunCost | None,
    thresholds: AlarmSettings,
) -> Iterator[Alarm]:
    judged_before = (
        None if before is None else queries.page_frame("unscored_reasons", run_id=before.run_id)
    )
    labels = queries.page_frame("label_shares", run_id=run.run_id)
    bias = queries.page_frame("position_bias", run_id=run.run_id)
    found = {
        About.UNSCORED: unscored_alarms(judged, judged_before, thresholds),
        About.CHECKS: expectation_alarms(queries.validations(run.run_id)),
        About.JUDGES: judge_alarms(labels, bias, thresholds=thresholds),
        About.COST: cost_alarms(cost, cost_before, thresholds),
    }
    for about, sentences in found.items():
        yield from (Alarm(about, Markdown(sentence)) for sentence in sentences)
