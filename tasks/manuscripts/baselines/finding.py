"""The extractive answer to `find_problems`: every check of the text, the gravest findings first. A baseline: it understands nothing."""

from collections.abc import Callable, Iterator, Sequence

from schemas.reasons import Reason
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.manuscripts.answers import ProblemList, ReportedProblem
from tasks.manuscripts.baselines.claims import check_claims
from tasks.manuscripts.baselines.numbers import check_abstract, check_intervals, check_shares
from tasks.manuscripts.baselines.reading import Finding, Reading
from tasks.manuscripts.baselines.references import check_labels, check_numbers, check_unresolved
from tasks.manuscripts.baselines.statistics import check_statistics
from tasks.manuscripts.questions import ManuscriptQuestion

CHECKS: tuple[Callable[[Reading], Iterator[Finding]], ...] = (
    check_statistics, check_shares, check_intervals, check_abstract, check_claims, check_numbers, check_labels, check_unresolved,
)  # fmt: skip
_PLACES_TOLD = 3


async def baseline_problems(question: ManuscriptQuestion, _: BaselineTools) -> ProblemList | NoAnswer:
    """Up to `maximum_problems` problems; none found is an answer."""
    if question.attached:
        return NoAnswer(Reason.NO_EVIDENCE, "the extractive engine reads text, not attached files")
    reading = Reading(question)
    findings = [finding for check in CHECKS for finding in check(reading)]
    kinds: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: finding.gravity):
        kinds.setdefault(finding.kind, []).append(finding)
    return ProblemList(problems=[_problem(found) for found in list(kinds.values())[: question.maximum_problems]])


def _problem(found: Sequence[Finding]) -> ReportedProblem:
    """One problem of a kind, with the other places it occurs at."""
    first, others = found[0], found[1 : 1 + _PLACES_TOLD]
    more = (
        f" The same is found {len(found) - 1} more times, as at {'; '.join(dict.fromkeys(one.location for one in others))}."
        if others
        else ""
    )
    return ReportedProblem(problem=first.problem, location=first.location, explanation=first.explanation + more)
