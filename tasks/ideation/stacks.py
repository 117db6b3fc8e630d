"""Stacks of a run: the versions of each idea with scores, findings and answers to them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, product, zip_longest
from textwrap import shorten

from schemas.idea import Idea
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.contribution import closest_overlaps
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
from warehouse.row_models import IdeaReview
from warehouse.units.kind import kind_of
from warehouse.units.unit_rows import landed_unit
from warehouse.warehouse import Warehouse

MOST_CLOSE_WORKS = 2
_METHOD_CHARACTERS = 160
_LEAST_SHARED_STEMS = 2


def findings_of(evaluation: IdeaEvaluation, limit: int) -> tuple[Finding, ...]:
    """Return at most `limit` findings about an idea.

    Order: failed experiments, grave concerns (up to half of `limit`, to leave room for the
    literature), contradictions and closest works in turn, the other grave concerns, open
    experiments, other concerns.
    """
    grave: list[FindingText] = []
    other_findings: list[FindingText] = []
    for each in standing(evaluation.concerns):
        is_grave = each.remaining_severity in (ConcernSeverity.FATAL, ConcernSeverity.MAJOR)
        text = " ".join(filter(None, (each.point, each.why, each.action)))
        (grave if is_grave else other_findings).append((FindingKind.CONCERN, text))
    failed_findings: list[FindingText] = []
    # Undecided results, and gains no better than the strongest baseline.
    left_open: list[FindingText] = []
    for result in evaluation.experimental_results:
        if not result.is_beyond_the_known:
            is_failed = result.finding is experiment.Finding.NOT_SUPPORTED
            texts = failed_findings if is_failed else left_open
            texts.append((FindingKind.EXPERIMENT, result.in_words))
    of_literature = zip_longest(_contradictions(evaluation), _closest_works(evaluation))
    first = (limit + 1) // 2
    in_order = (
        *failed_findings,
        *grave[:first],
        *filter(None, chain.from_iterable(of_literature)),
        *grave[first:],
        *left_open,
        *other_findings,
    )[:limit]
    return tuple(
        Finding(key=f"F{number}", kind=kind, text=text)
        for number, (kind, text) in enumerate(in_order, start=1)
    )


FindingText = tuple[FindingKind, str]


def _contradictions(evaluation: IdeaEvaluation) -> Iterator[FindingText]:
    """Yield contradictions that cite a paper: others are only the reviewer's doubt."""
    if evaluation.soundness is None:
        return
    names = {each.method_id: each.text for each in evaluation.soundness.methods}
    citations = [each for each in evaluation.citations if each.field == "contradictions"]
    cited_ids = {each.paper_id for each in citations}
    cited_papers = [paper for paper in evaluation.papers if paper.paper_id in cited_ids]
    for review in evaluation.soundness.reviews:
        text = review.contradictions.strip()
        if text and review.method_id in {each.subject for each in citations}:
            name = shorten(names.get(review.method_id, ""), _METHOD_CHARACTERS, placeholder=" …")
            for paper in cited_papers:  # authors and years stay, links do not
                text = text.replace(reference(paper), f"({label(paper)})")
            yield FindingKind.CONTRADICTION, f"Of the method “{name}”: {text}"


def _closest_works(evaluation: IdeaEvaluation) -> Iterator[FindingText]:
    if evaluation.contribution is None:
        return
    papers = {paper.paper_id: paper for paper in evaluation.papers}
    for comparison in closest_overlaps(evaluation.contribution.comparisons)[:MOST_CLOSE_WORKS]:
        paper = papers.get(comparison.paper_id)
        title = paper.title if paper is not None else comparison.paper_id
        parts = (
            f"{title}. Along {comparison.dimension}: {comparison.comparison}",
            f"In its own words: “{comparison.quote}”" if comparison.quote else "",
            f"What remains new: {comparison.remains}" if comparison.remains else "",
        )
        yield FindingKind.CLOSEST_WORK, " ".join(filter(None, parts))


