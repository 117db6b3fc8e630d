"""From reviews to verbatim sentences about the idea, and from these to statements (ScholarEval,
appendix D.2): every sentence is searched for in its review, every statement leads back to some.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from schemas.base import replace
from schemas.failure import Failure, call_failures
from schemas.outcome import Provenance, Unscored
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, MULTILINE, bounded
from schemas.works.curation import (
    CuratedDrop,
    CuratedReview,
    CuratedSentence,
    CuratedStatement,
    DroppedPart,
)
from tasks.curation.leaks import Outcomes
from tasks.curation.steps.curate_criticism import (
    CURATE_CRITICISM,
    About,
    CopiedSentence,
    CriticismInput,
)
from tasks.curation.steps.curate_statements import (
    CURATE_STATEMENTS,
    GivenStatement,
    ShownSentence,
    StatementsInput,
)
from tasks.judging.packing import first_alone
from tasks.judging.step import Engine
from tasks.text.signs import TO_THE_REVIEWER
from tasks.text.words import overlap_0_to_1, sentences

_LABEL = bounded(
    r"^[ \t]{0,9}(?:#{1,6}[ \t]{1,9}|[-*+•][ \t]{0,9}|\d{1,2}[.)][ \t]{1,9})?(?:\*\*|__)?"
    r"(summary|paper summary|strengths?(?: and weaknesses)?|weakness(?:es)?|pros|cons"
    r"|questions?(?: for (?:the )?authors)?|limitations?|general discussion|detailed comments"
    r"|(?:major|minor|main) (?:comments?|concerns?|issues?|weaknesses|points?)"
    r"|(?:other |additional )?comments?|concerns?|suggestions?|contributions?|novelty|soundness"
    r"|significance|originality|clarity|presentation)"
    r"(?:\*\*|__)?[ \t]{0,9}(?::|$)(?:\*\*|__)?[ \t]{0,9}",
    IGNORECASE | MULTILINE,
)
"""A line, or the beginning of one, that says what follows is about."""
_FEWEST_CHARACTERS, _FEWEST_WORDS = 12, 3
_AROUND = " \"'“”…"


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a review. Attributes are characters of the review as it was given.

    Attributes:
        heading: that it stands under; empty: none.
    """

    start: int
    end: int
    heading: str = ""


