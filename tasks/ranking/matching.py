"""Matches: one call per ordered pair, and one match per verdict."""

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
    """Return covariates of a match, first minus second: length, sentence length, novelty claims."""
    of_first, of_second = _text_measures(first), _text_measures(second)
    return {name: of_first[name] - of_second[name] for name in of_first}


def _text_measures(text: str) -> dict[str, int | float]:
    lengths = [len(words(sentence)) for sentence in sentences(text)]
    return {
        "words_difference": sum(lengths),
        "sentence_words_difference": sum(lengths) / len(lengths) if lengths else 0.0,
        "novelty_claims_difference": sum(1 for _ in NEWNESS.finditer(text)),
    }


# Prompts of a pair: papers of both dossiers share one set of keys.


@dataclass(frozen=True, slots=True)
class PairPrompt:
    """The input of a call, and the papers of its keys."""

    question: PairInput
    papers: Shown


def pair_question(
    first: Dossier,
    second: Dossier,
    dimensions: Sequence[ReviewDimension],
    *,
    show_scores: bool = False,
) -> PairPrompt:
    """Build the input of a comparison, in which idea A is `first`.

    A paper in both dossiers has one key.
    """
    papers = show([entry.paper for dossier in (first, second) for entry in dossier.evidence])
    question = PairInput(
        first=_idea_input(first, papers, "A"),
        second=_idea_input(second, papers, "B"),
        show_scores=show_scores,
        dimensions=tuple(
            ShownCriterion(name=one.name, question=one.question, scale=one.scale)
            for one in dimensions
        ),
    )
    return PairPrompt(question, papers)


def _idea_input(dossier: Dossier, papers: Shown, letter: str) -> ShownIdea:
    references = _references(papers)

    def keyed(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(_with_keys(text, references) for text in texts)

    return ShownIdea(
        title=dossier.title,
        text=_masked(dossier.text, dossier.title),
        summary=_with_keys(dossier.summary, references),
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
                text=_with_keys(entry.text, references),
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
    """Remove the titles and addresses by which a judge might recall a paper."""
    # A title of a few words is a name that the text needs, and identifies no paper.
    is_telling = len(title.split()) >= _TELLING_TITLE_WORDS
    untitled_text = text.replace(title, "this idea") if is_telling else text
    return _IDENTIFYING.sub("[address]", untitled_text)


def _references(papers: Shown) -> list[tuple[str, str]]:
    """Return (rendered reference, key), longest first, without ambiguous references."""
    keys_by_text: dict[str, list[str]] = {}
    for key, paper in papers:
        keys_by_text.setdefault(reference(paper), []).append(key)
    unambiguous = [(text, keys[0]) for text, keys in keys_by_text.items() if len(keys) == 1]
    return sorted(unambiguous, key=lambda pair: -len(pair[0]))


def _with_keys(text: str, references: Sequence[tuple[str, str]]) -> str:
    """Replace rendered citations of papers in the prompt by keys, and remove other links."""
    for citation, key in references:
        text = text.replace(citation, f"[{key}]")
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
    """Return the id of a match, a hash of everything that could change its verdict.

    That is the prompt with both ideas in order, the engine and the seed. A repeated match has the
    same id; of several matches with one id the newest counts.
    """
    prompt_hash = _prompt_hash(
        first.idea_id, first.fingerprint, second.idea_id, second.fingerprint, str(show_scores)
    )
    return content_hash(
        prompt_hash,
        dimension.name,
        dimension.question,
        dimension.scale,
        judge,
        str(seed),
        length=32,
    )


@lru_cache(maxsize=4096)
def _prompt_hash(*parts: str) -> str:
    return content_hash(
        COMPARE_IDEAS.name, str(COMPARE_IDEAS.version), COMPARE_IDEAS.prompt_sha256, *parts
    )


def is_final(match: Match) -> bool:
    """Return whether a stored match need not be repeated."""
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
    """Compare `first` with `second` in one call.

    Returns a match per dimension, maybe unscored.

    Engine failures do not raise.
    """
    prompt = pair_question(first, second, dimensions, show_scores=show_scores)
    outcome = await engine.run(COMPARE_IDEAS, prompt.question)
    answered_at = datetime.now(UTC)
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
            created_at=answered_at,
            **covariates(first.text, second.text),
            **_verdict(dimension.name, outcome, prompt),
        )
        for dimension in dimensions
    )


def _verdict(dimension: str, outcome: Outcome[PairReply], prompt: PairPrompt) -> dict[str, Any]:
    """Return the fields of a match that hold the verdict, or the reason for none."""
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
        "rationale": settle(verdict.reason, prompt.papers).markdown,
        "first_reading": _reading(outcome.value.idea_a, prompt.papers),
        "second_reading": _reading(outcome.value.idea_b, prompt.papers),
    }


def _reading(reading: IdeaReading, papers: Shown) -> str:
    """Return the judge's reading of an idea, a paragraph for each part."""
    parts = (
        ("Core mechanism", reading.core_mechanism),
        ("Closest prior work", reading.closest_prior_work),
        ("Weakest assumption", reading.weakest_assumption),
        ("What the test shows", reading.what_the_test_shows),
    )
    paragraphs = "\n\n".join(f"{name}: {text.strip()}" for name, text in parts if text.strip())
    return settle(paragraphs, papers).markdown
