"""Findings of a check of manuscripts, in the words of its report."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.render import figures, wording
from schemas.works.check_run import CheckHead, CheckScore
from schemas.works.manuscripts import (
    JUDGES,
    Attempt,
    Decision,
    ManuscriptCheck,
    ManuscriptReview,
    PooledWork,
    Problem,
    Vote,
)


@dataclass(frozen=True)
class CheckFindings:
    """Problems by manuscript, and the evidence used."""

    head: CheckHead
    checks: tuple[ManuscriptCheck, ...]
    scores: tuple[CheckScore, ...] = ()

    def problems(self, check: ManuscriptCheck, attempt: Attempt) -> Sequence[Problem]:
        """Return the problems to show first; of a review at most the requested number."""
        return self._standing(check, attempt)[: self._most]

    def review_of(self, check: ManuscriptCheck, attempt: Attempt) -> ManuscriptReview | None:
        """Return the review of an attempt; None if it has no summary."""
        reviews = (one for one in check.reviews if one.attempt == attempt.attempt)
        return next((one for one in reviews if one.summary is not None), None)

    def further_problems(self, check: ManuscriptCheck, attempt: Attempt) -> Sequence[Problem]:
        """Return the confirmed problems of a review beyond the requested number."""
        return self._standing(check, attempt)[self._most :] if self.head.review else ()

    def rejected_problems(self, check: ManuscriptCheck, attempt: Attempt) -> Sequence[Problem]:
        """Return the problems that a second look or a person rejected."""
        return [one for one in self._not_standing(check, attempt) if not one.is_open]

    def open_questions(self, check: ManuscriptCheck, attempt: Attempt) -> Sequence[Problem]:
        """Return the problems that neither a second look nor a person decided."""
        return [one for one in self._not_standing(check, attempt) if one.is_open]

    def _not_standing(self, check: ManuscriptCheck, attempt: Attempt) -> Sequence[Problem]:
        problems = [one for one in check.problems if one.attempt == attempt.attempt]
        return [one for one in problems if not one.stands]

    def _standing(self, check: ManuscriptCheck, attempt: Attempt) -> Sequence[Problem]:
        return [one for one in check.standing if one.attempt == attempt.attempt]

    @property
    def _most(self) -> int | None:
        return self.head.maximum_problems if self.head.review else None

    def in_report(self, check: ManuscriptCheck, attempt: Attempt) -> str:
        """Return counts of problems that only the full report shows; empty if none."""
        counts = {
            "more that stand": len(self._standing(check, attempt)) - self.head.maximum_problems,
            "open": len(self.open_questions(check, attempt)),
            "set aside": len(self.rejected_problems(check, attempt)),
            "disputed": len(self.disputed_problems(check, attempt)),
        }
        return ", ".join(f"{count:,} {words}" for words, count in counts.items() if count > 0)

    def agreement_in_words(self, check: ManuscriptCheck, attempt: Attempt) -> str:
        """Return how many problems several models share, and which did not answer."""
        failures = dict.fromkeys(
            f"{one.subject} did not answer everything ({wording.reason(one.reason)})"
            for one in check.failures
            if one.stage == JUDGES
        )
        models = attempt.answered_by
        problems = self._standing(check, attempt)
        counts = [f"{sum(each in one.found_by for one in problems):,} by {each}" for each in models]
        shared = sum(set(models) <= set(one.found_by) for one in problems)
        sentences = [
            f"Of {figures.plural(len(problems), 'problem')}: {', '.join(counts)}; {shared:,} by all"
            if models and problems
            else "",
            *failures,
        ]
        return " ".join(f"{sentence}." for sentence in sentences if sentence)

    @property
    def tokens_per_attempt(self) -> float | None:
        """Mean tokens of an attempt; None if unknown, or no model was called."""
        attempts = [one for check in self.checks for one in check.attempts if one.input_tokens]
        tokens = sum(
            (one.input_tokens or 0) + (one.output_tokens or 0) + (one.thinking_tokens or 0)
            for one in attempts
        )
        return tokens / len(attempts) if attempts else None

    def votes(self, check: ManuscriptCheck, problem: Problem) -> Sequence[Vote]:
        return [vote for vote in check.votes if vote.problem_id == problem.problem_id]

    def disputed_problems(self, check: ManuscriptCheck, attempt: Attempt) -> Sequence[Problem]:
        """Return the undecided problems on which reviewers disagree."""
        problems = [one for one in check.problems if one.attempt == attempt.attempt]
        return [one for one in problems if one.dispute and not one.is_decided]

    def decision_in_words(self, problem: Problem) -> str:
        """Return a person's decision on a problem; empty if there is none."""
        if problem.decision is None:
            return ""
        decision = _DECISIONS[problem.decision]
        return f"{decision}: {problem.remark}" if problem.remark else f"{decision}."

    @property
    def scope_in_words(self) -> str:
        text = wording.check_scope(self.head)
        return f"{text} {self.lookups_in_words}" if self.head.review else text

    @property
    def lookups_in_words(self) -> str:
        """Sentence on the source of related work, or on the missing look-up."""
        if not self.head.literature:
            return "Nothing was looked up: what is new or known was held against no other work."
        day = self.head.cutoff_date
        until = f", nothing after {day.isoformat()}" if day is not None else ""
        return f"Related and cited work was looked up in {self.head.literature}{until}."

    def evidence_in_words(self, check: ManuscriptCheck) -> str:
        """Return a text on the related and cited works found, and on the gaps."""
        related_count = sum(work.relevance_0_to_5 is not None for work in check.works)
        claim_count = sum(bool(work.about_claim) for work in check.works)
        cited_count = sum(bool(work.cited_as) for work in check.works)
        entries = figures.plural(check.reference_count or 0, "entry", "entries")
        text = (
            f"Before anything was judged: {figures.plural(related_count, 'related work')}, {claim_count:,}"
            f" about strong claims; {cited_count:,} of the {entries} in its list of references were found"
        )
        beyond = (check.reference_count or 0) - (check.searched_reference_count or 0)
        text += f", {beyond:,} were not looked for" if beyond else ""
        unanswered_questions = figures.plural(check.unanswered_count or 0, "question")
        text += (
            f". {unanswered_questions} to the literature had no answer"
            if check.unanswered_count
            else ""
        )
        return f"{text}. That a work is not among them proves nothing."

    def resources_in_words(self, check: ManuscriptCheck) -> str:
        """Return the resources that related works used most; empty if none."""
        counts = Counter(name for work in check.works for name in work.uses)
        resources = [
            f"{name}, {figures.plural(n, 'work')}" for name, n in counts.most_common(_MOST_USED)
        ]
        return f"They name as used: {'; '.join(resources)}." if resources else ""

    def reasons_found(self, work: PooledWork) -> str:
        ways = {
            "related": work.relevance_0_to_5 is not None,
            "cited": bool(work.cited_as),
            f"for “{work.about_claim}”": bool(work.about_claim),
        }
        return "; ".join(way for way, holds in ways.items() if holds)

    @property
    def verdict(self) -> str:
        """Sentence on the number of manuscripts with problems."""
        checked_manuscripts = [check for check in self.checks if was_checked(check)]
        with_problems = [check for check in checked_manuscripts if check.standing]
        text = f"{len(with_problems):,} of {figures.plural(len(checked_manuscripts), 'checked manuscript')} with problems"
        words = sum(check.word_count or 0 for check in checked_manuscripts)
        text += f", {figures.plural(words, 'word')} read" if words else ""
        partly = sum(check.is_partly_read for check in checked_manuscripts)
        text += f", {partly:,} read only in part" if partly else ""
        unchecked_count = len(self.checks) - len(checked_manuscripts)
        return f"{text}, {unchecked_count:,} not checked." if unchecked_count else f"{text}."


_MOST_USED = 10
_DECISIONS = {
    Decision.ACCEPT: "A person accepted it",
    Decision.REJECT: "A person rejected it",
    Decision.LOOK_AGAIN: "It was looked at again because a person asked",
}


def was_checked(check: ManuscriptCheck) -> bool:
    """Return whether any attempt ended with a count of problems, possibly 0."""
    return any(attempt.problem_count is not None for attempt in check.attempts)


def outcome(check: ManuscriptCheck) -> str:
    """Return the outcome of one manuscript in a few words."""
    if check.unread_reason is not None:
        return f"not read: {wording.reason(check.unread_reason)}"
    if not was_checked(check):
        return "not checked"
    if check.standing:
        partly = ", read only in part" if check.is_partly_read else ""
        return f"{figures.plural(len(check.standing), 'problem')}{partly}"
    return f"no problem found{', not an all-clear' if check.is_partly_read else ''}"