def check_answers(
    version_id: IdeaId,
    answers: Iterable[ToldAnswer],
    findings: Sequence[Finding],
    text: str,
    before: str,
) -> tuple[FindingAnswer, ...]:
    """Return the last answer to each finding, checked.

    An answer holds if the finding exists, the quote is in the new text and not in the previous
    one, and quote and finding share two specific words.
    """
    by_key = {finding.key: finding for finding in findings}
    checked_answers = []
    for answer in {each.finding: each for each in answers}.values():
        finding, detail = by_key.get(answer.finding), ""
        finding_text = finding.text if finding is not None else ""
        shared_stems = specific_stems(answer.quote) & specific_stems(finding_text)
        if finding is None:
            detail = "there is no finding with that key"
        elif not stands_in(answer.quote, text):
            detail = "the quote is not in the new text"
        elif stands_in(answer.quote, before):
            detail = "the quote was already in the previous version"
        elif len(shared_stems) < _LEAST_SHARED_STEMS:
            detail = "the quote and the finding share too few specific words"
        checked_answers.append(
            FindingAnswer(
                version_id=version_id,
                finding_key=answer.finding,
                kind=finding.kind if finding is not None else None,
                finding=finding_text,
                quote=answer.quote,
                answered=not detail,
                detail=detail,
            )
        )
    return tuple(checked_answers)


def next_move(
    keywords: Sequence[str], findings: Sequence[Finding], maximum_keywords: int
) -> Move | None:
    """Return the next move, or None if there are no findings.

    An idea with few concepts grows first. Close prior work as the gravest finding calls for
    another concept: added while there is room, else replacing one. Other findings call for a
    revision of the proposal.
    """
    if not findings:
        return None
    if len(keywords) < maximum_keywords or findings[0].kind is FindingKind.CLOSEST_WORK:
        return next_concept(keywords, maximum_keywords)
    return Move.REVISE


def next_concept(keywords: Sequence[str], maximum_keywords: int) -> Move:
    """Add a concept while there is room, else replace one."""
    return Move.ADD_KEYWORD if len(keywords) < maximum_keywords else Move.REPLACE_KEYWORD


Place = tuple[str, int]
"""An idea of a run: its seed, and its number among the ideas of that seed."""


@dataclass(frozen=True, slots=True)
class Branch:
    """An idea whose last version has findings, and the next move by rule."""

    place: Place
    version: IdeaVersion
    findings: tuple[Finding, ...]
    move: Move


class Stacks:
    """Stacks of versions, extended with `add` (versions) and `judge` (evaluations)."""

    def __init__(
        self, seeds: Iterable[Idea], parameters: IdeationParameters, cutoff_date: date | None
    ) -> None:
        """`cutoff_date` applies to seeds without one."""
        self._parameters, self._cutoff_date = parameters, cutoff_date
        self._seeds = {seed.idea_id: seed for seed in seeds}
        self._stacks: dict[Place, list[IdeaVersion]] = {
            place: [] for place in product(self._seeds, range(1, parameters.per_seed + 1))
        }
        self._reviews: dict[str, IdeaReview] = {}

    def add(self, versions: Iterable[IdeaVersion]) -> None:
        """Append kept versions; a stack without one keeps its last version."""
        for version in versions:
            if version.kept:
                self._stacks[version.seed_id, version.slot].append(version)

    def judge(self, reviews: Iterable[IdeaReview]) -> None:
        self._reviews |= {str(review.evaluation.idea.idea_id): review for review in reviews}

    def branches(self) -> Iterator[Branch]:
        """Yield a branch for each idea whose last version was evaluated and has findings."""
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
        self, number: int, moves_by_people: Mapping[Place, Move | None] | None = None
    ) -> tuple[Slot, ...]:
        """Return the slots of a round.

        Args:
            moves_by_people: moves by place; other ideas continue by rule.
        """
        if number == 1:
            return tuple(self._slot(place, 1, Move.BEGIN) for place in self._stacks)
        return tuple(
            self._slot(branch.place, number, move, branch.findings)
            for branch in self.branches()
            if (move := (moves_by_people or {}).get(branch.place, branch.move)) is not None
        )

    def _slot(
        self, place: Place, number: int, move: Move, findings: tuple[Finding, ...] = ()
    ) -> Slot:
        (seed_id, slot), stack = place, self._stacks[place]
        seed = self._seeds[IdeaId(seed_id)]
        other_slots = [
            other
            for (other_seed, other_slot), other in self._stacks.items()
            if other_seed == seed_id and other_slot != slot and other
        ]
        return Slot(
            seed_id=seed.idea_id,
            slot=slot,
            round=number,
            move=move,
            cutoff_date=seed.cutoff_date or self._cutoff_date,
            stack=tuple(stack),
            findings=findings,
            taken=tuple(keyword for other in other_slots for keyword in other[-1].keywords),
        )


def landed_round(warehouse: Warehouse, run_id: RunId, round_id: str) -> IdeationRound:
    stored_round = landed_unit(warehouse, kind_of(IDEATIONS), run_id, round_id)
    return stored_round if stored_round is not None else IdeationRound(round_id=round_id)
