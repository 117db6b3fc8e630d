"""Blocks on the first page, the plan's review, and experiments."""

from collections.abc import Iterator, Sequence
from shlex import quote

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.prose import prose, prose_line
from dashboards.views.idea.first_page import DecidingConcern, FirstPage
from dashboards.views.idea.plan_part import REASONING, ConcernLine, PlanPart
from schemas.works.experimental_result import ExperimentalResult, Surprise

_MEASURED_NOTE = (
    "Measured within tasks that stand in for the idea: what programs did on their data. It says"
    " nothing of the literature and is part of no score; the review of the plan is shown it."
)
_SURPRISES = {
    Surprise.NOT_SUPPORTED: "who tried it expected it to help",
    Surprise.AGAINST_A_CONCERN: "it helped although a concern spoke against it",
}
_ALL_PARTS = ("point", "why", "action", "would_change")


def first_blocks(first: FirstPage) -> Iterator[pg.Block]:
    """Yield the verdict, its reasons, the closest work, concerns and next steps."""
    answer, *because = first.sentences
    yield pg.note(pg.strong(answer), f" {' '.join(because)}")
    yield from pg.bullets(first.counted)
    if first.reasons:
        yield pg.text(pg.strong("What decides"))
        yield from pg.bullets(map(prose_line, first.reasons))
    yield pg.text(pg.strong("Closest prior work"))
    if first.closest is not None:
        work = first.closest
        remaining_text = _with_label(" What remains new compared with it: ", work.remains)
        overlaps = f" {work.title}: {work.overlaps}."
        yield pg.text(prose_line(work.paper), overlaps, remaining_text)
    else:
        yield pg.text(first.none_closest)
    for derivation in first.derivations:
        yield pg.text("Compared with works that the plan names: ", prose_line(derivation))
    yield pg.text(pg.strong("Concerns worth most"))
    if first.concerns:
        yield pg.Listing(tuple(map(_concern_item, first.concerns)), first=1)
    else:
        yield pg.text(first.no_concerns)
    if first.further_concern_count:
        further = figures.plural(first.further_concern_count, "further concern")
        yield pg.text(f"{further}: see the full report.")
    if first.criteria:
        yield pg.text(pg.strong("By criterion"), f" (probability, as above): {first.criteria}")
    yield pg.text(pg.strong("What was not judged"))
    nothing = pg.text("Nothing: every look-up was answered and every judgement made.")
    yield from pg.bullets(first.not_judged) or (nothing,)


def _concern_item(concern: DecidingConcern) -> tuple[pg.Block, ...]:
    reason_line = pg.line(" ", prose_line(concern.why)) if concern.why else ()
    statement = pg.text(
        pg.strong(f"{concern.heading}."), " ", prose_line(concern.point), reason_line
    )
    more = []
    if concern.action:
        more.append(_action(concern.effort, concern.action))
    if concern.would_settle:
        settle = pg.strong("What would settle it:")
        more.append(pg.line(settle, " ", prose_line(concern.would_settle)))
    if concern.lowered_from:
        defense = _with_label(", in the plan's defense: ", concern.defense)
        more.append(pg.line(pg.strong(f"Lowered from {concern.lowered_from}"), defense))
    return statement, *pg.bullets(more)


def _action(effort: str, action: str) -> pg.Line:
    effort_text = f" ({effort}): " if effort else ": "
    return pg.line(pg.strong("What to do"), effort_text, prose_line(action))


def _with_label(label: str, words: str) -> pg.Line:
    return pg.line(label, prose_line(words)) if words else ()


def plan_blocks(plan: PlanPart, first: Sequence[DecidingConcern]) -> Iterator[pg.Block]:
    """Yield the review of the plan, without what the first page shows in full."""
    yield from (pg.heading("The plan itself"), pg.text(pg.emphasis(REASONING)))
    if plan.verdict:
        yield pg.text(f"{plan.verdict}.")
    for place, concern in enumerate(plan.concerns):
        if place == 0 and first:
            yield pg.text("What the concerns of the first page rest on:")
        elif place == len(first):
            yield pg.text("Further concerns:" if first else "Concerns:")
        left_out = first[place].shortened if place < len(first) else _ALL_PARTS
        yield pg.heading(f"{place + 1}. {concern.heading}", level=3)
        yield from _concern(concern, left_out)
    if plan.refuted:
        yield pg.text(pg.strong("Raised and refuted"))
        yield from pg.bullets(
            pg.line(
                prose_line(each.concern.point),
                _with_label(" In the plan's defense: ", each.concern.defense),
            )
            for each in plan.refuted
        )
    if plan.questions:
        yield pg.text(pg.strong("Questions about single things in the plan"))
        yield from pg.bullets(
            pg.line("“", prose_line(each.quote), "”: ", prose_line(each.point))
            for each in plan.questions
        )
    if plan.strengths:
        yield pg.text(pg.strong("Strong in the plan"))
        yield from pg.bullets(
            pg.line(
                *(prose_line(each.concern.point), " “", prose_line(each.concern.quote), "” "),
                prose_line(each.concern.why),
                _with_label(" Evidence against it: ", each.concern.weakened),
            )
            for each in plan.strengths
        )
    for name, elements in (("It needs and does not say", plan.unstated), ("It says", plan.stated)):
        if elements:
            yield pg.text(pg.strong(name))
            yield from pg.bullets(
                pg.line(f"{each.kind.replace('_', ' ')}: ", prose_line(each.text))
                for each in elements
            )
    if plan.note:
        yield pg.text(pg.emphasis(plan.note))


