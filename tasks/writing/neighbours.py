"""Papers near to an idea and their habits, and an outline by their medians.

Habits are sections, length, citations, figures, tables, tense and person, found by cues in time linear
in the text. They are measured on stored full texts; others are fetched only on request.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack

from schemas.base import replace
from schemas.calls import ApiCall
from schemas.failure import SourceFailure
from schemas.idea import Idea
from schemas.identifiers import IdeaId, PaperId
from schemas.literature.paper import Paper, PaperSection, SectionKind
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, MULTILINE, bounded
from schemas.works.draft_neighbour import Habit, Habits, NeighbourSection, SectionPart
from schemas.works.draft_run import PlannedSection
from tasks.accounting.ledger import Ledger
from tasks.documents.document import DOCUMENTS_AT_ONCE, ParsedDocument, branches_of
from tasks.documents.full_text import FullTextLibrary
from tasks.documents.headings import is_opening, plain
from tasks.documents.latex_text import PARSER as LATEX
from tasks.embeddings.similarity import paper_text
from tasks.sources.requests import TIMEOUT_SECONDS, SourceContext
from tasks.sources.unpaywall import open_full_texts
from tasks.text.words import rank_sentences, sentences, words
from tasks.web.client import open_client
from warehouse.stores.keyed_store import KeyedStore
from warehouse.warehouse import Warehouse

LEAST_WORDS = 300
"""Shorter documents are no papers, or were not read completely."""
LEAST_VERBS = 5
"""Least number of verbs for a statement about tense."""
_PARTS = {
    SectionKind.ABSTRACT: SectionPart.ABSTRACT,
    SectionKind.METHODS: SectionPart.METHOD,
    SectionKind.RESULTS: SectionPart.RESULTS,
    SectionKind.DISCUSSION: SectionPart.DISCUSSION,
    SectionKind.RELATED_WORK: SectionPart.RELATED_WORK,
}
_CONCLUSION = bounded(r"\b(?:conclusions?|concluding|summary|future work|future directions)\b")
_BEHIND = bounded(
    r"\b(?:references?|bibliography|acknowledge?ments?|appendix|appendices|supplementary"
    r"|supplemental|funding|competing interests?|conflicts? of interest|author contributions?"
    r"|data availability|code availability|ethics|abbreviations|contents|checklist)\b"
)
_LIST = bounded(r"^(?:References|REFERENCES|Bibliography)\s{1,3}(?=[\[\d(A-Z])", MULTILINE)
"""Start of a list of references without a detected heading."""
_NUMBER_CITATION = bounded(r"\[(\d{1,3}(?:\s{0,2}[,;–-]\s{0,2}\d{1,3}){0,30})\]")
_RANGE = bounded(r"(\d{1,3})\s{0,2}[–-]\s{0,2}(\d{1,3})")
_NUMBER = bounded(r"\d{1,3}")
_ASIDE = bounded(r"\(([^()]{4,400})\)")
_YEAR = bounded(r"(?:^|[^\W\d_]\.?,?\s{1,3})(?:19|20)\d\d[a-z]?\b")
_KEYS = bounded(r"\[([^\[\]\s][^\[\]]{0,400})\]")
_LABEL = bounded(
    r"^(?:fig(?:ure)?|tab(?:le)?|tbl|sec(?:tion)?|eqn?|equation|alg|app|thm|lem|def)s?[:_.-]"
)
_FLOAT_MENTION = bounded(r"\b(fig(?:ure|s|ures)?\.?|tables?|tab\.)\s{0,3}(\d{1,2})\b", IGNORECASE)
_FLOAT_LABEL = bounded(r"\[(fig(?:ure)?|tab(?:le)?|tbl)[:_.-]([^\[\]]{1,80})\]", IGNORECASE)
_DIAGRAM = bounded(
    r"\b(?:overviews?|architectures?|frameworks?|pipelines?|workflows?|schematics?|diagrams?"
    r"|illustrat\w{1,6}|flow ?charts?|sketch(?:es)?)\b",
    IGNORECASE,
)
_PAST = frozenset({"was", "were", "had", "did"})
_PRESENT = frozenset({"is", "are", "has", "have", "does", "do"})
_MODAL = frozenset({"can", "could", "will", "would", "may", "might", "must", "shall", "should"})
_IRREGULAR_TEXT = """
began became built chose drew fit found gave got grew held kept knew learnt led left made met put
ran saw set shown showed sought spent split thought told took went wrote
"""
_IRREGULAR = frozenset(_IRREGULAR_TEXT.split())
_FIRST_PERSON = frozenset({"we", "our", "ours", "us", "i", "my"})


def measure(paper: Paper, document: ParsedDocument | SourceFailure) -> list[NeighbourSection]:
    """Measure the sections of a paper up to its references, or return a row with the reason."""
    if isinstance(document, SourceFailure):
        return [_no_measurement(paper, document.reason, document.detail)]
    sections: list[tuple[SectionPart, str, str]] = []
    for branch in branches_of(document):
        if _BEHIND.search(plain(branch.heading)):
            continue
        part = _PARTS[branch.kind] if branch.kind else _part_of(branch.heading)
        after_conclusion = any(before is SectionPart.CONCLUSION for before, _, _ in sections)
        if after_conclusion and part is SectionPart.OTHER:
            continue  # an appendix, whatever its heading
        references = _LIST.search(branch.text)
        text = branch.text[: references.start()] if references else branch.text
        sections.append((part, branch.heading, text))
    known_parts = [part for part, _, _ in sections if part is not SectionPart.OTHER]
    if sum(len(words(text)) for _, _, text in sections) < LEAST_WORDS or len(known_parts) < 2:
        detail = f"of {len(document.sections)} headings too few name parts of a paper"
        return [_no_measurement(paper, Reason.NO_SECTIONS, detail)]
    return list(_rows(paper, sections, document.parser, is_whole=True))


def _no_measurement(paper: Paper, reason: Reason, detail: str) -> NeighbourSection:
    return NeighbourSection(
        paper_id=paper.paper_id,
        title=paper.title,
        section_number=0,
        unmeasured_reason=reason,
        unmeasured_detail=detail,
    )


def _part_of(heading: str) -> SectionPart:
    if is_opening(heading):
        return SectionPart.INTRODUCTION
    is_end = _CONCLUSION.search(plain(heading)) is not None
    return SectionPart.CONCLUSION if is_end else SectionPart.OTHER


def _rows(
    paper: Paper, sections: Iterable[tuple[SectionPart, str, str]], source: str, *, is_whole: bool
) -> Iterator[NeighbourSection]:
    names_so_far: set[tuple[str, str]] = set()
    number = 0
    for part, heading, text in sections:
        if part is SectionPart.ABSTRACT:
            continue
        number += 1
        all_sentences = sentences(text)
        figures, diagrams, tables = _pictures(all_sentences, names_so_far)
        first_person_count = sum(
            1 for each in all_sentences if not _FIRST_PERSON.isdisjoint(words(each))
        )
        yield NeighbourSection(
            paper_id=paper.paper_id,
            title=paper.title,
            section_number=number,
            part=part,
            heading=" ".join(heading.split()),
            text_source=source,
            is_whole=is_whole,
            word_count=sum(len(words(each)) for each in all_sentences),
            citation_count=citations_in(text, is_latex=source == LATEX),
            figure_count=figures,
            diagram_count=diagrams,
            table_count=tables,
            past_share=past_share(all_sentences),
            first_person_share=first_person_count / len(all_sentences) if all_sentences else None,
        )


def _pictures(
    all_sentences: Iterable[str], names_so_far: set[tuple[str, str]]
) -> tuple[int, int, int]:
    """Count figures, diagrams among them, and tables on their first mention."""
    figures = diagrams = tables = 0
    for sentence in all_sentences:
        for pattern in (_FLOAT_MENTION, _FLOAT_LABEL):
            for match in pattern.finditer(sentence):
                name = (match[1][0].casefold(), match[2].casefold())
                if name in names_so_far:
                    continue
                names_so_far.add(name)
                is_figure = name[0] == "f"
                figures += is_figure
                tables += not is_figure
                diagrams += is_figure and _DIAGRAM.search(sentence) is not None
    return figures, diagrams, tables


def citations_in(text: str, *, is_latex: bool) -> int:
    """Count cited works: numbers in brackets, names with years, or LaTeX keys."""
    if is_latex:
        key_lists = (match[1].split(",") for match in _KEYS.finditer(text))
        return sum(1 for keys in key_lists for key in keys if key and not _LABEL.match(key.strip()))
    count = 0
    for match in _NUMBER_CITATION.finditer(text):
        count += len(_NUMBER.findall(match[1]))
        for one in _RANGE.finditer(match[1]):
            count += max(0, int(one[2]) - int(one[1]) - 1)
    asides = () if count else _ASIDE.finditer(text)
    return count + sum(len(_YEAR.findall(match[1])) for match in asides)


def past_share(all_sentences: Iterable[str]) -> float | None:
    """Return the share of past tense in auxiliaries and verbs after `we`; None for too few."""
    past = present = 0
    for sentence in all_sentences:
        previous_word = ""
        for word in words(sentence):
            if word in _PAST:
                past += 1
            elif word in _PRESENT:
                present += 1
            elif previous_word == "we" and word not in _MODAL:
                if word.endswith("ly") or word in ("also", "then", "first"):
                    continue
                is_past = word.endswith("ed") or word in _IRREGULAR
                past += is_past
                present += not is_past
            previous_word = word
    verb_count = past + present
    return past / verb_count if verb_count >= LEAST_VERBS else None


LEAST_SHARE = 0.5
"""Least share of measured papers that have a section of a kind."""
MOST_NEIGHBOURS = 40
"""Papers looked up, nearest first."""
_LEAST_PLANNED, _LEAST_SHORTENED, _MOST_PLANNED = 60, 20, 5_000


def plan_by_habits(
    outline: Sequence[PlannedSection], habits: Habits, most_words: int
) -> tuple[PlannedSection, ...]:
    """Return the outline with words, order and style of the neighbors, if enough were measured.

    Each section states the source of its length.

    Args:
        most_words: of all sections together; longer outlines are scaled down.
    """
    if not habits.are_enough:
        reason = f"fixed, since {habits.why_not}"
        return _within(
            [replace(each, planned_from=reason if each.part else "") for each in outline],
            most_words,
        )
    habit_of_part: dict[SectionPart, Habit] = {}
    sections = []
    for section in outline:
        part = section.part
        habit = habits.by_part.get(part) if part is not None else None
        if habit is None or habit.papers < LEAST_SHARE * habits.measured:
            count = f"{habit.papers if habit else 0} of {habits.measured} neighbours"
            needs_reason = part is not None and part is not SectionPart.ABSTRACT
            reason = f"fixed, since {count} have such a section" if needs_reason else ""
            sections.append(replace(section, planned_from=reason))
            continue
        habit_of_part[habit.part] = habit
        words = min(max(round(habit.words / 10) * 10, _LEAST_PLANNED), _MOST_PLANNED)
        reason = (
            f"median of {habit.papers} neighbours, {habit.words:,.0f} words; half of"
            f" them have {habit.low:,.0f} to {habit.high:,.0f}"
        )
        sections.append(
            replace(section, planned_words=words, planned_from=reason, style=habit.style)
        )
    return _within(_reorder(sections, habit_of_part), most_words)


def _reorder(
    planned_sections: Sequence[PlannedSection], habits: dict[SectionPart, Habit]
) -> list[PlannedSection]:
    """Reorder the sections with measured places among each other; the others stay."""
    places: dict[SectionPart | None, float] = {
        part: habit.place_0_to_1 for part, habit in habits.items() if habit.place_0_to_1 is not None
    }
    movable_sections = [each for each in planned_sections if each.part in places]
    order = iter(sorted(movable_sections, key=lambda each: places[each.part]))
    return [next(order) if each.part in places else each for each in planned_sections]


def _within(outline: Iterable[PlannedSection], most_words: int) -> tuple[PlannedSection, ...]:
    sections = tuple(outline)
    total = sum(each.planned_words for each in sections if each.part)
    if total <= most_words:
        return sections
    return tuple(
        replace(
            each,
            planned_words=max(_LEAST_SHORTENED, int(each.planned_words * most_words / total)),
            planned_from=f"{each.planned_from}; shortened, since the whole may have"
            f" {most_words:,} words",
        )
        if each.part
        else each
        for each in sections
    )


def neighbours_of(
    idea: Idea,
    papers: Sequence[Paper],
    kept_sections: Sequence[PaperSection],
    warehouse: Warehouse,
    *,
    downloads: bool,
) -> tuple[tuple[NeighbourSection, ...], tuple[ApiCall, ...]]:
    """Measure the papers nearest to `idea`; return the rows, with reasons, and the requests.

    Args:
        kept_sections: sections in evaluations, for papers whose document is no longer stored.
        downloads: whether missing documents are fetched.
    """
    unique = list({paper.paper_id: paper for paper in papers}.values())
    texts = [paper_text(paper.title, paper.abstract) for paper in unique]
    by_text = dict(zip(texts, unique, strict=True))
    neighbours = [
        by_text[text] for _, text in rank_sentences(idea.text, list(by_text), MOST_NEIGHBOURS)
    ]
    if not neighbours:
        return (), ()
    ledger = Ledger(IdeaId(idea.idea_id))
    documents = asyncio.run(_documents(neighbours, ledger, warehouse, downloads=downloads))
    sections_of: dict[PaperId, list[PaperSection]] = {}
    for section in kept_sections:
        if section.section is not SectionKind.ABSTRACT:
            sections_of.setdefault(section.paper_id, []).append(section)
    rows: list[NeighbourSection] = []
    for paper, document in zip(neighbours, documents, strict=True):
        rows_of_paper = measure(paper, document)
        stored_sections = sections_of.get(paper.paper_id)
        if stored_sections and rows_of_paper[0].unmeasured_reason is not None:
            # They have no introduction, and no order.
            parts = [(_PARTS[each.section], each.heading, each.text) for each in stored_sections]
            rows_of_paper = list(
                _rows(paper, parts, stored_sections[0].text_source, is_whole=False)
            )
        rows += rows_of_paper
    return tuple(rows), tuple(ledger.api_calls) if downloads else ()


async def _documents(
    papers: Sequence[Paper], ledger: Ledger, warehouse: Warehouse, *, downloads: bool
) -> list[ParsedDocument | SourceFailure]:
    settings, path = warehouse.settings, warehouse.cache / "documents.sqlite"
    slots = asyncio.Semaphore(DOCUMENTS_AT_ONCE)
    async with AsyncExitStack() as stack:
        if downloads:
            client = open_client(TIMEOUT_SECONDS)
            http = await stack.enter_async_context(client)
            context = SourceContext(http, ledger, settings.home / "limits")
            library = open_full_texts(settings, context, KeyedStore(path), slots)
        else:
            store = KeyedStore(path) if path.exists() else None
            library = FullTextLibrary(
                settings.documents, settings.grobid_url, None, store, ledger, slots, downloads=False
            )
        return await asyncio.gather(*(library.document(paper) for paper in papers))
