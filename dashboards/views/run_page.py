"""Report on a run of ideas."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.score_chart import ONE_GROUP, ranked_groups, score_chart
from dashboards.views.changes import changes_blocks, changes_of
from dashboards.views.nightly_page import NightFigures, night_figures
from dashboards.views.run_cost import cost_blocks, sources_blocks
from dashboards.views.sensitivity import sensitivity_blocks, sensitivity_of
from schemas.base import Severity
from schemas.identifiers import IdeaId, RunId
from schemas.run import Run
from warehouse.queries import Queries
from warehouse.row_models import CRITERION_PARTS, FailureRow, IdeaScore, RankedIdea


def run_view(
    queries: Queries,
    run_id: RunId,
    file_names: Mapping[IdeaId, str],
) -> pg.Page:
    """Return ranking, cost, sources, failures and validations of a run.

    Args:
        file_names: names, without extension, of the ideas' reports in the folder `ideas`; other
            ideas
            get no link.

    Raises:
        ConfigurationError: there is no such published run.
    """
    (night,) = night_figures(queries, [run_id])
    title = f"Run {run_id}"
    blocks = (
        *_head(queries, night),
        *_ranking(queries, night.run, file_names),
        *models_blocks(queries, run_id),
        *cost_blocks(queries, night.cost),
        *sources_blocks(queries, night.cost),
        *(tuple(rejection_blocks(queries.rejections(run_id))) or _NOTHING_REJECTED),
        *_reading_remarks(night.run),
        *failure_blocks(queries, run_id),
        *validation_blocks(queries, run_id),
        *_questions(run_id),
    )
    return pg.Page(pg.line(title), blocks, title)


def _head(queries: Queries, night: NightFigures) -> Iterator[pg.Block]:
    run = night.run
    yield pg.text(pg.strong(night.status))
    yield from pg.bullets(alarm.sentence for alarm in night.alarms)
    ended_early_note = f"; {run.failed_count:,} ended early" if run.failed_count else ""
    yield pg.text(
        f"{figures.plural(run.idea_count, 'idea')}, {run.states_in_words}{ended_early_note}. Took"
        f" {figures.duration(run.duration_seconds)}, until {figures.moment(run.finished_at)}."
    )
    yield pg.facts(
        pg.line("Engine ", pg.code(run.engine)),
        pg.line("profile ", pg.code(run.profile)),
        f"literature: {wording.literature(run.literature, run.literature_name)}",
        f"modules: {run.modules.replace(',', ', ')}",
        f"weights: {wording.weights_in_words(run)}",
        f"label {run.label}" if run.label else "",
        f"Assay {run.assay_version}",
    )
    banner_facts = (run.engine, run.literature, run.literature_name, run.literature_lacks)
    yield from map(pg.note, wording.banners(*banner_facts))
    left_out = queries.left_out_groups(run.run_id)
    if not_covered := wording.ideas_not_covered(left_out, run.idea_count):
        yield pg.note(f"{not_covered}.")
    if (changes := changes_of(queries, run)) is not None:
        yield from changes_blocks(changes, run)


def _ranking(queries: Queries, run: Run, file_names: Mapping[IdeaId, str]) -> Iterator[pg.Block]:
    ranking, idea_scores = queries.ranking(run.run_id), queries.idea_scores(run.run_id)
    scores = {score.idea_id: score for score in idea_scores}
    extra_columns = [name for name, (is_requested, _) in _OPTIONAL_COLUMNS.items()
              if any(map(is_requested, idea_scores))]  # fmt: skip
    groups = ranked_groups(ranking)
    yield pg.heading("Ranking")
    if (chart := score_chart(groups)) is not None:
        yield chart
    if not groups:
        yield pg.text("The run has no idea.")
    score_column = f"Score{wording.baseline_mark(run.engine)}:"
    columns = ("Rank:", "Idea", score_column, "Range", "Coverage:", "Soundness:", "Contribution:")
    more = (*(f"{name}:" for name in extra_columns), "Unscored", "Failures:")
    for group in groups:
        if len(groups) > 1 or group.name != ONE_GROUP:
            yield pg.heading(group.name, level=3)
        rows = [
            _row(run, idea, scores[idea.idea_id], file_names.get(idea.idea_id), extra_columns)
            for idea in group.ideas
        ]
        yield pg.table((*columns, *more), rows)
    yield pg.text(
        "Scores run from 0 to 10",
        _ASSESSED_SCORE if run.assessed else "",
        _SCORES,
        _ASSESSED_RANGE if run.assessed else "",
        " Coverage is the share of the weights that scored the idea; equal scores share a rank.",
    )
    if any(idea.strength is not None for idea in ranking):
        ranking_link = pg.report("The ranking in full", "ranking")
        leads = f"{wording.what_leads_among(ranking)} "
        yield pg.text(leads, ranking_link, " shows intervals, matches and reasons.")
    yield from sensitivity_blocks(sensitivity_of(idea_scores))


_ASSESSED_SCORE = (
    ": ten times the probability that reviewers of the field's usual venue prefer the plan to the"
    " median plan submitted there"
)
_SCORES = (
    ". An idea of which anything that counts is unscored has no score and no rank: the range holds"
    " the score with 0 and with 10 in place of what is missing, and its note the places which that"
    " leaves."
)
_ASSESSED_RANGE = " The range of an idea with a score is its lowest and its highest repetition."


def _row(
    run: Run,
    idea: RankedIdea,
    score: IdeaScore,
    file_name: str | None,
    extra_columns: Sequence[str],
) -> tuple[pg.Part, ...]:
    title, notes = idea.title.strip() or idea.idea_id, _notes(idea, score)
    soundness = figures.mean(score.soundness_0_to_10)
    contribution = figures.mean(score.contribution_0_to_10)
    return (
        idea.rank,
        pg.line(
            pg.report(title, f"ideas/{file_name}") if file_name else title,
            f" – {notes}" if notes else "",
        ),
        figures.mean(score.score),
        _range(run, score),
        None if score.coverage_0_to_1 is None else figures.percent(score.coverage_0_to_1),
        soundness if score.soundness_requested else "not asked for",
        contribution if score.contribution_requested else "not asked for",
        *(
            _OPTIONAL_COLUMNS[name][1](score) if _OPTIONAL_COLUMNS[name][0](score) else None
            for name in extra_columns
        ),
        _unscored_parts(score),
        idea.failure_count,
    )


def models_blocks(queries: Queries, run_id: RunId) -> Iterator[pg.Block]:
    """Yield answering models, dropped parameters, and agreement of judges."""
    answering = queries.answering_models(run_id)
    several = len({row.model_requested for row in answering}) > 1
    dropped_parameters = queries.dropped_parameters(run_id)
    agreement = queries.judge_agreement(run_id)
    if not (several or dropped_parameters or agreement):
        return
    yield pg.heading("Models and judges")
    if several:
        yield pg.table(("Step", "Model", "Answered as", "Answers:"), (
            (wording.with_spaces(row.step), row.model_requested, ", ".join(row.models_answered),
             row.answered_calls)
            for row in answering
        ))  # fmt: skip
    yield from pg.bullets(map(wording.dropped_parameter, dropped_parameters))
    if agreement:
        yield pg.text("Where several judges were asked, the median of their scores counts.")
        rows = [
            (
                *(wording.with_spaces(row.step), row.questions, row.judges),
                *(row.votes, row.unscored_votes),
                *(row.compared_items, figures.percent(row.same_score_share)),
                figures.measure(row.mean_absolute_difference),
                figures.measure(row.krippendorff_alpha),
            )
            for row in agreement
        ]
        columns = ("Step", "Questions:", "Judges:", "Votes:", "Unscored votes:")
        more = ("Scores by two or more:", "All the same:", "Mean difference:")
        yield pg.table((*columns, *more, "Krippendorff's alpha:"), rows)
        yield pg.text(
            "Alpha is 1 where judges agree in everything and 0 where they agree as by chance; it is"
            " undefined where all scores are equal. The mean difference is that of two judges, on the"
            " step's own scale."
        )


def rejection_blocks(rejections: Sequence[FailureRow]) -> Iterator[pg.Block]:
    """Yield rejected entries and how to fix them; nothing without any."""
    if rejections:
        yield pg.heading("Rejected entries")
        columns = ("Idea", "Where", "Why", "How to mend it")
        yield pg.table(columns, (
            ("without an identifier" if row.idea_id is None else pg.code(row.idea_id),
             row.subject, wording.reason(row.reason), row.detail)
            for row in rejections
        ))  # fmt: skip


_NOTHING_REJECTED = (
    pg.heading("Rejected entries"),
    pg.text("None: every entry of the idea file was accepted."),
)


def _reading_remarks(run: Run) -> Iterator[pg.Block]:
    if run.reading_remarks:
        yield pg.text("Not read or not judged of the idea file:")
        yield from pg.bullets(run.reading_remarks)


def failure_blocks(queries: Queries, run_id: RunId) -> Iterator[pg.Block]:
    """Yield the failures of a run, and papers left out."""
    yield pg.heading("Failures")
    failures = [
        (
            *(wording.stage(group.stage), wording.reason(group.reason)),
            *(group.failure_count, group.idea_count, group.retryable_count, group.example),
        )
        for group in queries.failure_groups(run_id)
    ]
    if failures:
        columns = ("While", "Why", "Times:", "Ideas:", "May work when run again:", "One of them")
        yield pg.table(columns, failures)
    yield pg.text("No failure counts as a zero." if failures else "None.")
    if left_out := queries.left_out_groups(run_id):
        yield pg.heading("Papers left out")
        yield pg.text("Found, and counted for nothing. Nothing failed there.")
        yield from pg.bullets(
            f"{wording.reason(group.reason)}: in {figures.plural(group.idea_count, 'idea')}; of"
            f" one: {group.example}"
            for group in left_out
        )


def validation_blocks(queries: Queries, run_id: RunId) -> Iterator[pg.Block]:
    """Yield the expectations that rows of a run broke."""
    validations = queries.validations(run_id)
    yield pg.heading("Validation")
    if not validations:
        yield pg.text("No expectation was recorded.")
        return
    broken_rows, count = [row for row in validations if not row.success], len(validations)
    expectations = figures.plural(count, "expectation")
    if broken_rows:
        critical = sum(row.severity is Severity.CRITICAL for row in broken_rows)
        held_text = f"{count - len(broken_rows)} of {expectations} held"
        yield pg.text(f"{held_text}; {critical} of the broken ones critical.")
        rows = [
            (
                *(row.expectation, row.table_name, row.column_name, row.severity.value),
                *(row.unexpected_count, row.evaluated_count, row.detail),
            )
            for row in broken_rows
        ]
        columns = ("Expectation", "Table", "Column", "Severity", "Rows that broke it:")
        yield pg.table((*columns, "Rows checked:", "Detail"), rows)
    else:
        yield pg.text(f"All {expectations} held.")
    if evaluated_count := sum(row.great_expectations is not None for row in validations):
        command = pg.code("assay report RUN --data-docs")
        yield pg.text(
            f"Great Expectations evaluated {evaluated_count:,} of them; ",
            command,
            " shows its results.",
        )
    else:
        yield pg.text(
            "Arrow and SQL evaluated them. Great Expectations will with the next larger run, or"
            " with ",
            *(pg.code("assay warehouse validate"), "."),
        )


def _questions(run_id: RunId) -> Iterator[pg.Block]:
    yield pg.heading("Ask further")
    yield pg.text(
        *("Every table behind this page answers SQL; ", pg.code("assay warehouse docs")),
        *(" describes the columns. Add ", pg.code("--warehouse DIR")),
        " unless you are next to the default one.",
    )
    for question, query in _QUERIES.items():
        yield pg.text(question)
        yield pg.Code(f'assay sql "{query.format(run_id=pg.plain_text(pg.line(run_id)))}"', "sh")


_QUERIES = {
    "Which papers are most often more novel than our ideas?": (
        "select p.title, p.year, count(*) as times from comparisons c join papers p using (run_id,"
        " idea_id, paper_id) where c.run_id = '{run_id}' and c.score = -1 group by all order by"
        " times desc limit 10"
    ),
    "Which methods does the literature support least?": (
        "select r.idea_id, r.score_0_to_10, m.text from soundness_reviews r join methods m using"
        " (run_id, idea_id, method_id) where r.run_id = '{run_id}' and r.score_0_to_10 is not null"
        " order by r.score_0_to_10 limit 10"
    ),
    "What went wrong, idea by idea?": (
        "select idea_id, stage, reason, count(*) as times from failures where run_id = '{run_id}'"
        " group by all order by times desc"
    ),
}


def _criterion(name: str) -> tuple[Callable[[IdeaScore], bool], Callable[[IdeaScore], str]]:
    return (
        lambda score: score.assessment_requested,
        lambda score: figures.mean(score.parts.get(name)),
    )


# Columns of optional modules: whether an idea has the value, and its text.
_OPTIONAL_COLUMNS: dict[str, tuple[Callable[[IdeaScore], bool], Callable[[IdeaScore], str]]] = {
    "Committee": (
        lambda score: score.committee_requested,
        lambda score: figures.mean(score.committee_0_to_10),
    ),
    "Novelty": (
        lambda score: score.novelty_requested,
        lambda score: figures.mean(score.novelty_0_to_10),
    ),
    **{name.replace("_", " ").capitalize(): _criterion(name) for name in CRITERION_PARTS},
}


def _range(run: Run, score: IdeaScore) -> str:
    """Return the score with 0 and with 10 in place of missing parts.

    Without missing parts, the range of repetitions if the score is the median of `overall`.
    """
    if score.missing:
        return figures.between(score.score_lower, score.score_upper)
    lowest, highest = score.overall_lowest_0_to_1, score.overall_highest_0_to_1
    has_weights = any(run.score_weights.acting(assessed=True).values())
    if lowest is None or highest is None or has_weights:
        return figures.NOTHING
    return figures.between(10 * lowest, 10 * highest)


def _unscored_parts(score: IdeaScore) -> str:
    """Return the number of judgements missing from the means, by module."""
    comparisons = score.scored_comparison_count + score.unscored_comparison_count
    parts = [
        f"{missing:,} of {figures.plural(total, part_name)}"
        for missing, total, part_name in (
            (score.unscored_method_count, score.method_count, "method"),
            (score.unscored_comparison_count, comparisons, "comparison"),
            (score.unscored_persona_review_count, score.persona_review_count, "persona review"),
        )
        if missing
    ]
    if score.novelty_requested and score.novelty_0_to_10 is None:
        parts.append("the novelty judgement")
    if score.assessment_requested:
        values = {"overall": score.overall_0_to_1, **score.parts}
        parts += [wording.with_spaces(name) for name, value in values.items() if value is None]
    if not parts and not score.coverage_0_to_1:
        return "everything"
    return ", ".join(parts) or (score.missing or "nothing").replace("_", " ")


def _notes(idea: RankedIdea, score: IdeaScore) -> str:
    notes = []
    if reason := wording.why_unranked(idea):
        notes.append(reason)
    if score.incomplete_reason is not None:
        notes.append(f"ended early: {wording.reason(score.incomplete_reason)}")
    if score.score is None and score.state_reason not in (None, score.incomplete_reason):
        notes.append(wording.unscored_because(str(score.state_reason)))
    if score.unscored_dimension_count:
        notes.append(
            f"{figures.plural(score.unscored_dimension_count, 'dimension')} without a review"
        )
    if score.duplicate_of is not None:
        notes.append(f"nearly the same as {score.duplicate_of}")
    return "; ".join(notes)
