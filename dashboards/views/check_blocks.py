"""Blocks of the report on a check of manuscripts."""

from collections.abc import Iterator, Sequence

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.prose import prose_line
from dashboards.views.check_findings import CheckFindings, outcome
from schemas.judging import Wording
from schemas.works.manuscripts import Attempt, ManuscriptCheck, ManuscriptReview, Problem, Vote

_MOST_NAMED = 10


def check_blocks(page: CheckFindings) -> Iterator[pg.Block]:
    """Yield the verdict, the scope, and the problems by manuscript."""
    head, count_noun = page.head, figures.plural
    yield pg.text(pg.strong(page.verdict))
    count = sum(check.unread_reason is not None for check in page.checks)
    unread = f", {count:,} of them could not be read" if count else ""
    judges = [part for judge in head.judges for part in (", ", pg.code(judge))][1:]
    answers = f", {count_noun(head.repetition_count, 'answer')} each"
    engine = (
        f"{count_noun(head.manuscript_count, 'manuscript')}{unread}. Engine ",
        pg.code(head.engine),
    )
    yield pg.facts(
        pg.line(*engine),
        f"form {head.form}",
        f"up to {count_noun(head.maximum_problems, 'problem')} an attempt",
        f"{count_noun(head.attempt_count, 'attempt')} each",
        pg.line("judges ", *judges, answers) if judges else "",
        f"imported from {head.dataset}" if head.dataset else "",
        "asked as published" if head.wording is Wording.PUBLISHED and not head.dataset else "",
    )
    yield from map(pg.note, wording.banners(head.engine, ""))
    if head.incomplete_reason is not None:
        yield pg.note(
            f"The check ended early ({wording.reason(head.incomplete_reason)}). What is missing is"
            " unscored, not free of problems; the same command resumes it."
        )
    yield pg.heading("What was tested")
    revision_note = " by what people said of its findings; nothing was looked up for it."
    revises = (" This revises ", pg.code(head.revises), revision_note) if head.revises else ()
    yield pg.text(page.scope_in_words, *revises)
    outcomes = [
        (_title(check), check.form.value, check.word_count or None, outcome(check))
        for check in page.checks
    ]
    yield pg.table(("Manuscript", "Read as", "Words:", "Outcome"), outcomes)
    for check in page.checks:
        yield from _manuscript_heading(check)
        if check.unread_reason is not None:
            reason = check.attempts[0].unscored_detail or check.unread_reason
            yield pg.text(f"It could not be read: {reason}.")
        for attempt in () if check.unread_reason is not None else check.attempts:
            yield from _attempt(page, check, attempt)
        yield from _lookups(page, check)
        if check.known_reason:
            yield pg.text(f"The authors' own reason: {check.known_reason}")


def _title(check: ManuscriptCheck) -> str:
    return check.title.strip() or check.manuscript_id


def _manuscript_heading(check: ManuscriptCheck) -> Iterator[pg.Block]:
    yield pg.heading(_title(check))
    if check.title.strip():
        yield pg.text(pg.code(check.manuscript_id))


def _attempt(page: CheckFindings, check: ManuscriptCheck, attempt: Attempt) -> Iterator[pg.Block]:
    review = page.review_of(check, attempt)
    if len(check.attempts) > 1:
        yield pg.heading(f"Attempt {attempt.attempt}", level=3)
    if attempt.problem_count is None:
        reason = wording.reason(attempt.unscored_reason or "")
        yield pg.text(f"Not checked: {reason}. {attempt.unscored_detail}")
    else:
        if review is not None:
            yield from _review(review)
        yield from _agreement(page, check, attempt)
        if attempt.problem_count == 0:
            yield pg.text(no_problem_sentence(check))
        elif check.missing_files:
            yield pg.note(f"{missing_files(check)}. What they say was not checked.")
        if check.missing_preamble_files:
            yield pg.note(f"{missing_macros(check)}.")
        for number, problem in enumerate(page.problems(check, attempt), start=1):
            content = _problem(problem, page.decision_in_words(problem), page.votes(check, problem))
            item = pg.Listing((tuple(content),), first=number)
            yield pg.TwoColumns((_passage(problem),), (item,))
    if review is not None and review.questions:
        yield pg.text("Questions to the authors:")
        yield from pg.bullets(review.questions)
    yield from _others(page, check, attempt)
    if attempt.provenance is not None and attempt.provenance.shortening:
        yield pg.note(f"How it was read: {attempt.provenance.shortening}.")
    if attempt.input_tokens is not None:
        thinking = attempt.thinking_tokens
        of_thinking = f", {thinking:,} of thinking" if thinking is not None else ""
        tokens = (
            f"{attempt.input_tokens:,} in, {figures.count(attempt.output_tokens)} out{of_thinking}"
        )
        yield pg.facts(f"Tokens: {tokens}", f"cost {figures.usd(attempt.cost_usd)}")


