"""The stacks of a run: every idea's versions so far, what they scored, what was found wanting, and whether
the next version answers it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, product, zip_longest
from textwrap import shorten

from schemas.idea import Idea
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.contribution import Comparison, Overlap, closest_first
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import ConcernSeverity, standing
from schemas.works import experiment
from schemas.works.ideation import (
    Finding,
    FindingAnswer,
    FindingKind,
    IdeationRound,
    IdeaVersion,
    Move,
)
from schemas.works.ideation_run import IDEATIONS, IdeationParameters, Slot
from tasks.citations.references import label, reference
from tasks.ideation.steps import ToldAnswer
from tasks.text.phrases import specific_stems
from tasks.text.quotations import stands_in
from warehouse.answers import IdeaReview
from warehouse.units.kind import kind_of
from warehouse.units.unit_rows import landed_unit
from warehouse.warehouse import Warehouse

MOST_CLOSE_WORKS = 2
_METHOD_CHARACTERS = 160
_LEAST_SHARED_STEMS = 2


def findings_of(evaluation: IdeaEvaluation, limit: int) -> tuple[Finding, ...]:
    """Return what was tried and did not help, then concerns that would change a verdict,
    contradictions and closest prior works in turn, what was tried and is open, and other concerns;
    at most `limit`.

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


Place = tuple[str, int]
"""An idea of a run: its seed, and which of the seed's ideas it is."""


@dataclass(frozen=True, slots=True)
class Branch:
    """An idea whose last version was found wanting, and what the rule would do next with it."""

    place: Place
    version: IdeaVersion
    findings: tuple[Finding, ...]
    move: Move


class Stacks:
    """Grows by `add` (what a round made) and `judge` (what its evaluation found)."""

    def __init__(
        self, seeds: Iterable[Idea], parameters: IdeationParameters, cutoff_date: date | None
    ) -> None:
        """`cutoff_date`: of seeds that have none."""
        self._parameters, self._cutoff_date = parameters, cutoff_date
        self._seeds = {seed.idea_id: seed for seed in seeds}
        self._stacks: dict[Place, list[IdeaVersion]] = {
            place: [] for place in product(self._seeds, range(1, parameters.per_seed + 1))
        }
        self._reviews: dict[str, IdeaReview] = {}

    def add(self, versions: Iterable[IdeaVersion]) -> None:
        """Those that go on; of the others the stack keeps the version before."""
        for version in versions:
            if version.kept:
                self._stacks[version.seed_id, version.slot].append(version)

    def judge(self, reviews: Iterable[IdeaReview]) -> None:
        self._reviews |= {str(review.evaluation.idea.idea_id): review for review in reviews}

    def branches(self) -> Iterator[Branch]:
        """Of each idea that can go on: of a version that was not evaluated, or in which nothing was
        found wanting, there is none.
        """
        parameters = self._parameters
        for place, stack in self._stacks.items():
            review = self._reviews.get(str(stack[-1].version_id)) if stack else None
            if review is None:
                continue
            findings = findings_of(review.evaluation, parameters.findings_shown)
            move = next_move(stack[-1].keywords, findings, parameters.maximum_keywords)
            if move is not None:
                yield Branch(place, stack[-1], findings, move)

    def slots(
        self, number: int, decided: Mapping[Place, Move | None] | None = None
    ) -> tuple[Slot, ...]:
        """Return what the round of that number has to make.

        Args:
            decided: by people; an idea of which nothing was decided goes on by rule.
        """
        if number == 1:
            return tuple(self._slot(place, 1, Move.BEGIN) for place in self._stacks)
        return tuple(
            self._slot(branch.place, number, move, branch.findings)
            for branch in self.branches()
            if (move := (decided or {}).get(branch.place, branch.move)) is not None
        )

    def _slot(
        self, place: Place, number: int, move: Move, findings: tuple[Finding, ...] = ()
    ) -> Slot:
        (seed_id, slot), stack = place, self._stacks[place]
        seed = self._seeds[IdeaId(seed_id)]
        return Slot(
            seed=seed,
            slot=slot,
            round=number,
            move=move,
            cutoff_date=seed.cutoff_date or self._cutoff_date,
            stack=tuple(stack),
            findings=findings,
            taken=tuple(self._taken(seed_id, slot)),
        )

    def _taken(self, seed_id: str, slot: int) -> Iterable[str]:
        for (other_seed, other_slot), stack in self._stacks.items():
            if other_seed == seed_id and other_slot != slot and stack:
                yield from stack[-1].keywords


def landed_round(warehouse: Warehouse, run_id: RunId, round_id: str) -> IdeationRound:
    found = landed_unit(warehouse, kind_of(IDEATIONS), run_id, round_id)
    return found if found is not None else IdeationRound(round_id=round_id)
