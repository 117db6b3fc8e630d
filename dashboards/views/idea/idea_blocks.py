"""Report on one idea: the first page, then the evidence behind it."""

from collections.abc import Iterator
from itertools import zip_longest

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.row_charts import TEN, Bar, bar_chart
from dashboards.render.papers import reference, sort_for_reading
from dashboards.render.prose import prose_line
from dashboards.views.idea.committee_blocks import committee_blocks, other_sources
from dashboards.views.idea.gaps import judgements, shortenings_of
from dashboards.views.idea.idea_page import IdeaPage
from dashboards.views.idea.judges_part import judged_steps, score_of_judges
from dashboards.views.idea.module_blocks import contribution_blocks, soundness_blocks
from dashboards.views.idea.plan_blocks import experiment_blocks, first_blocks, plan_blocks
from dashboards.views.idea.review_blocks import novelty_blocks
from schemas.judgement.assessment import AssessmentEvaluation
from schemas.judgement.soundness import SoundnessSummary
from warehouse.row_models import IdeaScore


def idea_view(page: IdeaPage, *, full: bool = False, file_name: str = "") -> pg.Page:
    """Return the first page of an idea, or the full report.

    Args:
        file_name: of the idea's pages in the run's report folder, which are linked; empty: no
            links.
    """
    idea, first = page.review.evaluation.idea, page.first
    blocks = [*first_blocks(first)]
    if full:
        blocks += _rest(page)
    else:
        rank, size = page.review.rank, page.review.group_size
        report_link = pg.report("the full report", f"../full/{file_name}")
        blocks.append(
            pg.text(
                f"Rank {rank} of {size}. " if rank is not None else "",
                "Evidence by method, comparisons, questions and cost: ",
                report_link if file_name else pg.code(first.full_report),
            )
        )
    if file_name:
        blocks.append(pg.text(pg.report("All ideas of the run", "../index")))
    return pg.Page(pg.line(first.title), tuple(blocks), idea.title or idea.idea_id)


def _rest(page: IdeaPage) -> Iterator[pg.Block]:
    evaluation = page.review.evaluation
    idea = evaluation.idea
    if idea.translation is not None:
        paragraphs = zip_longest(
            idea.text.split("\n\n"), idea.translation.split("\n\n"), fillvalue=""
        )
        rows = [(prose_line(own), prose_line(english)) for own, english in paragraphs]
        yield pg.heading("Translation")
        yield pg.table(("As given", "In English, as judged"), rows)
    if page.plan is not None:
        yield from plan_blocks(page.plan, page.first.concerns)
    if evaluation.experimental_results:
        yield from experiment_blocks(evaluation.experimental_results, page.review.warehouse)
    yield from (pg.heading("Scores"), _scores(page))
    if (profile := _profile(page)) is not None:
        yield profile
    if evaluation.assessment is not None:
        yield from _assessment(evaluation.assessment)
    elif evaluation.soundness is not None:
        yield from _summary(evaluation.soundness.summary)
    if evaluation.soundness is not None:
        yield from soundness_blocks(page, evaluation.soundness)
    if evaluation.contribution is not None:
        yield from contribution_blocks(page, evaluation.contribution)
    if evaluation.committee is not None:
        yield from committee_blocks(evaluation.committee, evaluation.judge_votes)
    if evaluation.novelty is not None:
        provenance = evaluation.novelty.judgement.provenance
        judges = score_of_judges(evaluation.judge_votes, provenance)
        yield from novelty_blocks(evaluation.novelty, page.papers, judges)
    yield from _judges(page)
    yield from _missing(page)
    yield pg.heading("Bibliography")
    papers = sort_for_reading(page.review.bibliography)
    yield from pg.bullets(map(reference, papers)) or (pg.text("No paper is cited."),)
    if others := other_sources(evaluation):
        yield pg.text("Pages, code and later papers cited:")
        yield from pg.bullets(others)
    yield from _provenance(page)


