"""Reviewers of the whole, side by side over the same notes and the same evidence, each with one
aspect (TIMAR, section 3.6).
"""

import asyncio
from collections.abc import Sequence

from schemas.outcome import Outcome, Scored
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.judging.step import Engine
from tasks.manuscripts.candidates import LEAST_PERCENT, Candidate
from tasks.manuscripts.pool import Pool, strong_claims
from tasks.manuscripts.sections import passages_near, place_of
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.review_aspect import REVIEW_ASPECT, Aspect, AspectInput, AspectReply
from tasks.text.words import shorten_words

CANDIDATES_PER_ASPECT = 2
ABSTRACT_WORDS = 500
NOTES_WORDS = 2_000
"""Of all sections together."""
PASSAGE_SENTENCES = 40
WORKS_SHOWN = 12
"""Of the pool, nearest to the abstract and the claims."""
_SPEAKS_OF = {
    Aspect.RIGOR: (
        "method experiment control baseline sample size test significance random seed replicate"
        " proof assumption lemma bound uncertainty interval error bias exclusion ablation"
    ),
    Aspect.CLARITY: (
        "define denote definition notation let where parameter setting data set available code"
        " procedure protocol implementation measured computed as follows"
    ),
}
"""The others look for what the abstract, or else the beginning, speaks of."""

Asked = tuple[Aspect, Outcome[AspectReply]]


async def review_aspects(
    title: str,
    reading: Reading,
    notes: Sequence[tuple[str, str]],
    raised: Sequence[str],
    pool: Pool,
    engine: Engine,
) -> list[Asked]:
    """The answer of each reviewer. Without works nobody judges whether the manuscript is new.

    Args:
        notes: of each section that was read, behind its place.
    """
    aspects = [each for each in Aspect if each is not Aspect.NOVELTY or pool.papers]
    abstract = shorten_words(reading.abstract, ABSTRACT_WORDS)[0]
    beginning = abstract or shorten_words(f"{title} {reading.text}", ABSTRACT_WORDS)[0]
    claimed = " ".join([beginning, *strong_claims(reading)])
    shown = pool.about(claimed, WORKS_SHOWN)
    told = "\n\n".join(f"[{place}] {noted}" for place, noted in notes if noted)
    questions = [
        AspectInput(
            aspect=aspect,
            title=title,
            abstract=abstract,
            notes=shorten_words(told, NOTES_WORDS)[0],
            passages=passages_near(_SPEAKS_OF.get(aspect, claimed), reading, PASSAGE_SENTENCES),
            works=pool.worded(shown),
            raised=tuple(raised),
            least_percent=LEAST_PERCENT,
            maximum_candidates=CANDIDATES_PER_ASPECT,
        )
        for aspect in aspects
    ]
    outcomes = await asyncio.gather(*(engine.run(REVIEW_ASPECT, each) for each in questions))
    return [
        (aspect, _settled(outcome, shown))
        for aspect, outcome in zip(aspects, outcomes, strict=True)
    ]


def _settled(outcome: Outcome[AspectReply], shown: Shown) -> Outcome[AspectReply]:
    """With references in place of keys, and without those that nobody was shown."""
    if not isinstance(outcome, Scored) or not len(shown):
        return outcome
    reply = outcome.value
    return Scored(
        reply.model_copy(
            update={
                "assessment": settle(reply.assessment, shown).markdown,
                "candidates": [
                    one.model_copy(update={"explanation": settle(one.explanation, shown).markdown})
                    for one in reply.candidates
                ],
            }
        ),
        outcome.provenance,
    )


def raised_by(asked: Sequence[Asked], reading: Reading) -> list[Candidate]:
    """What the reviewers object to, placed where the sentence stands that they quote."""
    return [
        Candidate(
            place_of(said.quote, reading, "the manuscript as a whole"), said, outcome.provenance
        )
        for _, outcome in asked
        if isinstance(outcome, Scored)
        for said in outcome.value.candidates[:CANDIDATES_PER_ASPECT]
    ]
