"""What an evaluation found wanting in a version, the gravest first; what to do next about it, by
rule; and whether a revision answers what it says it answers.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from textwrap import shorten

from schemas.identifiers import IdeaId
from schemas.judgement.contribution import Comparison, Overlap, closest_first
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import ConcernSeverity, standing
from schemas.works import experiment
from schemas.works.ideation import Finding, FindingAnswer, FindingKind, Move
from tasks.citations.references import label, reference
from tasks.ideation.steps import ToldAnswer
from tasks.text.phrases import specific_stems
from tasks.text.quotations import stands_in

MOST_CLOSE_WORKS = 2
_METHOD_CHARACTERS = 160
_LEAST_SHARED_STEMS = 2


def findings_of(evaluation: IdeaEvaluation, limit: int) -> tuple[Finding, ...]:
    """What was tried and did not help, then concerns that would change a verdict, contradictions
    and closest prior works in turn, what was tried and is open, and other concerns; at most
    `limit`.

    Grave concerns come first only up to half of `limit`, so that the literature has its say.
    """
    grave, others = _concerns(evaluation)
    failed, left_open = _measured(evaluation)
    of_literature = zip_longest(_contradictions(evaluation), _closest_works(evaluation))
    first = (limit + 1) // 2
    told = (
        *failed,
        *grave[:first],
        *filter(None, chain.from_iterable(of_literature)),
        *grave[first:],
        *left_open,
        *others,
    )[:limit]
    return tuple(
        Finding(key=f"F{number}", kind=kind, text=text)
        for number, (kind, text) in enumerate(told, start=1)
    )


Told = tuple[FindingKind, str]


def _concerns(evaluation: IdeaEvaluation) -> tuple[list[Told], list[Told]]:
    grave: list[Told] = []
    others: list[Told] = []
    for each in standing(evaluation.concerns):
        is_grave = each.remaining_severity in (ConcernSeverity.FATAL, ConcernSeverity.MAJOR)
        text = " ".join(filter(None, (each.point, each.why, each.action)))
        (grave if is_grave else others).append((FindingKind.CONCERN, text))
    return grave, others


def _measured(evaluation: IdeaEvaluation) -> tuple[list[Told], list[Told]]:
    """Results of experiments that do not support the idea, and those that leave it open: undecided
    ones, and gains no better than the strongest baseline.
    """
    failed: list[Told] = []
    left_open: list[Told] = []
    for result in evaluation.experimental_results:
        if not result.is_beyond_the_known:
            found = failed if result.finding is experiment.Finding.NOT_SUPPORTED else left_open
            found.append((FindingKind.EXPERIMENT, result.in_words))
    return failed, left_open


def _contradictions(evaluation: IdeaEvaluation) -> Iterator[Told]:
    """Those that cite a paper: without one, it is the reviewer who doubts, not the literature."""
    if evaluation.soundness is None:
        return
    names = {each.method_id: each.text for each in evaluation.soundness.methods}
    cited = {each.subject for each in evaluation.citations if each.field == "contradictions"}
    for review in evaluation.soundness.reviews:
        if review.method_id in cited and review.contradictions.strip():
            name = shorten(names.get(review.method_id, ""), _METHOD_CHARACTERS, placeholder=" …")
            said = _without_addresses(review.contradictions.strip(), evaluation)
            yield FindingKind.CONTRADICTION, f"Of the method “{name}”: {said}"


def _without_addresses(text: str, evaluation: IdeaEvaluation) -> str:
    """`text` with authors and years of the papers that it cites, but not with their links."""
    cited = {each.paper_id for each in evaluation.citations if each.field == "contradictions"}
    for paper in evaluation.papers:
        if paper.paper_id in cited:
            text = text.replace(reference(paper), f"({label(paper)})")
    return text


def _closest_works(evaluation: IdeaEvaluation) -> Iterator[Told]:
    if evaluation.contribution is None:
        return
    papers = {paper.paper_id: paper for paper in evaluation.papers}
    told: dict[str, Comparison] = {}
    for comparison in closest_first(evaluation.contribution.comparisons):
        if comparison.overlap not in (None, Overlap.NONE, Overlap.NOT_ADDRESSED):
            told.setdefault(str(comparison.paper_id), comparison)
    for comparison in list(told.values())[:MOST_CLOSE_WORKS]:
        paper = papers.get(comparison.paper_id)
        title = paper.title if paper is not None else comparison.paper_id
        parts = (
            f"{title}. Along {comparison.dimension}: {comparison.comparison}",
            f"In its own words: “{comparison.quote}”" if comparison.quote else "",
            f"What remains new: {comparison.remains}" if comparison.remains else "",
        )
        yield FindingKind.CLOSEST_WORK, " ".join(filter(None, parts))


def checked_answers(
    version_id: IdeaId,
    told: Iterable[ToldAnswer],
    findings: Sequence[Finding],
    text: str,
    before: str,
) -> tuple[FindingAnswer, ...]:
    """Each answer with whether it holds.

    The finding has to be there, and the quoted words in the new text and not in the one before; and
    they have to speak of what the finding speaks of: share two of its telling words.
    """
    by_key = {finding.key: finding for finding in findings}
    return tuple(
        _checked(version_id, answer, by_key.get(answer.finding), text, before)
        for answer in {each.finding: each for each in told}.values()
    )


def _checked(
    version_id: IdeaId, answer: ToldAnswer, finding: Finding | None, text: str, before: str
) -> FindingAnswer:
    detail = _why_not(answer, finding, text, before)
    return FindingAnswer(
        version_id=version_id,
        finding_key=answer.finding,
        kind=finding.kind if finding is not None else None,
        finding=finding.text if finding is not None else "",
        quote=answer.quote,
        answered=not detail,
        detail=detail,
    )


def _why_not(answer: ToldAnswer, finding: Finding | None, text: str, before: str) -> str:
    if finding is None:
        return "there is no finding of that key"
    if not stands_in(answer.quote, text):
        return "the words do not stand in the new text"
    if stands_in(answer.quote, before):
        return "the words stood in the version before"
    shared = specific_stems(answer.quote) & specific_stems(finding.text)
    if len(shared) < _LEAST_SHARED_STEMS:
        return "the words do not speak of what the finding speaks of"
    return ""


def next_move(
    keywords: Sequence[str], findings: Sequence[Finding], maximum_keywords: int
) -> Move | None:
    """The next move; None: nothing was found wanting, and the idea stands.

    Prior work that comes close calls for another concept where it is the gravest finding: one that
    is added while there is room, and else replaces one. Everything else is a matter of the proposal
    itself. An idea with few concepts grows first.
    """
    if not findings:
        return None
    if len(keywords) < maximum_keywords or findings[0].kind is FindingKind.CLOSEST_WORK:
        return next_concept(keywords, maximum_keywords)
    return Move.REVISE


def next_concept(keywords: Sequence[str], maximum_keywords: int) -> Move:
    """A concept more while there is room, else one for another."""
    return Move.ADD_KEYWORD if len(keywords) < maximum_keywords else Move.REPLACE_KEYWORD
