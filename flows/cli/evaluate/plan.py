"""`assay plan`: estimate of a run before paying for it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dashboards.render.figures import plural
from flows.cli.answer import print_answer
from flows.cli.options import Ideas, Json, ShowFields
from flows.cli.output import duration, print_columns, print_table
from flows.cli.terminal import print_note, print_warning
from flows.run.requests import request_of
from flows.works.evaluate.idea_input import idea_file, print_remarks
from schemas.options.commands import PlanOptions
from schemas.run import Budget
from schemas.settings import Settings
from tasks.works import work_named

if TYPE_CHECKING:
    from flows.works.evaluate.prediction import ModelCost, Prediction
    from tasks.evaluation.expected import Estimate
    from tasks.judging.batches.expected import BatchEstimate
    from tasks.judging.expected import StepEstimate
    from tasks.ranking.expected import RankingEstimate

_HOW_TO_PRICE = (
    "set ASSAY_LANGUAGE_MODEL__PROMPT_PRICE_USD_PER_MILLION_TOKENS and"
    " …__COMPLETION_PRICE_USD_PER_MILLION_TOKENS"
)


def plan(
    ideas: Ideas,
    options: PlanOptions,
    fields: ShowFields = False,
    json: Json = False,
) -> int:
    """Predict requests, tokens, dollars and hours of `assay evaluate` with the same options.

    Ideas that the warehouse holds evaluated are subtracted; `--json` has both figures.
    """
    from flows.cli.evaluate.run_output import literature_in_words, print_rejections
    from flows.works.evaluate.prediction import parse_engines, predict

    settings = Settings()
    other_engines = parse_engines(options.compare)
    with idea_file(ideas) as path:
        request = request_of(work_named("evaluate"), (path,), options, settings)
        if fields:
            from flows.cli.evaluate.run_output import print_fields

            return print_fields(request, as_json=json)
        prediction = predict(request, other_engines, settings)
    batch = prediction.batch
    disorder = _rejection_warnings(prediction.estimate, request.parameters.allowed_unscored_share)
    if json:
        print_answer(
            "planned",
            prediction.estimate.steps,
            warnings=[*disorder, *batch.warnings],
            allowed_unscored_share=request.parameters.allowed_unscored_share,
            literature=literature_in_words(request.literature),
            **prediction.document(),
        )
        return 0
    print_rejections([(each.location, each.reason, each.detail) for each in batch.rejected])
    print_remarks(batch.remarks)
    for line in disorder:
        print_warning(line)
    _print(prediction.estimate, prediction.ranking)
    _print_comparison(prediction.comparison)
    for note in (
        f"literature: {literature_in_words(request.literature)}",
        *(
            [
                "models that the profile names answer their steps in every line:"
                f" {', '.join(request.profile.judging.models)}"
            ]
            if other_engines and request.profile.judging.models
            else []
        ),
        *prediction.fields.lines,
        *_done_in_words(prediction),
        *_budget_warnings(prediction.estimate, request.budget),
    ):
        print_note(note)
    return 0


def _rejection_warnings(estimate: "Estimate", allowed_share: float) -> list[str]:
    entries = estimate.ideas + estimate.rejected
    if estimate.rejected <= allowed_share * entries:
        return []
    return [
        f"`assay evaluate` will exit 1: {estimate.rejected:,} of {entries:,} entries are rejected,"
        f" and {allowed_share:.0%} are allowed (ASSAY_RUNS__ALLOWED_UNSCORED_SHARE)"
    ]


def _done_in_words(prediction: "Prediction") -> list[str]:
    results, ideas = prediction.done, prediction.estimate.ideas
    lines = []
    if prediction.unknown_because:
        lines.append(f"earlier runs could not be looked up because {prediction.unknown_because}")
    if results.evaluated:
        remark = "the figures are of the others" if results.evaluated < ideas else "nothing to pay"
        lines.append(f"{results.evaluated:,} of {ideas:,} ideas are already evaluated; {remark}")
    if results.replies:
        lines.append(
            f"{len(results.replies):,} of {ideas:,} ideas partly evaluated; cached replies that are"
            f" not counted again: {sum(results.replies):,}"
        )
    if results.interrupted:
        lines.append(
            f"a stopped run left {plural(results.interrupted, 'idea')} unfinished; cached replies to"
            " these cannot be counted, so the run may cost less"
        )
    if prediction.comparison and lines:
        lines.append("the comparison of models counts every idea, evaluated or not")
    return lines


def _print(estimate: "Estimate", ranking: "RankingEstimate") -> None:
    columns: dict[str, Callable[[StepEstimate], object]] = {  # narrow, for 80 columns
        "step, for each idea": lambda step: step.step,
        "calls": lambda step: round(step.calls),
        "prompt tokens": lambda step: round(step.prompt_tokens),
        "completion tokens": lambda step: round(step.completion_tokens),
        "of them thinking": lambda step: round(step.thinking_tokens),
        "cost": lambda step: "unknown" if step.cost_usd is None else f"${step.cost_usd:.4f}",
    }
    if len({step.models for step in estimate.steps}) > 1:
        columns["model"] = lambda step: ", ".join(step.models)
    if estimate.steps:
        print_columns(estimate.steps, columns)
    evaluated_text = f"{estimate.evaluated:,} already evaluated, " if estimate.evaluated else ""
    rows: list[list[object]] = [
        ["ideas", f"{estimate.ideas:,} ({evaluated_text}{estimate.rejected} rejected)"],
        ["literature requests", f"{estimate.literature_requests:,}"],
        ["model calls", f"{estimate.model_calls:,}"],
        [
            "prompt tokens",
            (
                f"{estimate.prompt_tokens:,}, {estimate.cached_tokens:,} of them expected from the"
                " provider's cache"
            ),
        ],
        [
            "completion tokens",
            (
                f"{estimate.completion_tokens:,}, {estimate.thinking_tokens:,} of them expected for"
                " thinking"
            ),
        ],
        ["cost", _usd(estimate.cost_usd, estimate.unpriced_models)],
        ["time", f"{duration(estimate.hours)}, bound by the {estimate.bound_by}"],
    ]
    if (batches := estimate.batches) is not None:
        rows[-1] = ["own work", f"{duration(estimate.hours)}, next to the batches"]
        rows += _batch_rows(batches)
    print_table(
        ["the rest of the run" if estimate.evaluated else "the whole run", "expected"], rows
    )
    ranking_calls = (
        f"{ranking.model_calls:,} calls, {ranking.prompt_tokens:,} prompt and"
        f" {ranking.completion_tokens:,} completion tokens"
    )
    print_table(
        ["ranking by matches (assay rank, or --rank)", "at most"],
        [
            ["pairs", f"{ranking.pairs:,} in {ranking.groups:,} groups"],
            ["asked", ranking_calls],
            ["cost", _usd(ranking.cost_usd, ranking.unpriced_models)],
            *(_batch_rows(ranking.batches) if ranking.batches is not None else ()),
        ],
    )


def _batch_rows(batches: "BatchEstimate") -> list[list[object]]:
    waves = (
        f"{batches.waves}, at most {batches.most_waves} where replies have to be asked for again"
    )
    hours = (
        f"{batches.worst_case_hours:,.0f} at worst, {batches.worst_case_hours_asked_again:,.0f}"
        " where every question is asked again; most batches end within an hour or a few"
    )
    return [["waves", waves], ["hours of batches", hours]]


def _usd(cost_usd: float | None, unpriced_models: Sequence[str]) -> str:
    return (
        f"unknown price of {', '.join(unpriced_models)} ({_HOW_TO_PRICE})"
        if cost_usd is None
        else f"${cost_usd:,.2f}"
    )


def _print_comparison(lines: "Sequence[ModelCost]") -> None:
    def cost(usd: float | None, digits: int) -> str:
        return "unknown price" if usd is None else f"${usd:,.{digits}f}"

    if lines:
        print_columns(
            lines,
            {
                "engine": lambda line: line.engine,
                "calls": lambda line: f"{line.model_calls:,}",
                "prompt tokens": lambda line: f"{line.prompt_tokens:,}",
                "from cache": lambda line: f"{line.cached_tokens:,}",
                "completion tokens": lambda line: f"{line.completion_tokens:,}",
                "thinking": lambda line: f"{line.thinking_tokens:,}",
                "an idea": lambda line: cost(line.cost_usd_per_idea, 3),
                "the whole run": lambda line: cost(line.cost_usd, 2),
            },
        )


def _budget_warnings(estimate: "Estimate", budget: Budget) -> list[str]:
    amounts_and_bounds = (
        ("cost in dollars", estimate.cost_usd, budget.maximum_cost_usd),
        ("tokens", estimate.prompt_tokens + estimate.completion_tokens, budget.maximum_tokens),
        ("literature requests", estimate.literature_requests, budget.maximum_requests),
    )
    return [
        f"expected {quantity}, {amount:,.0f}, exceed the bound of {bound:,}: the run will stop early"
        for quantity, amount, bound in amounts_and_bounds
        if amount is not None and bound is not None and amount > bound
    ]
