"""Alarms of a run: unreliable judges, missing judgements, rising cost."""

from collections import Counter
from collections.abc import Iterable, Sequence

import polars

from dashboards.render import figures
from dashboards.render.wording import reason, step
from schemas.calls import CallStatus
from schemas.choices import EXTRACTIVE
from schemas.reasons import BEYOND_THE_RUN, Reason
from schemas.run import Run, ValidationRow
from schemas.standing import kind_missing
from warehouse.row_models import RunCost

# Chosen by judgement, not fitted: false alarms cost a look, and no alarm decides the exit code.
MOST_UNSCORED_SHARE = 0.2
_MOST_UNSCORED_RISE = 0.1  # over the previous comparable run
_DEARER_TIMES = 2.0
COLLAPSED_SHARE = 0.9
_MOST_POSITION_BIAS = 0.2
_LEAST_ORDER_AGREEMENT = 0.6
ENOUGH_JUDGEMENTS = 20  # fewer judgements or matches show neither collapse nor bias


def judge_alarms(
    run: Run,
    labels: polars.DataFrame,
    groups: polars.DataFrame,
) -> list[str]:
    """Return a sentence for each problem with the judges of a run.

    Args:
        labels: `label_shares` of the run.
        groups: `position_bias` of the run.
    """
    alarms = []
    # The offline baseline is no judge, so one frequent label is no collapse.
    judge_labels = labels.clear() if run.engine == EXTRACTIVE.text else labels
    totals = judge_labels.group_by("judgement", maintain_order=True).agg(
        polars.col("judgements").sum().alias("all"),
        polars.col("share").max(),
        polars.col("label").sort_by("share", descending=True).first(),
    )
    for judgement, count, share, label in totals.iter_rows():
        if count >= ENOUGH_JUDGEMENTS and share >= COLLAPSED_SHARE:
            alarms.append(
                f"Label collapse: {figures.percent(share)} of {count:,} judgements of {judgement} say {label}."
            )
    for group in groups.filter(
        polars.col("match_count") - polars.col("unscored_match_count") >= ENOUGH_JUDGEMENTS
    ).iter_rows(named=True):
        place = f"group {group['group']}, ranking {group['ranking_id']}"
        if (
            group["position_bias"] is not None
            and abs(group["position_bias"]) >= _MOST_POSITION_BIAS
        ):
            side = "first" if group["position_bias"] > 0 else "second"
            alarms.append(
                f"Position bias: the idea shown {side} wins {figures.percent(abs(group['position_bias']))} more"
                f" matches ({place})."
            )
        if (
            group["order_agreement_0_to_1"] is not None
            and group["order_agreement_0_to_1"] < _LEAST_ORDER_AGREEMENT
        ):
            alarms.append(
                f"Order matters: only {figures.percent(group['order_agreement_0_to_1'])} of pairs are judged"
                f" alike in both orders ({place})."
            )
    return alarms


def unscored_alarms(
    reasons: polars.DataFrame,
    before: polars.DataFrame | None,
    order_reasons: Sequence[str] = (),
) -> list[str]:
    """Return alarms about unscored judgements, in total and by kind.

    Kinds are checked separately because a frequent one would hide others: a run has a hundred
    comparisons per review of a plan.

    Args:
        reasons: `unscored_reasons` of the run.
        before: those of the run before; None: there is none.
        order_reasons: reasons of the run; the kinds they name are left out.
    """
    kinds = _kinds_unanswered(reasons, order_reasons)
    share, earlier_share = (
        unscored_share(reasons),
        None if before is None else unscored_share(before),
    )
    if share is None or (
        share <= MOST_UNSCORED_SHARE
        and (earlier_share is None or share - earlier_share <= _MOST_UNSCORED_RISE)
    ):
        return kinds
    reasons = _within_the_run(reasons)
    reason_counts = (
        reasons.drop_nulls("reason")
        .group_by("reason")
        .agg(polars.col("judgements").sum())
        .sort("judgements", "reason", descending=True)
    )
    mostly = reason(str(reason_counts["reason"][0]))
    comparison = (
        ""
        if earlier_share is None
        else f", after {figures.percent(earlier_share)} in the run before"
    )
    return [
        f"Unscored: {figures.percent(share)} of {int(reasons['judgements'].sum()):,} judgements have no"
        f" score{comparison}; most often: {mostly}.",
        *kinds,
    ]