def _scores(page: IdeaPage) -> pg.Table:
    score = page.review.score
    overall = pg.strong("Overall"), pg.strong(figures.mean(score.score))
    weights = wording.score_in_words(page.review.run, score)
    rows: list[tuple[pg.Part, ...]] = [(*overall, weights, "")]
    for name, is_requested, value, words_of in (
        ("Soundness", score.soundness_requested, score.soundness_0_to_10, _methods),
        ("Contribution", score.contribution_requested, score.contribution_0_to_10, _comparisons),
    ):
        cells = (
            (figures.mean(value), *words_of(score)) if is_requested else ("not asked for", "", "")
        )
        rows.append((name, *cells))
    if score.committee_requested:
        unscored_count = score.unscored_persona_review_count
        reviews = [score.persona_review_count - unscored_count, unscored_count]
        counts = (figures.plural(count, "review") for count in reviews)
        rows.append(("Committee", figures.mean(score.committee_0_to_10), *counts))
    if score.novelty_requested:
        novelty = score.novelty_1_to_5
        missing_one = "1 judgement" if novelty is None else "0 judgements"
        on = "" if novelty is None else f"{novelty:g} on 1 … 5"
        rows.append(("Novelty", figures.mean(score.novelty_0_to_10), on, missing_one))
    mark = wording.baseline_mark(page.review.evaluation.engine)
    return pg.table(("", f"Score, of 10{mark}:", "Mean of", "Unscored"), rows)


def _profile(page: IdeaPage) -> pg.Figure | None:
    score = page.review.score
    modules = (
        ("Soundness", score.soundness_requested, score.soundness_0_to_10),
        ("Contribution", score.contribution_requested, score.contribution_0_to_10),
        ("Committee", score.committee_requested, score.committee_0_to_10),
        ("Novelty", score.novelty_requested, score.novelty_0_to_10),
    )
    bars = [Bar("Overall", score.score, figures.mean(score.score))]
    for name, is_requested, value in modules:
        if is_requested:
            bars.append(Bar(name, value, figures.mean(value)))
        for method, review in page.methods if name == "Soundness" else ():
            method_score = review.score_0_to_10 if review is not None else None
            bars.append(
                Bar(f"Method {method.rank}", method_score, figures.score(method_score), inner=True)
            )
    caption = (
        "Wide bars are the modules' scores, narrow ones the methods behind soundness. What is"
        " unscored has no bar."
    )
    return bar_chart("bars-1", "Scores of the modules and methods", caption, TEN, bars)


def _methods(score: IdeaScore) -> tuple[str, str]:
    of = f"{score.scored_method_count} of {figures.plural(score.method_count, 'method')}"
    return of, figures.plural(score.unscored_method_count, "method")


def _comparisons(score: IdeaScore) -> tuple[str, str]:
    comparisons = figures.plural(score.scored_comparison_count, "comparison")
    of = f"{comparisons} in {figures.plural(score.dimension_count, 'dimension')}"
    if score.mean_comparison_score is not None:
        of += f"; mean {figures.with_sign(score.mean_comparison_score)} on −1 … +1"
    missing_text = figures.plural(score.unscored_comparison_count, "comparison")
    if score.unscored_dimension_count:
        dimensions = figures.plural(score.unscored_dimension_count, "dimension")
        missing_text += f", {dimensions} without a review"
    return of, missing_text


def _assessment(assessment: AssessmentEvaluation) -> Iterator[pg.Block]:
    yield pg.heading("Assessment")
    rows = []
    for row in assessment.assessments:
        probability, low, high = row.probability_0_to_1, row.lowest_0_to_1, row.highest_0_to_1
        value = wording.unscored_because(row.unscored_reason or "")
        if probability is not None:
            value = figures.percent(probability)
        range_text = ""
        if low is not None and high is not None and row.repetition_count > 1:
            range_text = figures.between(low, high, figures.percent)
        rows.append(
            (row.criterion.replace("_", " "), value, range_text, prose_line(" ".join(row.reasons)))
        )
    yield pg.table(("Criterion", "Probability:", "Range", "Reasons"), rows)
    for row in assessment.assessments:
        if row.criterion == "overall" and row.venue:
            yield pg.text("Venue: ", prose_line(row.venue))


def _summary(summary: SoundnessSummary | None) -> Iterator[pg.Block]:
    yield pg.heading("Summary")
    if summary is None:
        yield pg.text("unscored: no summary was made.")
        return
    if summary.unscored_reason is not None:
        yield pg.text(f"{wording.unscored_because(summary.unscored_reason)}.")
        return
    for name in ("strengths", "weaknesses", "suggestions"):
        yield pg.text(pg.strong(name.capitalize()))
        points = getattr(summary, name)
        yield pg.numbered_list(map(prose_line, points)) if points else pg.text("None named.")


def _judges(page: IdeaPage) -> Iterator[pg.Block]:
    steps = judged_steps(page.evaluation.judge_votes)
    if not steps:
        return
    yield pg.heading("Several judges")
    yield pg.text(
        "The median of their scores counts; the words are those of the judge who came nearest to it."
        " Findings are joined: what any of them raised counts."
    )
    rows = []
    for step in steps:
        why = f": {step.unscored_reasons}" if step.unscored_reasons else ""
        name, judges = step.step.replace("_", " "), ", ".join(step.judges)
        rows.append((name, judges, step.agreement, f"{step.unscored_count:,}{why}"))
    yield pg.table(("Step", "Judges", "Agreement", "Votes without a score"), rows)


