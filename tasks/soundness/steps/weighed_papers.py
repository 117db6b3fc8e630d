"""The papers of a review: what is shown of each, how close it is to the method, and its outcomes
for and against.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from schemas.base import Noun
from tasks.soundness.steps.closeness import (
    Closeness,
    Fingerprint,
    closeness,
    fingerprint,
    fingerprint_of_method,
)
from tasks.soundness.steps.wording import own_part, quotable
from tasks.text.signs import Reading, read_sentence
from tasks.text.words import sentences


class EvidenceShown(Noun):
    """What one relevant paper has to say about the method under review."""

    key: str
    title: str
    published: str = Field(description="YYYY-MM, YYYY, or `undated`.")
    read_from: str = Field(description="`full text` or `abstract`.")
    relevance: int | None = Field(
        default=None, ge=0, le=3, description="1 distant, 2 related, 3 close; None: not graded."
    )
    citation_count: int | None = Field(ge=0)
    method: str
    results: str
    context: str


_FULL_SHARE = 0.45
_ABSTRACT_DISCOUNT = 0.85
_NEAR_WORDS, _VERY_NEAR_WORDS = 3, 6


@dataclass(frozen=True, slots=True)
class WeighedPaper:
    """One paper: its best outcome for the method, its best outcome against it, and how much either
    counts.
    """

    key: str
    published: str
    closeness_0_to_1: float
    favourable: Reading | None
    unfavourable: Reading | None


def weigh_papers(method_text: str, evidence: Sequence[EvidenceShown]) -> list[WeighedPaper]:
    """The papers that share wording with the method, closest first; ties in the order shown."""
    method, own = fingerprint_of_method(method_text), fingerprint(own_part(method_text))
    found = [paper for item in evidence if (paper := _weighed(item, method, own)) is not None]
    return sorted(found, key=lambda paper: -paper.closeness_0_to_1)


def _weighed(item: EvidenceShown, method: Fingerprint, own: Fingerprint) -> WeighedPaper | None:
    text = "\n".join((item.title, item.method, item.results, item.context))
    paper = fingerprint(text)
    whole = closeness(method, paper)
    if not (whole.informative_word_count or whole.pair_count):
        return None
    readings = [
        read_sentence(sentence) for sentence in sentences(item.results) if quotable(sentence)
    ]
    near = {
        reading.sentence: closeness(method, fingerprint(reading.sentence)).share_0_to_1
        for reading in readings
    }
    readings.sort(
        key=lambda reading: (
            -(near[reading.sentence] + 0.1 * reading.figures + 0.1 * reading.finding)
        )
    )
    alike = closeness(own, paper)
    favourable = [
        reading
        for reading in readings
        if reading.sign == "positive" and reading.finding and not reading.of_others
    ]
    unfavourable = [
        reading for reading in readings if reading.sign == "negative" and _limits(reading, method)
    ]
    discount = 1.0 if item.read_from == "full text" else _ABSTRACT_DISCOUNT
    return WeighedPaper(
        key=item.key,
        published=item.published,
        closeness_0_to_1=round(min(whole.share_0_to_1 / _FULL_SHARE, 1.0) * discount, 3),
        favourable=next((reading for reading in favourable if _bears(reading, own, alike)), None),
        unfavourable=unfavourable[0] if unfavourable else None,
    )


def _bears(reading: Reading, own: Fingerprint, alike: Closeness) -> bool:
    """Whether a success speaks for the method itself, and not merely for something else in a paper
    on the idea's subject.

    Either the sentence speaks of the method's own things, or the paper does so much of the same
    that its outcome is the method's.
    """
    told = closeness(own, fingerprint(reading.sentence))
    near = alike.informative_word_count >= _NEAR_WORDS or alike.pair_count >= 1
    very_near = alike.informative_word_count >= _VERY_NEAR_WORDS or (near and alike.pair_count >= 1)
    return (
        told.informative_word_count >= 2 or (told.informative_word_count == 1 and near) or very_near
    )


def _limits(reading: Reading, method: Fingerprint) -> bool:
    """A limit of other work bears on the method only where it speaks of the same things."""
    needed = 2 if reading.of_others else 1
    return closeness(method, fingerprint(reading.sentence)).informative_word_count >= needed
