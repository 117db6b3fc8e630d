"""Blocks on the soundness and the contribution of an idea."""

from collections import defaultdict
from collections.abc import Iterator

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.row_charts import MORE_OR_LESS_NOVEL, Bar, bar_chart
from dashboards.render.prose import prose, prose_line
from dashboards.views.idea.closest_work import own_works
from dashboards.views.idea.idea_page import IdeaPage
from dashboards.views.idea.judges_part import judged_steps, score_of_judges
from dashboards.views.idea.review_blocks import citation_note, prose_by_name
from schemas.identifiers import PaperId
from schemas.judgement.contribution import (
    Comparison,
    ContributionEvaluation,
    ContributionReview,
    Dimension,
)
from schemas.judgement.soundness import Method, SoundnessEvaluation, SoundnessReview

_MARKS = {1: "+", 0: "0", -1: figures.MINUS, None: "?"}
_CLOSENESS = {1: " (distant)", 2: " (related)", 3: " (close)"}
_BARS_CAPTION = (
    "Each bar is the mean over the papers an idea was compared with along that dimension; "
    "unscored comparisons count nowhere."
)
_NO_REVIEW = "unscored: no review was made"


def soundness_blocks(page: IdeaPage, soundness: SoundnessEvaluation) -> Iterator[pg.Block]:
    """Yield each method with its verdict and its relevant papers."""
    score = page.review.score
    yield pg.heading("Soundness")
    if not page.methods:
        yield pg.text("No method could be taken from the idea; the last section says why.")
        return
    mean = figures.mean(score.soundness_0_to_10)
    of = " of 10" if score.soundness_0_to_10 is not None else ""
    methods = figures.plural(score.scored_method_count, "scored method")
    yield pg.text(
        "The idea's methods, most important first, each held against the literature:"
        f" {mean}{of} over {methods}, {score.unscored_method_count} unscored."
    )
    for method, review in page.methods:
        yield from _method(page, soundness, method, review)


def _method(
    page: IdeaPage, soundness: SoundnessEvaluation, method: Method, review: SoundnessReview | None
) -> Iterator[pg.Block]:
    verdict, judges = _NO_REVIEW, ""
    if review is not None:
        judges = score_of_judges(page.evaluation.judge_votes, review.provenance)
        verdict = (
            wording.unscored_because(review.unscored_reason)
            if review.unscored_reason
            else "unscored"
        )
        if review.score_0_to_10 is not None:
            mark = wording.baseline_mark(review.provenance.engine)
            verdict = f"{figures.score(review.score_0_to_10)} of 10{mark}"
    yield pg.heading(f"Method {method.rank} · {verdict}", level=3)
    yield from prose(method.text)
    if judges:
        yield pg.text(f"Score: {judges}.")
    if review is not None and review.unscored_reason is None:
        texts = (review.support, review.contradictions, review.suggestions)
        names = ("Support", "Contradictions", "Suggestions")
        yield from prose_by_name(dict(zip(names, texts, strict=True)))
        if review.open_questions:
            yield pg.text(pg.strong("Open questions"), " (reviewer's reasoning)")
            yield from prose(review.open_questions)
        yield from citation_note(
            review.removed_citation_count,
            review.uncited_sentence_count,
            undecided=review.undecided_sentence_count,
        )
    elif review is not None and review.unscored_detail:
        yield pg.text(f"Why there is no score: {review.unscored_detail}")
    evidence = [each for each in soundness.evidence if each.method_id == method.method_id]
    rows = [
        (
            pg.line(page.paper_link(each.paper_id), _CLOSENESS.get(each.relevance_0_to_3 or 0, "")),
            *map(prose_line, (each.method, each.results, each.context)),
        )
        for each in evidence
        if each.relevant
    ]
    if rows:
        yield pg.table(("Paper", "What it did", "Result", "Condition"), rows)
    irrelevant = sum(each.relevant is False for each in evidence)
    unscored_count = sum(each.relevant is None for each in evidence)
    yield pg.text(
        f"{figures.plural(len(rows), 'relevant paper')}, {irrelevant} read and found irrelevant,"
        f" {unscored_count} unscored."
    )


def contribution_blocks(page: IdeaPage, contribution: ContributionEvaluation) -> Iterator[pg.Block]:
    """Yield the closest works, the dimensions, and every compared paper."""
    yield pg.heading("Contribution")
    if not page.dimensions:
        yield pg.text("No dimension could be taken from the idea; the last section says why.")
    elif candidates := contribution.candidates:
        judged_count = sum(each.relevance_0_to_5 is not None for each in candidates)
        unscored_count = sum(each.unscored_reason is not None for each in candidates)
        compared_count = sum(each.compared for each in candidates)
        yield pg.text(
            f"{figures.plural(len(candidates), 'paper')} considered, {judged_count:,} judged for"
            f" relevance ({unscored_count:,} unscored), {compared_count:,} compared."
        )
    means = [
        (dimension.name, review.mean_comparison_score if review is not None else None)
        for dimension, review in page.dimensions
    ]
    bars = [Bar(name, mean, figures.with_sign(mean)) for name, mean in means]
    scale = MORE_OR_LESS_NOVEL
    chart = bar_chart("bars-2", "Novelty by dimension", _BARS_CAPTION, scale, bars)
    if chart is not None:
        yield chart
    if contribution.comparisons:
        yield pg.heading("Closest prior work", level=3)
        yield from _closest(page)
    for dimension, review in page.dimensions:
        yield from _dimension(dimension, review)
    if contribution.comparisons:
        yield from _paper_by_paper(page, contribution)