def _missing(page: IdeaPage) -> Iterator[pg.Block]:
    yield pg.heading("What is missing")
    if not page.gaps:
        yield pg.text("Every look-up was answered and every judgement made.")
        return
    yield pg.text("Nothing here counts as a zero: every mean is taken over what was scored.")
    rows = []
    for gap in page.gaps:
        reason = f"{gap.why}; running again may help" if gap.retryable else gap.why
        rows.append((gap.what, gap.count, reason, gap.subjects, gap.detail))
    yield pg.table(("What", "Times:", "Why", "Concerns", "Detail"), rows)


def _provenance(page: IdeaPage) -> Iterator[pg.Block]:
    review, evaluation = page.review, page.review.evaluation
    idea, cutoff = evaluation.idea, evaluation.idea.cutoff_date
    yield pg.heading("Provenance and cost")
    nothing_later = f"cutoff {figures.day(cutoff)}: nothing published later is cited"
    rank = f"rank {review.rank} of {review.group_size}" if review.rank is not None else "no rank"
    yield pg.facts(
        pg.line("Idea ", pg.code(idea.idea_id)),
        f"group {idea.group}" if idea.group is not None else "",
        rank,
        nothing_later if cutoff is not None else "no cutoff date",
        f"plan of the manuscript {idea.manuscript}" if idea.manuscript is not None else "",
    )
    models = {call.model_answered for call in evaluation.llm_calls}
    models |= {provenance.model_answered for _, _, provenance in judgements(evaluation)}
    models_answered = ", ".join(sorted(filter(None, models)))
    yield pg.facts(
        pg.line("Run ", pg.code(evaluation.run_id)),
        pg.line("engine ", pg.code(evaluation.engine)),
        f"model {models_answered}" if models_answered else "",
        pg.line("profile ", pg.code(evaluation.profile)),
        f"literature: {wording.literature(evaluation.literature, review.run.literature_name)}",
        pg.line("evaluated ", evaluation.finished_at),
    )
    if idea.duplicate_of is not None:
        closeness = idea.duplicate_similarity_0_to_1
        similarity = f" (similarity {figures.decimals(closeness)})" if closeness is not None else ""
        yield pg.note("Nearly the same as idea ", pg.code(idea.duplicate_of), f"{similarity}.")
    if shortenings := shortenings_of(evaluation):
        yield pg.text("Long inputs were shortened before they were judged:")
        yield from pg.bullets(
            f"{each.step}, {figures.plural(each.count, 'time')}: {each.rule}"
            for each in shortenings
        )
    if evaluation.reused_from_run_id is None:
        yield pg.table(("", ""), _costs(page))
    else:
        reuse_note = "paid for the evaluation, and it was reused."
        source_run = pg.code(evaluation.reused_from_run_id)
        yield pg.text("Nothing in this run: run ", source_run, f" {reuse_note}")


def _costs(page: IdeaPage) -> Iterator[tuple[str, str]]:
    review, evaluation = page.review, page.review.evaluation
    calls, requests = evaluation.llm_calls, evaluation.api_calls
    cached_calls = sum(call.cache_hit for call in calls)
    counts = f"{len(calls):,}, {cached_calls:,} of them from the cache"
    yield "Model calls", counts if calls else "none"
    if calls:
        sent_tokens = sum(call.prompt_tokens for call in calls)
        received_tokens = sum(call.completion_tokens for call in calls)
        thinking_counts = [
            each.thinking_tokens for each in calls if each.thinking_tokens is not None
        ]
        unknown_count = sum(
            call.thinking_tokens is None and call.completion_tokens > 0 for call in calls
        )
        thinking = figures.thinking(
            sum(thinking_counts) if thinking_counts else None, unknown_count
        )
        received_text = f"{received_tokens:,} received; of them thinking: {thinking}"
        yield "Tokens", f"{sent_tokens:,} sent, {received_text}"
    yield "Price", figures.usd(review.cost_usd, review.unknown_price_calls)
    request_counts = (
        f"{len(requests):,}, {sum(each.cache_hit for each in requests):,} from a cache,"
        f" {sum(each.failure_reason is not None for each in requests):,} unanswered;"
        f" {sum(each.upstream_requests for each in requests):,} sent on to the source"
    )
    yield "Literature requests", request_counts if requests else "none"
    took = (evaluation.finished_at - evaluation.started_at).total_seconds()
    yield "Time", figures.duration(took)