def _review(review: ManuscriptReview) -> Iterator[pg.Block]:
    """Yield a review's summary, scores and strengths, up to its weaknesses."""
    yield pg.text(review.summary)
    if review.soundness_1_to_5 is not None:
        clarity, confidence = review.clarity_1_to_5, review.confidence_1_to_5
        yield pg.text(
            f"Soundness {review.soundness_1_to_5} of 5",
            "" if clarity is None else f", clarity {clarity} of 5",
            "" if confidence is None else f"; confidence {confidence} of 5",
            ". Whether the work is new was not judged." if not review.novelty else ".",
        )
    if review.novelty:
        score = review.novelty_1_to_5
        of_five = f" ({score} of 5)" if score is not None else ""
        yield pg.text(f"Novelty{of_five}: ", prose_line(review.novelty))
    if review.strengths:
        yield pg.text("Strengths:")
        yield from pg.bullets(review.strengths)
    yield pg.text("Weaknesses:")


def _passage(problem: Problem) -> pg.Block:
    """Return the passage of the manuscript with the quote emphasized."""
    if not problem.passage:
        none = "The manuscript has no such sentence." if problem.quote else "No sentence is quoted."
        return pg.text(none)
    before, quote, after = problem.passage_parts
    return pg.note(before, *((" ", pg.strong(quote), f" {after}") if quote else ()))


def _problem(problem: Problem, decision: str, votes: Sequence[Vote]) -> Iterator[pg.Block]:
    yield pg.text(pg.strong(problem.problem))
    yield pg.text(_where(problem))
    if problem.quote and problem.quote not in problem.explanation:
        inexact = " (not word for word)" if problem.quote_found is False else ""
        yield pg.text(f"The text says: “{problem.quote}”{inexact}")
    yield pg.text(prose_line(problem.explanation))
    if problem.second_look:
        confidence_0_to_1 = problem.confidence_0_to_1
        confidence = (
            f" ({figures.percent(confidence_0_to_1)} sure)" if confidence_0_to_1 is not None else ""
        )
        yield pg.text(f"Second look{confidence}: ", prose_line(problem.second_look))
    if decision:
        yield pg.text(decision)
    yield from _votes(votes)


def _where(problem: Problem) -> str:
    note = " (the manuscript has no such place)" if problem.location_found is False else ""
    found_by = f". Raised by {', '.join(problem.found_by)}" if problem.found_by else ""
    return f"Where: {problem.location or 'not said'}{note}{found_by}"


def _agreement(page: CheckFindings, check: ManuscriptCheck, attempt: Attempt) -> Iterator[pg.Block]:
    """Yield how many problems the models share, and which model did not answer."""
    if text := page.agreement_in_words(check, attempt):
        yield pg.text(text)


def _votes(votes: Sequence[Vote]) -> Iterator[pg.Block]:
    if votes:
        words = {True: "yes", False: "no", None: "no answer"}
        answers = [
            part for vote in votes for part in (", ", pg.code(vote.judge), f" {words[vote.hit]}")
        ]
        yield pg.text("Judges: ", *answers[1:])


def _others(page: CheckFindings, check: ManuscriptCheck, attempt: Attempt) -> Iterator[pg.Block]:
    """Yield further, undecided, rejected and disputed problems."""
    if further := page.further_problems(check, attempt):
        yield pg.text("Further problems:")
        yield from pg.bullets(
            _place_and_words(each, prose_line(each.explanation)) for each in further
        )
    if questions := page.open_questions(check, attempt):
        yield pg.text("Open questions, which a second look could not decide:")
        yield from pg.bullets(
            _place_and_words(each, prose_line(each.second_look)) for each in questions
        )
    if rejected_problems := page.rejected_problems(check, attempt):
        yield pg.text("Set aside after a second look:")
        label = "Why it was rejected: "
        yield from pg.bullets(
            _place_and_words(
                each,
                pg.line(page.decision_in_words(each))
                if each.is_decided
                else pg.line(label, prose_line(each.second_look)),
            )
            for each in rejected_problems
        )
    if disputed_problems := page.disputed_problems(check, attempt):
        yield pg.text("Reviewers disagree; a person decides:")
        for each in disputed_problems:
            yield from _dispute(each)


def _place_and_words(problem: Problem, words: pg.Line) -> pg.Line:
    return pg.line(f"{problem.problem} ({problem.location or 'place not said'}) ", words)


def _dispute(problem: Problem) -> Iterator[pg.Block]:
    current_state = "stands" if problem.stands else "is set aside"
    place = problem.location or "place not said"
    yield pg.text(
        *(pg.code(problem.problem_id), " ", pg.strong(problem.problem)),
        f" ({place}) {problem.dispute} Now it {current_state}.",
    )
    if problem.optimistic:
        yield pg.text("For the authors: ", prose_line(problem.optimistic))
        yield pg.text("Against them: ", prose_line(problem.sceptical))
        if problem.would_decide:
            yield pg.text("What would decide: ", prose_line(problem.would_decide))


