"""Scores and agreement of several judges on one idea."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dashboards.render import figures
from dashboards.render.wording import reason
from schemas.judging import FINDING, JudgeVote
from schemas.outcome import Provenance


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """A step of an idea with several judges.

    `item_count` counts items with two scores or more; `same_count` those with equal scores, of
    `joins_findings` those that all raised.
    """

    step: str
    judges: tuple[str, ...]
    item_count: int
    same_count: int
    unscored_count: int
    unscored_reasons: str
    joins_findings: bool

    @property
    def agreement(self) -> str:
        """`the same score on 14 of 20 items`, or `14 of 20 findings raised by all`."""
        if self.joins_findings and self.item_count:
            findings = figures.plural(self.item_count, "finding")
            return f"{self.same_count:,} of {findings} raised by all"
        if not self.item_count:
            return "nothing was scored by two of them"
        return f"the same score on {self.same_count:,} of {figures.plural(self.item_count, 'item')}"


def score_of_judges(votes: Sequence[JudgeVote], provenance: Provenance, item: str = "") -> str:
    """Return `median of 3 judges: 6, 7, 4.5; one unscored: …`; empty for one model.

    Args:
        provenance: of the judgement that the votes were cast for.
        item: the scored part of the reply; empty: the whole.
    """
    step_votes = [vote for vote in votes if vote.step == provenance.step]
    questions = {
        vote.question
        for vote in step_votes
        if not set(vote.call_ids).isdisjoint(provenance.call_ids)
    }
    cast = [vote for vote in step_votes if vote.question in questions]
    scores = [
        vote.score for vote in cast if vote.score is not None and _plain(vote.item) == _plain(item)
    ]
    unscored_votes = [vote for vote in cast if vote.score is None]
    if not scores and not unscored_votes:
        return ""
    median_text = (
        f"median of {figures.plural(len(scores), 'judge')}:"
        f" {', '.join(f'{score:g}' for score in scores)}"
    )
    missing_text = (
        f"{'one' if len(unscored_votes) == 1 else f'{len(unscored_votes):,}'} unscored: {_reasons(unscored_votes)}"
        if unscored_votes
        else ""
    )
    return "; ".join(
        filter(None, (median_text if scores else "no judge gave a score", missing_text))
    )


def judged_steps(votes: Sequence[JudgeVote]) -> tuple[JudgedStep, ...]:
    """Return the steps with several judges, in the order of their first votes."""
    by_step: dict[str, list[JudgeVote]] = defaultdict(list)
    for vote in votes:
        by_step[vote.step].append(vote)
    return tuple(_judged_step(step, cast) for step, cast in by_step.items())


def _judged_step(step: str, votes: Sequence[JudgeVote]) -> JudgedStep:
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for vote in votes:
        if vote.score is not None:
            scores[vote.question, vote.item].append(vote.score)
    compared_items = [item_scores for item_scores in scores.values() if len(item_scores) > 1]
    unscored_votes = [vote for vote in votes if vote.score is None]
    return JudgedStep(
        step=step,
        judges=tuple(dict.fromkeys(vote.judge for vote in votes)),
        item_count=len(compared_items),
        same_count=sum(len(set(item_scores)) == 1 for item_scores in compared_items),
        unscored_count=len(unscored_votes),
        unscored_reasons=_reasons(unscored_votes),
        joins_findings=any(vote.item.startswith(FINDING) for vote in votes),
    )


def _reasons(votes: Iterable[JudgeVote]) -> str:
    return ", ".join(
        reason(why)
        for why, _ in Counter(vote.unscored_reason or "unknown" for vote in votes).most_common()
    )


def _plain(item: str) -> str:
    """Normalize a dimension's name, which models spell differently."""
    return item.casefold().replace(" ", "_")