def _concern(concern_line: ConcernLine, left_out: Sequence[str]) -> Iterator[pg.Block]:
    """Yield one concern; `left_out` lists fields the first page does not show in full."""
    concern = concern_line.concern
    if "point" in left_out:
        yield pg.text(prose_line(concern.point))
    if concern.quote:
        yield pg.note(prose_line(concern.quote))
    else:
        yield pg.text("Looked for and not found: ", prose_line(concern.omission))
    lowered_note = (
        f", by which it was lowered from {concern.severity}" if concern_line.lowered else ""
    )
    settle = concern.would_change if "would_change" in left_out else ""
    labeled_texts = (
        (pg.strong("Why it matters:"), " ", concern.why if "why" in left_out else ""),
        (pg.strong("What would settle it:"), " ", settle),
        (pg.strong("In the plan's defense"), f"{lowered_note}: ", concern.defense),
        (pg.strong("Evidence for it:"), " ", concern.supported),
        (pg.strong("Evidence against it:"), " ", concern.weakened),
        (pg.strong("Raised by:"), " ", ", ".join(concern.found_by)),
        *((pg.strong("Raised in other words:"), " ", each.point) for each in concern_line.folded),
    )
    lines = [
        pg.line(label, after, prose_line(words)) for label, after, words in labeled_texts if words
    ]
    if concern.action and "action" in left_out:
        lines.insert(1 if labeled_texts[0][2] else 0, _action(concern_line.effort, concern.action))
    for strength in concern_line.strengths:
        lines.append(
            pg.line(
                *(pg.strong("Strong in the same passage:"), " ", prose_line(strength.point)),
                *(" “", prose_line(strength.quote), "” ", prose_line(strength.why)),
            )
        )
    yield from pg.bullets(lines)


def experiment_blocks(results: Sequence[ExperimentalResult], warehouse: str) -> Iterator[pg.Block]:
    """Yield measured results of trying an idea, apart from the literature."""
    yield from (pg.heading("What came of trying it"), pg.text(pg.emphasis(_MEASURED_NOTE)))
    for result in results:
        verdict = wording.finding(result.finding)
        yield pg.heading(f"{result.task_id}: {verdict.lower()}", level=3)
        yield from prose(result.question)
        threshold = figures.measure(result.least_difference)
        yield pg.text(
            *(pg.strong(f"{verdict}:"), f" {result.because}. ", pg.code(result.metric)),
            f", {result.direction.better}; a difference worth having is {threshold} or more.",
        )
        if result.gain is not None:
            yield _gains(result)
        lake = f"--warehouse {quote(warehouse)}"
        if result.surprise is not None:
            concern = pg.line(" (“", prose_line(result.concern), "”)") if result.concern else ()
            command = f"assay survey {quote(result.proposed_query)} {lake}"
            search = (" A search for why: ", pg.code(command)) if result.proposed_query else ()
            surprise = f" {_SURPRISES[result.surprise]}"
            yield pg.text(pg.strong("Surprising:"), surprise, concern, ".", *search)
        report = f"assay report {quote(result.experiment_run_id)} {lake}"
        yield pg.text("All of it: ", pg.code(report))


def _gains(result: ExperimentalResult) -> pg.Table:
    measure = figures.measure
    candidates = figures.plural(result.tried_count, "candidate")
    runs = figures.plural(result.run_count, "run")
    range_text = f"{measure(result.gain_low)} to {measure(result.gain_high)}"
    rows: list[tuple[pg.Part, ...]] = [
        ("The program to be improved", measure(result.parent_mean), "", ""),
        (
            f"The best of {candidates}, {runs}",
            measure(result.best_mean),
            measure(result.gain),
            range_text,
        ),
    ]
    if result.baseline_gain is not None:
        baseline_line = pg.line(
            "The same, over the strongest baseline, ", pg.code(result.baseline_id or "")
        )
        range_text = f"{measure(result.baseline_low)} to {measure(result.baseline_high)}"
        rows.append((baseline_line, "", measure(result.baseline_gain), range_text))
    columns = ("On data that chose nothing", "Mean:", "Gain:", "95 % interval:")
    return pg.table(columns, rows)
