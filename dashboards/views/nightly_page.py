"""Summary of a night: each run next to the last comparable one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from enum import StrEnum
from typing import NamedTuple

import polars

from dashboards.render import wording
from dashboards.views.alarms import (
    cost_alarms,
    expectation_alarms,
    judge_alarms,
    source_alarms,
    step_alarms,
    unscored_alarms,
    unscored_share,
)
from schemas.identifiers import RunId
from schemas.people.ledger import LedgerHead
from schemas.run import Run
from warehouse.queries import Queries
from warehouse.row_models import RankedIdea, RunCost

TOP_IDEAS = 5


class About(StrEnum):
    """Subject of an alarm, and so where its figures are shown."""

    UNSCORED = "unscored"
    CHECKS = "checks"
    JUDGES = "judges"
    COST = "cost"


class Alarm(NamedTuple):
    about: About
    sentence: str


@dataclass(frozen=True, slots=True)
class NightFigures:
    """A run with cost and alarms, next to the last comparable run.

    Attributes:
        before, cost_before: None if no earlier run is comparable.
        unscored_share: of all judgements; None without judgements.
    """

    run: Run
    cost: RunCost
    before: Run | None
    cost_before: RunCost | None
    unscored_share: float | None
    alarms: tuple[Alarm, ...]

    @property
    def status(self) -> str:
        """The state of the run: not in order, in order with alarms, or in order."""
        return self.run.status_in_words(len(self.alarms))


@dataclass(frozen=True, slots=True)
class NightRun(NightFigures):
    """One run of the night, with its ideas."""

    ideas: Mapping[str, int]
    top: tuple[RankedIdea, ...]

    @property
    def what_leads(self) -> str:
        """Sentence on the basis of the order of `top`."""
        return wording.what_leads_among(self.top)


@dataclass(frozen=True, slots=True)
class NightlyPage:
    """Outcomes of idea files, runs, and the ledger's head (None without a lake)."""

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
) -> NightlyPage:
    """Read the runs of a night from the warehouse.

    Args:
        queries: None without a lake.

    Raises:
        ConfigurationError: one of the runs is not published.
    """
    if queries is None:
        return NightlyPage(day=day, outcomes=tuple(outcomes.items()), runs=())
    unique = list(dict.fromkeys(run_ids))
    return NightlyPage(
        day=day,
        outcomes=tuple(outcomes.items()),
        runs=tuple(
            _with_ideas(queries, figures) for figures in night_figures(queries, unique, run_ids)
        ),
        ledger=queries.ledger_head(),
    )


def night_run(queries: Queries, run_id: RunId) -> NightRun:
    """Return `night_figures` of one run, with leading and new ideas."""
    (figures,) = night_figures(queries, [run_id])
    return _with_ideas(queries, figures)


def _with_ideas(queries: Queries, figures: NightFigures) -> NightRun:
    run_id = figures.run.run_id
    (ideas,) = queries.rows("new_ideas", run_id=run_id)
    ideas_with_rank = [idea for idea in queries.ranking(run_id) if idea.rank is not None]
    top = tuple(sorted(ideas_with_rank, key=lambda idea: idea.place)[:TOP_IDEAS])
    values = {each.name: getattr(figures, each.name) for each in fields(figures)}
    return NightRun(**values, ideas=ideas, top=top)


def night_figures(
    queries: Queries,
    run_ids: Sequence[RunId],
    tonight: Collection[RunId] = (),
) -> tuple[NightFigures, ...]:
    """Return each run next to the last comparable one of an earlier night.

    One query serves all runs: a query costs more than what it reads.

    Raises:
        ConfigurationError: one of them is not published.
    """
    published_runs = queries.list_runs()
    runs = [queries.run(run_id) for run_id in run_ids]
    befores = [_before(run, published_runs, tonight) for run in runs]
    all_run_ids = list(dict.fromkeys(run.run_id for run in (*runs, *befores) if run is not None))
    costs = {cost.run_id: cost for cost in queries.run_costs(all_run_ids)}
    validations = queries.validations_of(run_ids)
    reasons = queries.page_frame("unscored_reasons", run_ids=all_run_ids)
    unanswered_steps = queries.page_frame("unanswered_steps", run_ids=list(run_ids))
    silent_sources = queries.page_frame("silent_sources", run_ids=list(run_ids))
    labels = queries.page_frame("label_shares", run_ids=list(run_ids))
    bias = queries.page_frame("position_bias", run_ids=list(run_ids))
    nights = []
    for run, before in zip(runs, befores, strict=True):
        cost, run_reasons = costs[run.run_id], _of(reasons, run)
        cost_before = None if before is None else costs[before.run_id]
        earlier_share = None if before is None else _of(reasons, before)
        alarms = {
            About.UNSCORED: [
                *unscored_alarms(run_reasons, earlier_share, run.order_reasons),
                *step_alarms(_of(unanswered_steps, run)),
                *source_alarms(_of(silent_sources, run)),
            ],
            About.CHECKS: expectation_alarms(
                each for each in validations if each.run_id == run.run_id
            ),
            About.JUDGES: judge_alarms(run, _of(labels, run), _of(bias, run)),
            About.COST: cost_alarms(cost, cost_before),
        }
        run_alarms = tuple(
            Alarm(about, sentence) for about, sentences in alarms.items() for sentence in sentences
        )
        nights.append(
            NightFigures(run, cost, before, cost_before, unscored_share(run_reasons), run_alarms)
        )
    return tuple(nights)


def _before(run: Run, published_runs: Sequence[Run], tonight: Collection[RunId]) -> Run | None:
    earlier_runs = (
        each
        for each in published_runs
        if each.started_at < run.started_at
        and each.run_id not in tonight
        and run.compares_with(each)
    )
    return next(earlier_runs, None)


def _of(frame: polars.DataFrame, run: Run) -> polars.DataFrame:
    return frame.filter(polars.col("run_id") == run.run_id)