def _closest(page: IdeaPage) -> Iterator[pg.Block]:
    items: list[tuple[pg.Block, ...]] = []
    for work in page.closest:
        overall = (" ", prose_line(work.overall)) if work.overall else ()
        work_line = (work.paper, f" {work.title}", work.versions)
        item: list[pg.Block] = [pg.text(*work_line, f": {work.overlaps}.", *overall)]
        if work.quote:
            item.append(pg.note(work.quote))
        if work.remains:
            item.append(pg.text("What remains new compared with it: ", prose_line(work.remains)))
        items.append(tuple(item))
    yield pg.Listing(tuple(items), first=1) if items else pg.text(page.first.none_closest)
    modules = page.evaluation.modules.values()
    failures = (failure for module in modules for failure in module.failures)
    for own_work in own_works(failures, page.papers):
        yield pg.text("Possibly this work, and not counted: ", own_work)


def _dimension(dimension: Dimension, review: ContributionReview | None) -> Iterator[pg.Block]:
    mean = _mean(review) if review is not None else "unscored"
    yield pg.heading(f"{dimension.name} · {mean}", level=3)
    yield from pg.bullets(map(prose_line, dimension.statements))
    if review is None:
        yield pg.text(f"Review {_NO_REVIEW}.")
    elif review.unscored_reason is not None:
        detail = f" ({review.unscored_detail})" if review.unscored_detail else ""
        yield pg.text(f"Review {wording.unscored_because(review.unscored_reason)}{detail}.")
    else:
        texts = (review.strengths, review.weaknesses, review.suggestions)
        names = ("Strengths", "Weaknesses", "Suggestions")
        yield from prose_by_name(dict(zip(names, texts, strict=True)))
        yield from citation_note(
            review.removed_citation_count,
            review.uncited_sentence_count,
            undecided=review.undecided_sentence_count,
        )


def _mean(review: ContributionReview) -> str:
    """Return novelty and mean comparison score of a dimension, with counts."""
    mean = (
        f"{figures.with_sign(review.mean_comparison_score)} over"
        f" {figures.plural(review.scored_comparison_count, 'scored comparison')},"
        f" {review.unscored_comparison_count:,} unscored"
    )
    if review.novelty_0_to_10 is None:
        return f"novelty unscored: too few works tell their overlap; {mean}"
    score = f"{figures.score(review.novelty_0_to_10)} of 10"
    mark = wording.baseline_mark(review.provenance.engine)
    lower, upper = review.novelty_lower_0_to_10, review.novelty_upper_0_to_10
    has_interval = lower is not None and upper is not None
    range_text = f" ({figures.score(lower)} to {figures.score(upper)})" if has_interval else ""
    return f"novelty {score}{mark}{range_text}; {mean}"


def _paper_by_paper(page: IdeaPage, contribution: ContributionEvaluation) -> Iterator[pg.Block]:
    """Yield scores by paper in comparison order; missing pairs count as unscored."""
    by_paper: dict[PaperId, dict[str, Comparison]] = defaultdict(dict)
    for comparison in contribution.comparisons:
        by_paper[comparison.paper_id][comparison.dimension_id] = comparison
    rows: list[tuple[pg.Part, ...]] = []
    overall: list[pg.Line] = []
    for paper_id, comparisons in by_paper.items():
        paper_link, paper = page.paper_link(paper_id), page.papers.get(paper_id)
        scores = [
            comparisons[each.dimension_id].score if each.dimension_id in comparisons else None
            for each in contribution.dimensions
        ]
        title = pg.line(paper_link, f" {paper.title if paper is not None else ''}")
        rows.append((title, *(_MARKS[score] for score in scores)))
        overviews = (
            each.overall_comparison for each in comparisons.values() if each.overall_comparison
        )
        overall += [pg.line(paper_link, ": ", prose_line(words)) for words in list(overviews)[:1]]
    yield pg.heading("Paper by paper", level=3)
    yield pg.text(
        "+ the idea is more novel · 0 neither, or not addressed · − the paper is · ? unscored"
    )
    columns = (pg.Column(pg.line(each.name), pg.Align.MARK) for each in contribution.dimensions)
    yield pg.table(("Paper", *columns), rows)
    compared_steps = {comparison.provenance.step for comparison in contribution.comparisons}
    steps = (
        each for each in judged_steps(page.evaluation.judge_votes) if each.step in compared_steps
    )
    for judged_step in list(steps)[:1]:  # a summary: single comparisons would fill pages
        count = figures.plural(len(judged_step.judges), "judge")
        yield pg.text(f"Each mark: median of {count}: {judged_step.agreement}.")
    yield from pg.bullets(overall)
