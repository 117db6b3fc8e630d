"""How a paper is built: its sections, their length, citations, figures, tables, tense and person.

By cues that take time linear in the text; nothing is judged.
"""

from collections.abc import Iterable, Iterator, Sequence

from schemas.failure import SourceFailure
from schemas.literature.paper import Paper, PaperSection, SectionKind
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, MULTILINE, bounded
from schemas.works.draft_neighbour import NeighbourSection, SectionPart
from tasks.documents.document import ParsedDocument
from tasks.documents.headings import is_opening, plain
from tasks.documents.latex_text import PARSER as LATEX
from tasks.documents.sections import branches_of
from tasks.text.words import sentences, words

LEAST_WORDS = 300
"""A document with fewer is no paper, or was not read as one."""
LEAST_VERBS = 5
"""Of fewer no tense is told."""
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
"""Where a list of references begins whose heading was not seen."""
_NUMBERED = bounded(r"\[(\d{1,3}(?:\s{0,2}[,;–-]\s{0,2}\d{1,3}){0,30})\]")
_RANGE = bounded(r"(\d{1,3})\s{0,2}[–-]\s{0,2}(\d{1,3})")
_NUMBER = bounded(r"\d{1,3}")
_ASIDE = bounded(r"\(([^()]{4,400})\)")
_YEAR = bounded(r"(?:^|[^\W\d_]\.?,?\s{1,3})(?:19|20)\d\d[a-z]?\b")
_KEYS = bounded(r"\[([^\[\]\s][^\[\]]{0,400})\]")
_LABEL = bounded(
    r"^(?:fig(?:ure)?|tab(?:le)?|tbl|sec(?:tion)?|eqn?|equation|alg|app|thm|lem|def)s?[:_.-]"
)
_NAMED = bounded(r"\b(fig(?:ure|s|ures)?\.?|tables?|tab\.)\s{0,3}(\d{1,2})\b", IGNORECASE)
_LABELLED = bounded(r"\[(fig(?:ure)?|tab(?:le)?|tbl)[:_.-]([^\[\]]{1,80})\]", IGNORECASE)
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


def measured(paper: Paper, document: ParsedDocument | SourceFailure) -> list[NeighbourSection]:
    """The sections of a paper up to its references, or one row that says why there is none."""
    if isinstance(document, SourceFailure):
        return [_unmeasured(paper, document.reason, document.detail)]
    kept: list[tuple[SectionPart, str, str]] = []
    for branch in branches_of(document):
        if _BEHIND.search(plain(branch.heading)):
            continue
        part = _PARTS[branch.kind] if branch.kind else _part_of(branch.heading)
        is_ended = any(before is SectionPart.CONCLUSION for before, _, _ in kept)
        if is_ended and part is SectionPart.OTHER:
            continue  # an appendix, whatever it is called
        listed = _LIST.search(branch.text)
        text = branch.text[: listed.start()] if listed else branch.text
        kept.append((part, branch.heading, text))
    known = [part for part, _, _ in kept if part is not SectionPart.OTHER]
    if sum(len(words(text)) for _, _, text in kept) < LEAST_WORDS or len(known) < 2:
        detail = f"of {len(document.sections)} headings too few name parts of a paper"
        return [_unmeasured(paper, Reason.NO_SECTIONS, detail)]
    return list(_rows(paper, kept, document.parser, is_whole=True))


def measured_of_sections(paper: Paper, kept: Sequence[PaperSection]) -> list[NeighbourSection]:
    """What an evaluation kept of a paper's full text: no introduction, and in no order."""
    found = [(_PARTS[each.section], each.heading, each.text) for each in kept]
    return list(_rows(paper, found, kept[0].text_source, is_whole=False))


def _unmeasured(paper: Paper, reason: Reason, detail: str) -> NeighbourSection:
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
    paper: Paper, found: Iterable[tuple[SectionPart, str, str]], source: str, *, is_whole: bool
) -> Iterator[NeighbourSection]:
    named: set[tuple[str, str]] = set()
    number = 0
    for part, heading, text in found:
        if part is SectionPart.ABSTRACT:
            continue
        number += 1
        told = sentences(text)
        figures, diagrams, tables = _pictures(told, named)
        own = sum(1 for each in told if not _FIRST_PERSON.isdisjoint(words(each)))
        yield NeighbourSection(
            paper_id=paper.paper_id,
            title=paper.title,
            section_number=number,
            part=part,
            heading=" ".join(heading.split()),
            text_source=source,
            is_whole=is_whole,
            word_count=sum(len(words(each)) for each in told),
            citation_count=citations_in(text, is_latex=source == LATEX),
            figure_count=figures,
            diagram_count=diagrams,
            table_count=tables,
            past_share=past_share(told),
            first_person_share=own / len(told) if told else None,
        )


def _pictures(told: Iterable[str], named: set[tuple[str, str]]) -> tuple[int, int, int]:
    """Figures, drawings among them, and tables that are named for the first time."""
    figures = diagrams = tables = 0
    for sentence in told:
        for pattern in (_NAMED, _LABELLED):
            for match in pattern.finditer(sentence):
                name = (match[1][0].casefold(), match[2].casefold())
                if name in named:
                    continue
                named.add(name)
                is_figure = name[0] == "f"
                figures += is_figure
                tables += not is_figure
                diagrams += is_figure and _DIAGRAM.search(sentence) is not None
    return figures, diagrams, tables


def citations_in(text: str, *, is_latex: bool) -> int:
    """Works cited: by numbers in brackets, by names with years, or by keys of a LaTeX source."""
    if is_latex:
        listed = (match[1].split(",") for match in _KEYS.finditer(text))
        return sum(1 for keys in listed for key in keys if key and not _LABEL.match(key.strip()))
    count = 0
    for match in _NUMBERED.finditer(text):
        count += len(_NUMBER.findall(match[1]))
        for one in _RANGE.finditer(match[1]):
            count += max(0, int(one[2]) - int(one[1]) - 1)
    asides = () if count else _ASIDE.finditer(text)
    return count + sum(len(_YEAR.findall(match[1])) for match in asides)


def past_share(told: Iterable[str]) -> float | None:
    """Of auxiliaries, and of verbs right after `we`, the share in the past; None: too few."""
    past = present = 0
    for sentence in told:
        before = ""
        for word in words(sentence):
            if word in _PAST:
                past += 1
            elif word in _PRESENT:
                present += 1
            elif before == "we" and word not in _MODAL:
                if word.endswith("ly") or word in ("also", "then", "first"):
                    continue
                is_past = word.endswith("ed") or word in _IRREGULAR
                past += is_past
                present += not is_past
            before = word
    seen = past + present
    return past / seen if seen >= LEAST_VERBS else None
