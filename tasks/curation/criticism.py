"""Extraction of criticism from reviews: verbatim sentences, then statements made from them.

Sentences must occur in their review, and statements must cite sentences (ScholarEval, D.2).
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
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
from tasks.curation.steps import (
    CURATE_CRITICISM,
    CURATE_STATEMENTS,
    About,
    CriticismInput,
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
"""A line, or the beginning of one, that labels the text after it."""
_FEWEST_CHARACTERS, _FEWEST_WORDS = 12, 3
_QUOTE_MARKS = " \"'“”…"


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a review, in characters of the original text.

    Attributes:
        heading: heading above it; empty if there is none.
    """

    start: int
    end: int
    heading: str = ""


@dataclass(frozen=True)
class ReviewText:
    """A review's text with a cached index."""

    text: str

    def place_of(self, quote: str) -> Place | None:
        """Return the place of a quotation, widened to whole sentences; None if it does not occur.

        White space is ignored. Part of a sentence could mean the opposite of the whole.
        """
        quotation = " ".join(quote.split())
        span = self._find(quotation) or self._find(quotation.strip(_QUOTE_MARKS))
        if span is None:
            return None
        start, end = span
        covered_sentences = [each for each in self._sentences if each[0] < end and each[1] > start]
        if covered_sentences:
            start, end = covered_sentences[0][0], covered_sentences[-1][1]
        first, last = self._flat[1][start], self._flat[1][end - 1] + 1
        labels_before = bisect_right([place for place, _ in self._labels], first)
        heading = self._labels[labels_before - 1][1] if labels_before else ""
        return Place(first, last, heading)

    def _find(self, quotation: str) -> tuple[int, int] | None:
        """Return the span of a quotation in the flat text; neither end may cut a word."""
        if len(quotation) < _FEWEST_CHARACTERS or len(quotation.split()) < _FEWEST_WORDS:
            return None
        flat = self._flat[0]
        start = flat.find(quotation)
        while start >= 0:
            end = start + len(quotation)
            cut_before = start > 0 and flat[start - 1].isalnum() and flat[start].isalnum()
            cut_behind = end < len(flat) and flat[end].isalnum() and flat[end - 1].isalnum()
            if not (cut_before or cut_behind):
                return start, end
            start = flat.find(quotation, end)
        return None

    @cached_property
    def _flat(self) -> tuple[str, list[int]]:
        """Return the text with single spaces, and the original offset of each character."""
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
        """Return the span of each sentence in the flat text, without its label."""
        spans: list[tuple[int, int]] = []
        flat, after = self._flat[0], 0
        for sentence in sentences(self.text):
            start = flat.find(sentence, after)
            if start < 0:
                continue
            after = start + len(sentence)
            label = _LABEL.match(sentence)
            shift = label.end() if label is not None and label.end() < len(sentence) else 0
            spans.append((start + shift, after))
        return spans

    @cached_property
    def _labels(self) -> list[tuple[int, str]]:
        return [(match.start(), match[1].capitalize()) for match in _LABEL.finditer(self.text)]


STAGE = "curation"
MOST_SENTENCES = 120
"""Sentences per prompt, over all reviews of a paper."""
_REASONS: dict[About | None, Reason | None] = {
    About.IDEA: None,
    About.WRITING: Reason.ABOUT_WRITING,
    About.RESULTS: Reason.ABOUT_RESULTS,
}
"""Reasons to leave out a sentence, by topic."""
_SAME_FROM_OVERLAP = 0.85
"""Word overlap from which two statements count as the same."""


@dataclass(frozen=True, slots=True)
class Criticism:
    """Sentences of the reviews about the idea, with headings, and dropped sentences.

    Attributes:
        unanswered: failed calls, one per review.
    """

    sentences: tuple[CuratedSentence, ...] = ()
    headings: Mapping[str, str] = field(default_factory=dict)
    drops: tuple[CuratedDrop, ...] = ()
    unanswered: tuple[Unscored, ...] = ()
    failures: tuple[Failure, ...] = ()