def _lookups(page: CheckFindings, check: ManuscriptCheck) -> Iterator[pg.Block]:
    if not check.works:
        if check.reference_count is not None:
            yield pg.text(page.evidence_in_words(check))
        return
    rows = []
    for work in check.works:
        mark = f" ({work.mark})" if work.mark else ""
        relevance = work.relevance_0_to_5
        rows.append(
            (
                pg.line(pg.link(work.title, work.url), mark),
                work.date_in_words("–"),
                None if relevance is None else f"{relevance} of 5",
                page.reasons_found(work),
            )
        )
    summary = pg.text(f"{page.evidence_in_words(check)} {page.resources_in_words(check)}")
    works_table = pg.table(("Work", "Date", "Relevance:", "Found"), rows)
    title = f"What was looked up: {figures.plural(len(check.works), 'work')}"
    yield pg.Fold(title, (summary, works_table))


def short_blocks(page: CheckFindings) -> Iterator[pg.Block]:
    """Yield confirmed problems by manuscript, without passages and second looks."""
    head = page.head
    for check in page.checks:
        yield from _manuscript_heading(check)
        for attempt in check.attempts:
            yield from _short_attempt(page, check, attempt)
    if page.scores:
        rows = [
            (
                score.metric,
                score.judges + (f", problems of {score.found_by}" if score.found_by else ""),
                score.undefined_reason if score.value is None else figures.measure(score.value),
                figures.between(score.lower, score.upper, figures.measure),
                *(score.count, score.unscored_count),
            )
            for score in page.scores
        ]
        columns = ("Metric", "Judges", "Value:", "95 % interval:", "Papers:", "Undecided:")
        yield pg.table(columns, rows)
    tokens = page.tokens_per_attempt
    took = f" Finding problems took {round(tokens or 0):,} tokens an attempt."
    edit = " To accept or reject findings, edit preferences.toml next to the report."
    yield pg.text(
        pg.strong(page.verdict), took if tokens is not None else "", edit if head.review else ""
    )


def _short_attempt(
    page: CheckFindings, check: ManuscriptCheck, attempt: Attempt
) -> Iterator[pg.Block]:
    if len(check.attempts) > 1:
        yield pg.heading(f"Attempt {attempt.attempt}", level=3)
    if attempt.problem_count is None:
        why = wording.reason(check.unread_reason or attempt.unscored_reason or "")
        yield pg.text(f"Not checked ({why}): {attempt.unscored_detail}")
        return
    yield from _agreement(page, check, attempt)
    if attempt.problem_count == 0:
        yield pg.text(no_problem_sentence(check))
    elif check.missing_files:
        yield pg.text(f"Not checked: {missing_files(check)}.")
    if check.missing_preamble_files:
        yield pg.text(f"{missing_macros(check)}.")
    items: list[tuple[pg.Block, ...]] = []
    most = page.head.maximum_problems * max(len(attempt.answered_by), 1)
    for problem in page.problems(check, attempt)[:most]:
        quote_warning = " The sentence it quotes is not in the manuscript."
        explanation = pg.text(
            prose_line(problem.explanation), quote_warning if problem.quote_found is False else ""
        )
        heading_blocks = (pg.text(pg.strong(problem.problem)), pg.text(_where(problem)))
        items.append((*heading_blocks, explanation, *_votes(page.votes(check, problem))))
    if items:
        yield pg.Listing(tuple(items), first=1)
    if more := page.in_report(check, attempt):
        yield pg.text(f"In the report: {more}.")
    if attempt.provenance is not None and attempt.provenance.shortening:
        yield pg.text(f"How it was read: {attempt.provenance.shortening}.")


def no_problem_sentence(check: ManuscriptCheck) -> str:
    """Return in how many words no problem was found, with its limits."""
    words = figures.plural(check.word_count or 0, "word")
    if check.is_partly_read:
        missing_names = missing_files(check)
        return (
            f"Not an all-clear: {missing_names}. No critical problem was found in the {words} read."
        )
    sentence = f"No critical problem found{f' in {words}' if check.word_count else ''}."
    if not check.has_few_words:
        return sentence
    if check.page_count is None:
        return f"{sentence} The manuscript has only {words}."
    pages = figures.plural(check.page_count, "page")
    return f"{sentence} Only {words} could be read on {pages}."


def missing_files(check: ManuscriptCheck) -> str:
    """Name the included text files that were not read; empty if none."""
    return _list_files(check.missing_files, "included file")


def missing_macros(check: ManuscriptCheck) -> str:
    """Name the preamble files that were not read; empty if none."""
    return _list_files(
        check.missing_preamble_files, "file of the preamble", "files of the preamble"
    )


def _list_files(files: Sequence[str], one: str, many: str | None = None) -> str:
    if not files:
        return ""
    are = "is" if len(files) == 1 else "are"
    names, more = files[:_MOST_NAMED], len(files) - _MOST_NAMED
    return (
        f"{figures.plural(len(files), one, many)} {are} missing or cannot be followed:"
        f" {', '.join(names)}{f' and {more:,} more' if more > 0 else ''}"
    )