@dataclass(frozen=True)
class ReviewText:
    """A review's text, looked through once."""

    text: str

    def place_of(self, quote: str) -> Place | None:
        """Return where the quotation stands, widened to whole sentences; None: it does not stand
        there.

        White space makes no difference, everything else does. A part of a sentence could say the
        opposite of the whole.
        """
        wanted = " ".join(quote.split())
        found = self._found(wanted)
        if found is None:
            found = self._found(wanted.strip(_AROUND))
        if found is None:
            return None
        start, end = found
        own = [each for each in self._sentences if each[0] < end and each[1] > start]
        if own:
            start, end = own[0][0], own[-1][1]
        first, last = self._flat[1][start], self._flat[1][end - 1] + 1
        return Place(first, last, self._heading_at(first))

    def _found(self, wanted: str) -> tuple[int, int] | None:
        if len(wanted) < _FEWEST_CHARACTERS or len(wanted.split()) < _FEWEST_WORDS:
            return None
        flat = self._flat[0]
        start = flat.find(wanted)
        while start >= 0:
            end = start + len(wanted)
            if _is_whole(flat, start, end):
                return start, end
            start = flat.find(wanted, end)
        return None

    @cached_property
    def _flat(self) -> tuple[str, list[int]]:
        """The text with its white space made single, and where each character of it stands."""
        characters: list[str] = []
        offsets: list[int] = []
        for place, character in enumerate(self.text):
            if not character.isspace():
                characters.append(character)
                offsets.append(place)
            elif characters and characters[-1] != " ":
                characters.append(" ")
                offsets.append(place)
        return "".join(characters), offsets

    @cached_property
    def _sentences(self) -> list[tuple[int, int]]:
        return list(self._spans())

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Of each sentence in the flat text, without the label that it begins with."""
        flat, after = self._flat[0], 0
        for sentence in sentences(self.text):
            start = flat.find(sentence, after)
            if start < 0:
                continue
            after = start + len(sentence)
            label = _LABEL.match(sentence)
            shift = label.end() if label is not None and label.end() < len(sentence) else 0
            yield start + shift, after

    @cached_property
    def _labels(self) -> list[tuple[int, str]]:
        return [(found.start(), found[1].capitalize()) for found in _LABEL.finditer(self.text)]

    def _heading_at(self, place: int) -> str:
        before = bisect_right([start for start, _ in self._labels], place)
        return self._labels[before - 1][1] if before else ""


def _is_whole(flat: str, start: int, end: int) -> bool:
    """Return whether no word is cut at either end."""
    cut_before = start > 0 and flat[start - 1].isalnum() and flat[start].isalnum()
    cut_behind = end < len(flat) and flat[end].isalnum() and flat[end - 1].isalnum()
    return not (cut_before or cut_behind)


STAGE = "curation"
MOST_SENTENCES = 120
"""Of all reviews of one paper together, for one question."""
_SAME = 0.85
"""Overlap of words from which two statements are the same."""


@dataclass(frozen=True, slots=True)
class Found:
    """Sentences of the reviews about the idea, where each stands, and what was left out.

    Attributes:
        unanswered: of reviews that could not be asked about.
    """

    sentences: tuple[CuratedSentence, ...] = ()
    headings: Mapping[str, str] = field(default_factory=dict)
    drops: tuple[CuratedDrop, ...] = ()
    unanswered: tuple[Unscored, ...] = ()
    failures: tuple[Failure, ...] = ()


async def find_criticism(idea: str, reviews: Sequence[CuratedReview], engine: Engine) -> Found:
    """Ask about each review that can be used; a sentence that does not stand in it is left out."""
    usable = [review for review in reviews if review.unused_reason is None]
    outcomes = await first_alone(
        [
            partial(engine.run, CURATE_CRITICISM, CriticismInput(idea=idea, review=review.text))
            for review in usable
        ]
    )
    sentences: list[CuratedSentence] = []
    headings: dict[str, str] = {}
    drops: list[CuratedDrop] = []
    lost: list[tuple[str, Unscored]] = []
    for review, outcome in zip(usable, outcomes, strict=True):
        if isinstance(outcome, Unscored):
            lost.append((review.review_id, outcome))
            continue
        taken, left_out = _taken(review, outcome.value.sentences)
        drops += left_out
        for place in taken:
            name = f"s{len(sentences) + 1}"
            text = review.text[place.start : place.end]
            headings[name] = place.heading
            sentences.append(
                CuratedSentence(
                    sentence_id=name, review_id=review.review_id, start=place.start, text=text
                )
            )
    return Found(
        sentences=tuple(sentences),
        headings=headings,
        drops=tuple(drops),
        unanswered=tuple(each for _, each in lost),
        failures=tuple(
            failure for name, each in lost for failure in call_failures([each], STAGE, name)
        ),
    )


def _taken(
    review: CuratedReview, copied: Sequence[CopiedSentence]
) -> tuple[list[Place], list[CuratedDrop]]:
    """Return where the sentences about the idea stand, in the review's order, and what is left out."""
    text = ReviewText(review.text)
    places: dict[int, Place] = {}
    drops = []
    for each in copied:
        place = text.place_of(each.quote)
        reason = _left_out(each, place, review.text)
        if reason is None and place is not None:
            repeated = any(
                one.start < place.end and place.start < one.end for one in places.values()
            )
            reason = Reason.REPEATED if repeated else None
        if reason is None and place is not None:
            places[place.start] = place
        elif reason is not None:
            drops.append(_dropped(DroppedPart.SENTENCE, review.review_id, each.quote, reason))
    return [places[start] for start in sorted(places)], drops


def _left_out(copied: CopiedSentence, place: Place | None, review: str) -> Reason | None:
    if place is None:
        return Reason.PASSAGE_NOT_FOUND
    if TO_THE_REVIEWER.search(review[place.start : place.end]):
        return Reason.AN_INSTRUCTION
    match copied.about:
        case About.IDEA:
            return None
        case About.WRITING:
            return Reason.ABOUT_WRITING
        case About.RESULTS:
            return Reason.ABOUT_RESULTS
        case _:
            return Reason.NOT_ABOUT_THE_IDEA