async def find_criticism(idea: str, reviews: Sequence[CuratedReview], engine: Engine) -> Criticism:
    """Extract criticism from each usable review; sentences not in the review are dropped."""
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
    failed_reviews: list[tuple[str, Unscored]] = []
    for review, outcome in zip(usable, outcomes, strict=True):
        if isinstance(outcome, Unscored):
            failed_reviews.append((review.review_id, outcome))
            continue
        review_text = ReviewText(review.text)
        places: dict[int, Place] = {}
        for each in outcome.value.sentences:
            place = review_text.place_of(each.quote)
            reason: Reason | None = Reason.PASSAGE_NOT_FOUND
            if place is not None:
                reason = _REASONS.get(each.about, Reason.NOT_ABOUT_THE_IDEA)
                if TO_THE_REVIEWER.search(review.text[place.start : place.end]):
                    reason = Reason.AN_INSTRUCTION
                elif reason is None and any(
                    one.start < place.end and place.start < one.end for one in places.values()
                ):
                    reason = Reason.REPEATED
            if reason is not None:
                drops.append(_drop(DroppedPart.SENTENCE, review.review_id, each.quote, reason))
            elif place is not None:
                places[place.start] = place
        for _, place in sorted(places.items()):
            name = f"s{len(sentences) + 1}"
            text = review.text[place.start : place.end]
            headings[name] = place.heading
            sentences.append(
                CuratedSentence(
                    sentence_id=name, review_id=review.review_id, start=place.start, text=text
                )
            )
    return Criticism(
        sentences=tuple(sentences),
        headings=headings,
        drops=tuple(drops),
        unanswered=tuple(each for _, each in failed_reviews),
        failures=tuple(
            failure
            for name, each in failed_reviews
            for failure in call_failures([each], STAGE, name)
        ),
    )


@dataclass(frozen=True, slots=True)
class StatementsOfIdea:
    """Statements and drops, or the reason why there are none."""

    statements: tuple[CuratedStatement, ...] = ()
    drops: tuple[CuratedDrop, ...] = ()
    unscored: Unscored | None = None


async def extract_statements(
    idea: str, criticism: Criticism, outcomes: Outcomes, engine: Engine
) -> StatementsOfIdea:
    """Extract statements; the same statement from several sentences is kept once, citing all."""
    prompt_sentences = tuple(
        ShownSentence(
            key=each.sentence_id,
            heading=criticism.headings[each.sentence_id],
            text=" ".join(each.text.split()),
        )
        for each in criticism.sentences[:MOST_SENTENCES]
    )
    answer = await engine.run(
        CURATE_STATEMENTS, StatementsInput(idea=idea, sentences=prompt_sentences)
    )
    if isinstance(answer, Unscored):
        return StatementsOfIdea(unscored=answer)
    sentence_texts = {" ".join(each.text.split()) for each in criticism.sentences}
    statements: list[CuratedStatement] = []
    drops: list[CuratedDrop] = []
    for entry in answer.value.statements:
        statement = _statement(
            entry,
            [each.key for each in prompt_sentences],
            sentence_texts,
            outcomes,
            answer.provenance,
        )
        if isinstance(statement, CuratedDrop):
            drops.append(statement)
            continue
        for place, first in enumerate(statements):
            overlap = overlap_0_to_1(first.statement, statement.statement)
            if first.type is statement.type and overlap >= _SAME_FROM_OVERLAP:
                ids = dict.fromkeys((*first.sentence_ids, *statement.sentence_ids))
                severity = min(first.severity, statement.severity)  # "major" sorts before "minor"
                statements[place] = replace(first, severity=severity, sentence_ids=tuple(ids))
                drops.append(_drop(DroppedPart.STATEMENT, "", statement.statement, Reason.REPEATED))
                break
        else:
            statements.append(statement)
    order = {each.key: place for place, each in enumerate(prompt_sentences)}
    statements.sort(key=lambda each: order[each.sentence_ids[0]])
    return StatementsOfIdea(
        tuple(
            replace(each, statement_id=f"t{number}")
            for number, each in enumerate(statements, start=1)
        ),
        tuple(drops),
    )


def _statement(
    entry: GivenStatement,
    keys: Sequence[str],
    sentence_texts: set[str],
    outcomes: Outcomes,
    provenance: Provenance,
) -> CuratedStatement | CuratedDrop:
    text = " ".join(entry.statement.split())
    cited_keys = {key.casefold() for key in entry.sentences}
    sentence_ids = tuple(key for key in keys if key in cited_keys)
    if not text or entry.type is None or entry.axis is None or entry.severity is None:
        return _drop(
            DroppedPart.STATEMENT,
            "",
            text,
            Reason.REPLY_UNPARSABLE,
            "its text or its kind is missing",
        )
    if not sentence_ids:
        return _drop(DroppedPart.STATEMENT, "", text, Reason.WITHOUT_SOURCE)
    leak = outcomes.leak(text)
    if leak is not None:
        return _drop(DroppedPart.STATEMENT, "", text, Reason.TELLS_RESULTS, leak.detail)
    return CuratedStatement(
        statement_id="t0",
        statement=text,
        type=entry.type,
        axis=entry.axis,
        severity=entry.severity,
        sentence_ids=sentence_ids,
        is_verbatim=text in sentence_texts,
        provenance=provenance,
    )


def _drop(
    left_out_of: DroppedPart, subject: str, text: str, reason: Reason, detail: str = ""
) -> CuratedDrop:
    return CuratedDrop(
        left_out_of=left_out_of,
        subject=subject,
        text=text.encode("utf-8", "replace").decode(),
        reason=reason,
        detail=detail or reason.sentence,
    )
