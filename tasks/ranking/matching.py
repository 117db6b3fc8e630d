"""Asks about one pair in one order, and makes a match of every verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from schemas.identifiers import content_hash
from schemas.judgement.committee import ReviewDimension
from schemas.judgement.ranking import Match
from schemas.outcome import Outcome, Unscored
from schemas.reasons import Reason, may_pass
from schemas.text.patterns import IGNORECASE, bounded
from tasks.citations.keys import Shown, show
from tasks.citations.references import reference
from tasks.citations.settle import settle
from tasks.judging.step import Engine
from tasks.ranking.dossier import Dossier
from tasks.ranking.steps.compare_ideas import (
    COMPARE_IDEAS,
    IdeaReading,
    PairInput,
    PairReply,
    verdict_along,
)
from tasks.ranking.steps.measures import (
    NEWNESS,
    ShownCriterion,
    ShownEvidence,
    ShownIdea,
    ShownScore,
)
from tasks.text.words import sentences, words


def covariates(first: str, second: str) -> dict[str, Any]:
    """Columns of a match: length, length of sentences and claims to be new, first less second."""
    counted = _counted(first), _counted(second)
    return {name: counted[0][name] - counted[1][name] for name in counted[0]}


def _counted(text: str) -> dict[str, int | float]:
    found = [len(words(sentence)) for sentence in sentences(text)]
    return {
        "words_difference": sum(found),
        "sentence_words_difference": sum(found) / len(found) if found else 0.0,
        "novelty_claims_difference": sum(1 for _ in NEWNESS.finditer(text)),
    }


# Turns two dossiers into one question, with every paper of either under one key.


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the papers its keys stand for."""

    question: PairInput
    papers: Shown


def pair_question(
    first: Dossier,
    second: Dossier,
    dimensions: Sequence[ReviewDimension],
    *,
    show_scores: bool = False,
) -> Asked:
    """Idea A is `first`. A paper that both dossiers hold has one key."""
    papers = show([entry.paper for dossier in (first, second) for entry in dossier.evidence])
    question = PairInput(
        first=_shown(first, papers, "A"),
        second=_shown(second, papers, "B"),
        show_scores=show_scores,
        dimensions=tuple(
            ShownCriterion(name=one.name, question=one.question, scale=one.scale)
            for one in dimensions
        ),
    )
    return Asked(question, papers)


