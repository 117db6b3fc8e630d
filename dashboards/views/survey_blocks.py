"""Blocks of the reports on surveys and answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.prose import prose, prose_line
from dashboards.views.survey_part import SurveyPart
from schemas.literature.paper import SectionKind
from schemas.literature.survey import Survey, SurveyQuote
from schemas.literature.survey_review import WhyRemoved
from schemas.reasons import Reason
from schemas.works.survey_run import SurveyHead

_UNREVIEWED_NOTE = (
    "This is the evidence, not a written review: papers, why each is here, and passages word for"
    " word."
)
_TAKEN_OUT = "What the engine wrote and the check took out. None of it is a finding."
_READING = (
    "Each paper stands with the key of its entry in ",
    pg.code("papers.bib"),
    ". Relevance goes from 0 to 5. Links: relevant papers that cite it or that it cites, as far as"
    " they were followed. Weight: relevance, then links, citations a year and age.",
)
_LAYERS = ("Layer", "Followed:", "Of these, hubs:", "New papers:", "Judged:", "Relevant:")
_LOST_IN_LAYERS = ("Not judged:", "After the cutoff:", "Look-ups that failed:")
_REMOVAL_REASONS = {
    WhyRemoved.UNCITED: "cites nothing",
    WhyRemoved.UNSUPPORTED: "not carried by what was read of the works it cites",
    WhyRemoved.ONE_SIDED: "a contradiction that cites fewer than two works",
}
_ASPECTS = ("Work", "Problem", "Data", "Method", "Result", "Limits")


def survey_blocks(
    head: SurveyHead, parts: Sequence[SurveyPart], keys: Mapping[str, str]
) -> Iterator[pg.Block]:
    """Yield the review, or its evidence, question by question.

    Args:
        keys: keys of `papers.bib` by paper.
    """
    yield pg.facts(
        pg.code(head.run_id),
        figures.plural(head.question_count, "question"),
        pg.line("engine ", pg.code(head.engine)),
        pg.line("literature ", pg.code(head.literature)),
        f"{figures.plural(head.depth, 'hop')} at most",
        f"up to {figures.plural(head.maximum_papers, 'paper')} kept of {head.maximum_judged:,} judged",
        f"nothing after {figures.day(head.cutoff_date)}" if head.cutoff_date else "",
    )
    yield from map(pg.note, _banners(head))
    if not head.papers_read:
        yield pg.note(_UNREVIEWED_NOTE)
    for number, part in enumerate(parts, start=1):
        if len(parts) > 1:
            yield pg.heading(part.survey.question)
        yield from _translated(part.survey)
        if part.survey.kept_count is None:
            yield _not_made(part.survey, "surveyed")
        else:
            yield pg.text(pg.strong(part.verdict))
            yield from _papers_found(part, number, keys)
            yield from _search_blocks(part.survey)
        if part.survey.removed:
            yield from (pg.heading("Taken out of the review", level=3), pg.text(_TAKEN_OUT))
            yield from _removed_sentences(part, with_section=True)
        yield pg.heading("What is missing", level=3)
        yield from _failures(part) or (pg.text("Every look-up and every question was answered."),)
        yield from pg.bullets(f"Left out: {detail}" for detail in part.left_out)


def _translated(survey: Survey) -> tuple[pg.Block, ...]:
    """Return the translation of a question that is not in English."""
    if survey.translation is None:
        return ()
    return (pg.text("In English, as searched: ", pg.emphasis(survey.translation)),)


def _banners(head: SurveyHead, what: str = "run") -> tuple[str, ...]:
    end_reason = head.incomplete_reason
    return wording.banners(head.engine, head.literature, incomplete_reason=end_reason, what=what)


def _papers_found(part: SurveyPart, number: int, keys: Mapping[str, str]) -> Iterator[pg.Block]:
    survey = part.survey
    if not survey.kept_count:
        unread_count = figures.plural(
            survey.not_looked_count, "search or paper", "searches or papers"
        )
        yield pg.text(
            f"Nothing can be said: {unread_count} could not be looked at."
            if survey.not_looked_count
            else "Nothing relevant was found: the searches were answered, and no paper they gave is"
            " relevant."
        )
        return
    yield from (each for each in (part.map(number), part.years(number)) if each is not None)
    if survey.read_count:
        yield from _review(part)
    for cluster in survey.clusters:
        years = dict.fromkeys(filter(None, (cluster.first_year, cluster.last_year)))
        span = f", {' to '.join(map(str, years))}" if cluster.first_year else ""
        yield pg.heading(cluster.name, level=3)
        yield pg.text(f"{figures.plural(cluster.paper_count, 'paper')}{span}. The heaviest:")
        yield from _papers(part, cluster.key_paper_ids, in_comparison=True)
    if survey.joins:
        yield pg.heading("Joined only by a third", level=3)
        yield pg.text(
            "Neither of the two cites the other, as far as they were followed; a third speaks of both."
        )
        yield from pg.bullets(
            pg.line(
                *(part.link(each.paper_id), " and ", part.link(each.other_paper_id), ", by "),
                *(part.link(each.said_in_paper_id), f": “{each.passage}”"),
            )
            for each in survey.joins
        )
    yield from (pg.heading("All papers", level=3), _all_papers(part, keys), pg.text(*_READING))


def _review(part: SurveyPart) -> Iterator[pg.Block]:
    yield from (pg.heading("The review", level=3), pg.text(part.review_verdict))
    for section in part.survey.sections:
        yield pg.heading(section.heading, level=4)
        if section.text:
            yield from prose(section.text)
            yield from _unchecked_note(section.unchecked_sentence_count)
        else:
            reason = wording.reason(section.unscored_reason or "")
            yield pg.text(f"Not written: {reason}; {section.unscored_detail}.")
    if not part.survey.sections:
        yield pg.text("It could not be written; see “What is missing”.")
    if part.comparison:
        yield pg.heading("The leading works side by side", level=3)
        yield pg.text("In their own words; a dash where the text read says nothing of it.")
        yield pg.table(
            _ASPECTS,
            (
                (part.link(paper_id), *(f"“{cell}”" if cell else None for cell in cells))
                for paper_id, cells in part.comparison
            ),
        )


def _papers(
    part: SurveyPart,
    paper_ids: Iterable[str],
    keys: Mapping[str, str] | None = None,
    *,
    in_comparison: bool = False,
) -> Iterator[pg.Block]:
    """Yield papers with passages, without those in the comparison if `in_comparison`."""
    items: list[tuple[pg.Block, ...]] = []
    compared_quotes = dict(part.comparison) if in_comparison else {}
    for paper_id in paper_ids:
        key = (" ", pg.code(keys[paper_id])) if keys is not None else ()
        paper_line = pg.text(part.link(paper_id), f" {part.text(paper_id).title}", *key)
        quotes = (
            one
            for one in part.quotes(paper_id)
            if one.quote not in compared_quotes.get(paper_id, ())
        )
        passages = pg.bullets(
            _passage(part, quote, in_comparison=in_comparison) for quote in quotes
        )
        items.append((paper_line, *passages))
    if items:
        yield pg.Listing(tuple(items))


def _passage(part: SurveyPart, quote: SurveyQuote, *, in_comparison: bool) -> pg.Line:
    if quote.said_in_paper_id != quote.paper_id:
        return pg.line(part.link(quote.said_in_paper_id), f" cites it: “{quote.quote}”")
    section = str(quote.section or SectionKind.ABSTRACT).replace("_", " ")
    aspect = f", {quote.aspect}" if quote.aspect is not None else ""
    return pg.line(f"its {section}{aspect}: " if in_comparison else "", f"“{quote.quote}”")


def _all_papers(part: SurveyPart, keys: Mapping[str, str]) -> pg.Table:
    rows = []
    for place, paper in enumerate(part.kept_papers, start=1):
        other_version_count = len(paper.other_version_ids)
        versions = (
            f" (with {figures.plural(other_version_count, 'other version')})"
            if other_version_count
            else ""
        )
        title = f" {part.text(paper.paper_id).title}{versions} "
        paper_line = pg.line(part.link(paper.paper_id), title, pg.code(keys[paper.paper_id]))
        reasons = (paper.rationale or None, part.why(paper), paper.relevance_0_to_5)
        rows.append((place, paper_line, *reasons, paper.link_count, figures.mean(paper.weight)))
    columns = (":", "Paper", "Why it is here", "Reached by", "Relevance:", "Links:", "Weight:")
    return pg.table(columns, rows)


def _search_blocks(survey: Survey) -> Iterator[pg.Block]:
    yield pg.heading("How they were found", level=3)
    rows = [
        (
            f"hop {each.layer}" if each.layer else "searches",
            *(each.followed_count, each.hub_count, each.found_count, each.judged_count),
            *(each.relevant_count, each.unscored_count, each.inadmissible_count),
            each.failed_look_up_count,
        )
        for each in survey.layers
    ]
    yield pg.table((*_LAYERS, *_LOST_IN_LAYERS), rows)
    yield pg.text("A hub is cited more often than citations were read of any one paper.")
    yield _searches(survey, ("Search", "Looks for", "Papers found:"))


def _searches(survey: Survey, columns: tuple[str, ...]) -> pg.Table:
    rows = []
    for each in survey.queries:
        paper_count = "not answered" if each.found_count is None else each.found_count
        looks_for = (each.sub_question,) if len(columns) > 2 else ()
        rows.append((each.query, *looks_for, paper_count))
    return pg.table(columns, rows)


def _removed_sentences(part: SurveyPart, *, with_section: bool) -> tuple[pg.Block, ...]:
    headings = {each.section_id: each.heading for each in part.survey.sections}
    return pg.bullets(
        pg.line(
            f"{headings[each.section_id]}, " if with_section else "",
            f"{_REMOVAL_REASONS[each.why]}: ",
            prose_line(each.sentence),
        )
        for each in part.survey.removed
    )


def _failures(part: SurveyPart) -> tuple[pg.Block, ...]:
    return pg.bullets(
        line + (f" ({count:,} times)" if count > 1 else "") for line, count in part.failures
    )


def _unchecked_note(count: int | None) -> Iterator[pg.Block]:
    if count:
        yield pg.text(f"Not checked: {figures.plural(count, 'sentence')} of it.")


def _not_made(survey: Survey, what: str) -> pg.Block:
    reason = wording.reason(survey.unscored_reason or "")
    return pg.text(f"Not {what}: {reason}; {survey.unscored_detail}.")


def short_blocks(parts: Sequence[SurveyPart]) -> Iterator[pg.Block]:
    """Yield clusters with key papers by question."""
    for part in parts:
        survey = part.survey
        yield pg.heading(survey.question)
        yield from _translated(survey)
        if survey.kept_count is None:
            yield _not_made(survey, "surveyed")
            continue
        yield pg.text(pg.strong(part.verdict))
        yield from pg.bullets(
            f"{f'layer {each.layer:,}' if each.layer else 'searches'}: {each.judged_count:,} judged,"
            f" {each.relevant_count:,} relevant"
            + (
                f", {figures.plural(each.failed_look_up_count, 'look-up')} failed"
                if each.failed_look_up_count
                else ""
            )
            for each in survey.layers
        )
        if survey.read_count:
            yield pg.text(part.review_verdict)
            yield from prose(part.summary.text) if part.summary is not None else ()
        for cluster in survey.clusters:
            yield pg.heading(cluster.name, level=3)
            yield from pg.bullets(
                pg.line(f"{part.text(paper_id).title}: ", part.link(paper_id))
                for paper_id in cluster.key_paper_ids
            )


def answer_blocks(
    head: SurveyHead, part: SurveyPart, keys: Mapping[str, str]
) -> Iterator[pg.Block]:
    """Yield the answer to one question, then its evidence."""
    survey, answer = part.survey, part.answer
    yield from _translated(survey)
    yield from _answer(part)
    if part.not_found is not None and part.not_found.text:
        yield pg.heading("Not in what was found")
        yield from prose(part.not_found.text)
    yield from map(pg.note, _banners(head, "search"))
    if survey.kept_count is not None:
        yield pg.heading("What it rests on")
        if answer is not None and answer.text:
            yield pg.text(part.review_verdict)
            yield from _papers(part, answer.cited_paper_ids, keys)
        cutoff = head.cutoff_date
        yield pg.text(
            *(f"{part.verdict} Engine ", pg.code(head.engine)),
            *(", literature ", pg.code(head.literature)),
            *((", nothing after ", cutoff) if cutoff else ()),
            *("; run ", pg.code(head.run_id), "."),
        )
        yield _searches(survey, ("Search", "Papers found:"))
    if survey.removed:
        yield from (pg.heading("Taken out of the answer"), pg.text(_TAKEN_OUT))
        yield from _removed_sentences(part, with_section=False)
    if part.failures:
        yield pg.heading("What is missing")
        yield from _failures(part)
    if part.left_out:
        yield pg.heading("Left out")
        yield from pg.bullets(part.left_out)


def _answer(part: SurveyPart) -> Iterator[pg.Block]:
    """Yield the answer, the relevant passages, or why there is none."""
    survey, answer = part.survey, part.answer
    aspects = (quote for quote in survey.quotes if quote.aspect is not None)
    paper_ids = dict.fromkeys(str(quote.paper_id) for quote in aspects)
    if survey.kept_count is None:
        yield _not_made(survey, "answered")
    elif answer is not None and answer.text:
        yield from prose(answer.text)
        yield from _unchecked_note(answer.unchecked_sentence_count)
    elif paper_ids and answer is None:
        yield pg.text(
            "No answer was written: these are the passages that bear on the question, word for word."
        )
        yield from _papers(part, paper_ids)
    elif answer is not None and answer.unscored_reason is not Reason.NO_EVIDENCE:
        reason = wording.reason(answer.unscored_reason or "")
        yield pg.text(f"Not answered: {reason}; {answer.unscored_detail}.")
    elif survey.not_looked_count:
        yield pg.text(
            pg.strong("Nothing can be said."),
            f" What was found does not answer it, but {survey.not_looked_count:,} searches or papers"
            " could not be read; the reasons are below.",
        )
    else:
        yield pg.text(
            pg.strong("Not in what was found."),
            f" {figures.plural(len(survey.queries), 'search', 'searches')} answered,"
            f" {figures.plural(survey.judged_count, 'paper')} screened,"
            f" {figures.plural(survey.read_count or 0, 'paper')} read; none answers the question.",
        )
