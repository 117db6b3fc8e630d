"""Scores of the quality checker's release, and differences from the paper.

SQL computes them. Problems, tokens, cost and hits per paper (Tables 2 and 3).
"""

import logging
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import resources

import duckdb
import numpy as np

from schemas.judgement.benchmark import BenchmarkScore
from tasks.benchmarks.published import published_scores
from tasks.benchmarks.suite import Trial
from tasks.metrics.estimate import NO_INTERVAL, Estimate, undefined
from tasks.metrics.means import Indices, bootstrap_interval, mean, share
from warehouse.kinds.quality_checker import (
    CheckerUsage,
    Price,
    checker_costs,
    checker_usage,
    joint_hits,
    judge_hits,
)
from warehouse.statements import statement

logger = logging.getLogger(__name__)

PRICES = resources.files("tasks.benchmarks").joinpath("checker_prices.toml")
_COUNT_COLUMNS = ("problem_count", "input_tokens", "thinking_tokens", "output_tokens")
_MEANS = dict(
    zip(
        ("mean_problems", "mean_input_tokens", "mean_thinking_tokens", "mean_output_tokens"),
        _COUNT_COLUMNS,
        strict=True,
    )
)
_QUARTILES = ("first_quartile_problems", "third_quartile_problems")
_NO_FIGURE = "no check has the figure"

Checker = tuple[str, str]
"""(model, approach)."""
Counts = dict[str, list[float | None]]
"""Values per check, by column."""


def read_prices() -> dict[str, Price]:
    """Return dollars per million tokens of each checker model, from `checker_prices.toml`."""
    price_rows = tomllib.loads(PRICES.read_text("utf-8"))["price"]
    return {
        row["model"]: Price(
            float(row["input_usd_per_million"]), float(row["output_usd_per_million"])
        )
        for row in price_rows
    }


def score_release(trial: Trial, connection: duckdb.DuckDBPyConnection) -> None:
    """Score every checker, and record differences from the published scores.

    Means are over the checks that have the value; the others are unscored. A judge's vote on a
    paper is yes if any of its problems is a hit; papers without a vote are unscored.

    Args:
        connection: from `release_views`.
    """
    first = len(trial.scores)
    counts = _counts(connection)
    for usage in checker_usage(connection):
        for metric, estimate in _usage(usage, counts[usage.model, usage.approach], trial.seed):
            trial.score(metric, estimate, usage.model, f"approach={usage.approach}")
    prices = read_prices()
    for row in checker_costs(connection, prices):
        if row.model not in prices or row.mean_cost_usd is None:
            reason = _NO_FIGURE if row.model in prices else "no price is stated for the model"
            cost = undefined(reason, 0, row.paper_count)
        else:
            columns = counts[row.model, row.approach]
            cost = _cost(row.mean_cost_usd, columns, prices[row.model], trial.seed)
        trial.score("mean_cost_usd", cost, row.model, f"approach={row.approach}")
    for one in judge_hits(connection):
        rate = share(one.hit_count, one.paper_count, one.undecided_count)
        part = f"approach={one.approach}, judge={one.judge}"
        trial.score("hit_rate", rate, one.model, part)
    for joint in joint_hits(connection):
        for judges, hit_count in (
            ("all", joint.all_hit_count),
            ("majority", joint.majority_hit_count),
            ("any", joint.any_hit_count),
            ("all on one problem", joint.same_problem_hit_count),
        ):
            rate = share(hit_count, joint.paper_count, joint.undecided_count)
            part = f"approach={joint.approach}, judges={judges}"
            trial.score("hit_rate", rate, joint.model, part)
    differences = against_print(trial.unit.suite, trial.scores[first:])
    trial.scores += differences
    if differences:
        logger.warning(
            "%s: %d figures of the release differ from the print, see the metric %s",
            trial.unit.suite,
            len(differences),
            DIFFERENCE,
        )


def _counts(connection: duckdb.DuckDBPyConnection) -> dict[Checker, Counts]:
    counts: dict[Checker, Counts] = {}
    for model, approach, *figures in connection.execute(
        statement("quality_checker", "figures_by_check")
    ).fetchall():
        columns = counts.setdefault((model, approach), {name: [] for name in _COUNT_COLUMNS})
        for name, figure in zip(_COUNT_COLUMNS, figures, strict=True):
            columns[name].append(figure)
    return counts


def _usage(row: CheckerUsage, columns: Counts, seed: int) -> Iterator[tuple[str, Estimate]]:
    for metric, column in _MEANS.items():
        yield metric, _with_value(getattr(row, metric), mean(columns[column], seed))
    problem_counts = [count for count in columns["problem_count"] if count is not None]
    missing = row.paper_count - len(problem_counts)
    for metric in _QUARTILES:
        value = getattr(row, metric)
        yield (
            metric,
            undefined(_NO_FIGURE, 0, missing)
            if value is None
            else Estimate(value, len(problem_counts), NO_INTERVAL, missing),
        )
    nothing = share(sum(count == 0 for count in problem_counts), len(problem_counts), missing)
    yield "nothing_found_share", _with_value(row.nothing_found_share, nothing)


def _cost(value: float, columns: Counts, price: Price, seed: int) -> Estimate:
    """Return the mean cost `value` with a bootstrap interval over papers.

    As in the SQL, each mean is over the checks that have the value.
    """
    table = np.array([columns[name] for name in _COUNT_COLUMNS[1:]], dtype=np.float64)
    has_value, rates = (
        ~np.isnan(table),
        np.array([price.input_usd_per_million, *[price.output_usd_per_million] * 2]) / 1e6,
    )
    figures = np.where(has_value, table, 0.0)

    def of_papers(indices: Indices) -> float:
        figure_counts = has_value[:, indices].sum(axis=1)
        return (
            float(rates @ (figures[:, indices].sum(axis=1) / figure_counts))
            if figure_counts.all()
            else float("nan")
        )

    complete_count = int(has_value.all(axis=0).sum())
    return Estimate(
        value,
        complete_count,
        bootstrap_interval(of_papers, table.shape[1], seed),
        table.shape[1] - complete_count,
    )


def _with_value(value: float | None, estimate: Estimate) -> Estimate:
    """Return the estimate with the value that SQL computed."""
    return estimate if value is None or not estimate.defined else replace(estimate, value=value)


DIFFERENCE = "difference_from_print"
_DIGITS = {
    "mean_problems": 1,
    "first_quartile_problems": 0,
    "third_quartile_problems": 0,
    "mean_input_tokens": 0,
    "mean_thinking_tokens": 0,
    "mean_output_tokens": 0,
    "mean_cost_usd": 3,
    "hit_rate": 3,
    "nothing_found_share": 3,
}
"""Decimal digits of the published scores; shares are in percent with one digit."""


def against_print(suite: str, scores: Sequence[BenchmarkScore]) -> list[BenchmarkScore]:
    """Return measured minus published, for scores that differ after rounding.

    The `slice` of a row names metric and slice of the score.
    """
    published_values = {
        (one.metric, one.slice, one.system): one.value for one in published_scores(suite)
    }
    rows = []
    for score in scores:
        value = published_values.get((score.metric, score.slice, score.system))
        if (
            value is None
            or score.value is None
            or round(score.value, _DIGITS[score.metric]) == value
        ):
            continue
        rows.append(
            BenchmarkScore(
                suite=suite,
                metric=DIFFERENCE,
                slice=f"{score.metric}, {score.slice}",
                system=score.system,
                value=score.value - value,
                count=score.count,
                unscored_count=score.unscored_count,
            )
        )
    return rows