def _shown(dossier: Dossier, papers: Shown, letter: str) -> ShownIdea:
    references = _references(papers)

    def keyed(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(_keyed(text, references) for text in texts)

    return ShownIdea(
        title=dossier.title,
        text=_masked(dossier.text, dossier.title),
        summary=_keyed(dossier.summary, references),
        claims=dossier.claims,
        strengths=keyed(dossier.strengths),
        weaknesses=keyed(dossier.weaknesses),
        module_scores=tuple(
            ShownScore(name=one.module, score_0_to_10=one.score_0_to_10)
            for one in sorted(dossier.module_scores, key=lambda one: one.module)
            if one.score_0_to_10 is not None
        ),
        dimension_scores=tuple(
            ShownScore(name=name, score_0_to_10=mean)
            for name, mean in sorted(dossier.dimension_means.items())
        ),
        evidence=tuple(
            ShownEvidence(
                key=papers.key_of(entry.paper.paper_id),
                title=entry.paper.title,
                year=entry.paper.year,
                idea=letter,
                bearing=entry.bearing,
                text=_keyed(entry.text, references),
            )
            for entry in dossier.evidence
        ),
    )


_ADDRESS = bounded(r"\]\(https?://[^\s()]{1,2000}\)")
_IDENTIFYING = bounded(
    r"\bhttps?://[^\s()<>]{1,2000}|\bdoi:\s{0,3}10\.\S{1,200}|\barxiv:\s{0,3}\S{1,40}", IGNORECASE
)

_TELLING_TITLE_WORDS = 4


def _masked(text: str, title: str) -> str:
    """Return `text` without the title and the addresses by which a judge might recall its paper."""
    # A title of a few words is a name that the text needs, and identifies no paper.
    is_telling = len(title.split()) >= _TELLING_TITLE_WORDS
    named = text.replace(title, "this idea") if is_telling else text
    return _IDENTIFYING.sub("[address]", named)


def _references(papers: Shown) -> list[tuple[str, str]]:
    """(rendered reference, key), the longest first; papers that render alike cannot be told apart
    and keep no entry.
    """
    rendered: dict[str, list[str]] = {}
    for key, paper in papers:
        rendered.setdefault(reference(paper), []).append(key)
    unambiguous = [(text, keys[0]) for text, keys in rendered.items() if len(keys) == 1]
    return sorted(unambiguous, key=lambda pair: -len(pair[0]))


def _keyed(text: str, references: Sequence[tuple[str, str]]) -> str:
    """`text` with rendered citations of shown papers as keys; those of papers that are not shown
    stay as text, without their addresses.
    """
    for rendered, key in references:
        text = text.replace(rendered, f"[{key}]")
    return _ADDRESS.sub("]", text)


def match_id(
    first: Dossier,
    second: Dossier,
    dimension: ReviewDimension,
    judge: str,
    seed: int,
    *,
    show_scores: bool = False,
) -> str:
    """Names a match after all that could change its verdict.

    That is what is shown and asked, in which order, the prompt, the engine and the seed. A match
    asked again has the same name: of several with one name the newest holds.
    """
    shown = _shown_hash(
        first.idea_id, first.fingerprint, second.idea_id, second.fingerprint, str(show_scores)
    )
    return content_hash(
        shown, dimension.name, dimension.question, dimension.scale, judge, str(seed), length=32
    )


@lru_cache(maxsize=4096)
def _shown_hash(*shown: str) -> str:
    return content_hash(
        COMPARE_IDEAS.name, str(COMPARE_IDEAS.version), COMPARE_IDEAS.prompt_sha256, *shown
    )


def stands(match: Match) -> bool:
    """Return whether a stored match need not be asked again."""
    return match.winner is not None or not may_pass(match.unscored_reason)


async def ask(
    first: Dossier,
    second: Dossier,
    dimensions: Sequence[ReviewDimension],
    engine: Engine,
    *,
    group: str,
    round_number: int,
    seed: int,
    show_scores: bool = False,
) -> tuple[Match, ...]:
    """One call about `first` shown before `second`: a match per dimension, scored or not.

    Never raises for what the engine does.
    """
    asked = pair_question(first, second, dimensions, show_scores=show_scores)
    outcome = await engine.run(COMPARE_IDEAS, asked.question)
    judged_at = datetime.now(UTC)
    return tuple(
        Match(
            match_id=match_id(first, second, dimension, engine.name, seed, show_scores=show_scores),
            group=group,
            first_idea_id=first.idea_id,
            second_idea_id=second.idea_id,
            dimension=dimension.name,
            round=round_number,
            judge=engine.name,
            provenance=outcome.provenance,
            created_at=judged_at,
            **covariates(first.text, second.text),
            **_verdict(dimension.name, outcome, asked),
        )
        for dimension in dimensions
    )


def _verdict(dimension: str, outcome: Outcome[PairReply], asked: Asked) -> dict[str, Any]:
    """Fields of the match: who won and why, or why nobody did."""
    if isinstance(outcome, Unscored):
        return {
            "winner": None,
            "unscored_reason": outcome.reason,
            "unscored_detail": outcome.detail,
        }
    verdict = verdict_along(outcome.value, dimension)
    if verdict is None:
        return {
            "winner": None,
            "unscored_reason": Reason.REPLY_UNPARSABLE,
            "unscored_detail": f"the reply has no usable verdict along {dimension}",
        }
    return {
        "winner": verdict.winner,
        "first_better_0_to_1": verdict.a_better_percent / 100,
        "rationale": settle(verdict.reason, asked.papers).markdown,
        "first_reading": _reading(outcome.value.idea_a, asked.papers),
        "second_reading": _reading(outcome.value.idea_b, asked.papers),
    }


def _reading(reading: IdeaReading, papers: Shown) -> str:
    """Return what the judge read in an idea, a paragraph for each part that it filled."""
    parts = (
        ("Core mechanism", reading.core_mechanism),
        ("Closest prior work", reading.closest_prior_work),
        ("Weakest assumption", reading.weakest_assumption),
        ("What the test shows", reading.what_the_test_shows),
    )
    told = "\n\n".join(f"{name}: {text.strip()}" for name, text in parts if text.strip())
    return settle(told, papers).markdown