def _kinds_unanswered(
    reasons: polars.DataFrame,
    order_reasons: Sequence[str],
) -> list[str]:
    failure_reasons = [each.value for each in Reason if each.engine_failed]
    counts: dict[str, Counter[str]] = {}
    for kind, first_reason, count in reasons.select(
        "judgement", "reason", "judgements"
    ).iter_rows():
        counts.setdefault(kind, Counter())[first_reason or ""] += count
    alarms = []
    for kind, by_reason in counts.items():
        if any(each.startswith(kind_missing(kind)) for each in order_reasons):
            continue
        failure_counts = {
            first_reason: count
            for first_reason, count in by_reason.items()
            if first_reason in failure_reasons
        }
        if sum(failure_counts.values()) > MOST_UNSCORED_SHARE * by_reason.total():
            mostly = reason(
                max(failure_counts, key=lambda first_reason: failure_counts[first_reason])
            )
            alarms.append(
                f"Unanswered: {kind.replace('_', ' ')}, {sum(failure_counts.values()):,} of"
                f" {by_reason.total():,}; most often: {mostly}."
            )
    return alarms


# Other failed calls count as `ENGINE_UNAVAILABLE`.
_REASONS = {
    CallStatus.UNPARSABLE: Reason.REPLY_UNPARSABLE,
    CallStatus.EMPTY: Reason.REPLY_EMPTY,
    CallStatus.CUT_OFF: Reason.REPLY_CUT_OFF,
    CallStatus.REFUSED: Reason.REFUSED,
    CallStatus.TIMED_OUT: Reason.TIMED_OUT,
}


def step_alarms(
    step_counts: polars.DataFrame,
) -> list[str]:
    """Return an alarm for each step with too many unanswered questions.

    Args:
        step_counts: `unanswered_steps` of the run.
    """
    return [
        f"Unanswered: {step(row['step'])}, {row['unanswered']:,} of"
        f" {figures.plural(row['questions'], 'question')}; most often:"
        f" {_REASONS.get(row['failure'], Reason.ENGINE_UNAVAILABLE).sentence}."
        for row in step_counts.iter_rows(named=True)
        if row["unanswered"] > MOST_UNSCORED_SHARE * row["questions"]
    ]


def source_alarms(silent: polars.DataFrame) -> list[str]:
    """Return an alarm for each source that answered nothing, with its cause.

    Args:
        silent: `silent_sources` of the run.
    """
    return [
        f"Not answered: none of {figures.plural(row['requests'], 'request')} to"
        f" {row['source'].replace('_', ' ')}" + (f" ({row['cause']})." if row["cause"] else ".")
        for row in silent.iter_rows(named=True)
    ]


def unscored_share(reasons: polars.DataFrame) -> float | None:
    """Return the share of judgements without a score; None without judgements.

    Judgements that engine or literature cannot give by their nature are left out.
    """
    reasons = _within_the_run(reasons)
    total = int(reasons["judgements"].sum())
    return int(reasons.drop_nulls("reason")["judgements"].sum()) / total if total else None


def _within_the_run(reasons: polars.DataFrame) -> polars.DataFrame:
    excluded_reasons = [reason.value for reason in BEYOND_THE_RUN]
    return reasons.filter(~polars.col("reason").fill_null("").is_in(excluded_reasons))


def expectation_alarms(validations: Iterable[ValidationRow]) -> list[str]:
    """Return the expectations that rows of the run broke."""
    return [
        f"Expectation broken ({row.severity.value}): {row.expectation} in"
        f" {row.table_name}, {figures.plural(row.unexpected_count, 'row')}."
        for row in validations
        if not row.success
    ]


def cost_alarms(cost: RunCost, before: RunCost | None) -> list[str]:
    """Return an alarm if an idea costs many times more than in the run before."""
    earlier_cost_usd = before.cost_usd_per_idea if before is not None else None
    if (
        cost.cost_usd_per_idea is None
        or not earlier_cost_usd
        or cost.cost_usd_per_idea < _DEARER_TIMES * earlier_cost_usd
    ):
        return []
    return [
        f"Dearer: {figures.usd(cost.cost_usd_per_idea)} an idea, after {figures.usd(earlier_cost_usd)} in"
        " the run before."
    ]