@dataclass(frozen=True, slots=True)
class Stated:
    """Statements made of sentences, and what was left out; or why there are none."""

    statements: tuple[CuratedStatement, ...] = ()
    drops: tuple[CuratedDrop, ...] = ()
    unscored: Unscored | None = None


async def state(idea: str, found: Found, outcomes: Outcomes, engine: Engine) -> Stated:
    """Ask for statements; those that say the same become one, which leads back to all sentences."""
    shown = tuple(
        ShownSentence(
            key=each.sentence_id,
            heading=found.headings[each.sentence_id],
            text=" ".join(each.text.split()),
        )
        for each in found.sentences[:MOST_SENTENCES]
    )
    answer = await engine.run(CURATE_STATEMENTS, StatementsInput(idea=idea, sentences=shown))
    if isinstance(answer, Unscored):
        return Stated(unscored=answer)
    own = {" ".join(each.text.split()) for each in found.sentences}
    statements: list[CuratedStatement] = []
    drops: list[CuratedDrop] = []
    for given in answer.value.statements:
        made = _statement(given, [each.key for each in shown], own, outcomes, answer.provenance)
        if isinstance(made, CuratedDrop):
            drops.append(made)
            continue
        same = _same_as(made, statements)
        if same is None:
            statements.append(made)
            continue
        statements[same] = _joined(statements[same], made)
        drops.append(_dropped(DroppedPart.STATEMENT, "", made.statement, Reason.REPEATED))
    order = {each.key: place for place, each in enumerate(shown)}
    statements.sort(key=lambda each: order[each.sentence_ids[0]])
    return Stated(
        tuple(
            replace(each, statement_id=f"t{number}")
            for number, each in enumerate(statements, start=1)
        ),
        tuple(drops),
    )


def _statement(
    given: GivenStatement,
    keys: Sequence[str],
    own: set[str],
    outcomes: Outcomes,
    provenance: Provenance,
) -> CuratedStatement | CuratedDrop:
    text = " ".join(given.statement.split())
    named = {key.casefold() for key in given.sentences}
    sentence_ids = tuple(key for key in keys if key in named)
    if not text or given.type is None or given.axis is None or given.severity is None:
        return _dropped(
            DroppedPart.STATEMENT,
            "",
            text,
            Reason.REPLY_UNPARSABLE,
            "it lacks its text or its kind",
        )
    if not sentence_ids:
        return _dropped(DroppedPart.STATEMENT, "", text, Reason.WITHOUT_SOURCE)
    leak = outcomes.leak(text)
    if leak is not None:
        return _dropped(DroppedPart.STATEMENT, "", text, Reason.TELLS_RESULTS, leak.detail)
    return CuratedStatement(
        statement_id="t0",
        statement=text,
        type=given.type,
        axis=given.axis,
        severity=given.severity,
        sentence_ids=sentence_ids,
        is_verbatim=text in own,
        provenance=provenance,
    )


def _same_as(made: CuratedStatement, statements: Sequence[CuratedStatement]) -> int | None:
    """The place of a statement that says the same; one that judges otherwise does not."""
    return next(
        (
            place
            for place, each in enumerate(statements)
            if each.type is made.type and overlap_0_to_1(each.statement, made.statement) >= _SAME
        ),
        None,
    )


def _joined(first: CuratedStatement, other: CuratedStatement) -> CuratedStatement:
    """The first in its words, with the sentences of both, and major if one of them is."""
    named = dict.fromkeys((*first.sentence_ids, *other.sentence_ids))
    return replace(
        first,
        severity=min(first.severity, other.severity),  # "major" stands before "minor"
        sentence_ids=tuple(named),
    )


def _dropped(
    left_out_of: DroppedPart, subject: str, text: str, reason: Reason, detail: str = ""
) -> CuratedDrop:
    return CuratedDrop(
        left_out_of=left_out_of,
        subject=subject,
        text=text.encode("utf-8", "replace").decode(),
        reason=reason,
        detail=detail or reason.sentence,
    )
