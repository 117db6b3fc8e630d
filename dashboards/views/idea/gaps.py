"""Gaps of an evaluation in plain words, and shortened inputs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dashboards.render.page import Line, Part, line
from dashboards.render.papers import citation
from dashboards.render.wording import reason, stage
from schemas.base import Noun
from schemas.failure import Failure, commonest_cause
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.outcome import Provenance
from schemas.reasons import BEYOND_THE_RUN, About, Reason

SUBJECTS_NAMED = 3


@dataclass(frozen=True, slots=True)
class Gap:
    """Failures of the same kind; `subjects` names the first and counts the rest.

    Attributes:
        detail: the commonest error message.
        failed: False for parts that the offline baseline never judges, and for papers found and
            left out.
    """

    what: str
    why: str
    count: int
    subjects: Line
    detail: str
    retryable: bool
    failed: bool = True


@dataclass(frozen=True, slots=True)
class Shortening:
    """A rule that shortened inputs of one step, and how often."""

    step: str
    rule: str
    count: int


def gaps_of(evaluation: IdeaEvaluation) -> tuple[Gap, ...]:
    """Return unassessed criteria, failures by frequency, then unscored judgements."""
    # Criteria first: score and verdict rest on them, and the first page shows few gaps.
    return (
        *_unassessed_criteria(evaluation),
        *_failures(evaluation),
        *_unscored_judgements(evaluation),
    )


def shortenings_of(evaluation: IdeaEvaluation) -> tuple[Shortening, ...]:
    """Count answers from shortened inputs, each once however many rows it filled."""
    answers = {
        (provenance.step, provenance.shortening, provenance.call_ids, provenance.created_at)
        for _, _, provenance in judgements(evaluation)
        if provenance.shortening is not None
    }
    counts = Counter((step, rule) for step, rule, _, _ in answers)
    return tuple(
        Shortening(step.replace("_", " "), rule, count)
        for (step, rule), count in sorted(counts.items())
    )


def _failures(evaluation: IdeaEvaluation) -> Iterator[Gap]:
    of_modules = (each for module in evaluation.modules.values() for each in module.failures)
    groups: dict[tuple[str, str], list[Failure]] = defaultdict(list)
    for failure in dict.fromkeys((*of_modules, *evaluation.failures)):
        groups[failure.stage, failure.reason].append(failure)
    names = _names(evaluation)
    for (where, why), failures in sorted(groups.items(), key=lambda group: -len(group[1])):
        yield Gap(
            what=stage(where),
            why=reason(why),
            count=len(failures),
            subjects=_subjects([failure.subject for failure in failures], names),
            detail=commonest_cause(failure.detail for failure in failures),
            retryable=any(failure.retryable for failure in failures),
            failed=not failures[0].is_left_out,
        )


# Judgements by module and field; a field holds one judgement, several, or none.
_JUDGEMENT_FIELDS = {
    "relevance of a paper to a method": ("soundness", "evidence"),
    "review of a method": ("soundness", "reviews"),
    "review of the plan itself": ("soundness", "plan_review"),
    "summary": ("soundness", "summary"),
    "relevance of a paper to the idea": ("contribution", "candidates"),
    "comparison with a paper": ("contribution", "comparisons"),
    "review of a dimension": ("contribution", "reviews"),
    "credibility of a piece of knowledge": ("committee", "knowledge"),
    "bearing of a piece of knowledge on a part": ("committee", "evidence"),
    "review by a member of the committee": ("committee", "reviews"),
    "meta-review": ("committee", "meta_review"),
    "novelty": ("novelty", "judgement"),
}


def _unscored_judgements(evaluation: IdeaEvaluation) -> Iterator[Gap]:
    for what, (module, field) in _JUDGEMENT_FIELDS.items():
        judgement = getattr(getattr(evaluation, module), field, None)
        rows = judgement if isinstance(judgement, tuple) else (judgement,)
        reasons = [row.unscored_reason for row in rows if row is not None]
        for why, count in Counter(filter(None, reasons)).most_common():
            yield _without_score(what, why, count)


def _unassessed_criteria(evaluation: IdeaEvaluation) -> Iterator[Gap]:
    by_reason: dict[Reason, list[str]] = defaultdict(list)
    for row in evaluation.assessment.assessments if evaluation.assessment is not None else ():
        if row.unscored_reason is not None:
            by_reason[row.unscored_reason].append(row.criterion.replace("_", " "))
    for why, criteria in by_reason.items():
        yield _without_score(f"assessment by “{', '.join(criteria)}”", why, len(criteria))


def _without_score(what: str, why: Reason, count: int) -> Gap:
    beyond = why in BEYOND_THE_RUN
    name = what if beyond else f"unscored: {what}"
    return Gap(name, reason(why), count, (), "", False, failed=not beyond)


def cause_of(failures: Iterable[Failure]) -> str:
    """Return the commonest cause of failures, in the provider's words; may be empty."""
    details: dict[Reason, list[str]] = defaultdict(list)
    for failure in failures:
        if failure.retryable or failure.reason.about is About.SCORE:
            # Papers left out have a line of their own.
            details[failure.reason].append("" if failure.is_left_out else failure.detail)
    if not details:
        return ""
    why = max(details, key=lambda each: (each.engine_failed, len(details[each])))
    cause = commonest_cause(details[why])
    return f"{why.sentence} ({cause})" if cause else why.sentence


def _names(evaluation: IdeaEvaluation) -> dict[str, Line]:
    names = {str(paper.paper_id): line(citation(paper)) for paper in evaluation.papers}
    names[evaluation.idea.idea_id] = line("the idea")
    names["plan"] = line("the plan")
    if evaluation.soundness is not None:
        names |= {
            method.method_id: line(f"method {method.rank}")
            for method in evaluation.soundness.methods
        }
    if evaluation.contribution is not None:
        names |= {
            entry.dimension_id: line(f"dimension “{entry.name}”")
            for entry in evaluation.contribution.dimensions
        }
    return names


def _subjects(subjects: list[str], names: dict[str, Line]) -> Line:
    distinct = list(dict.fromkeys(subjects))
    subject_parts: list[tuple[Part, ...]] = [
        (", ", *_subject(subject, names)) for subject in distinct[:SUBJECTS_NAMED]
    ]
    rest = len(distinct) - SUBJECTS_NAMED
    parts = [part for each in subject_parts for part in each][1:]
    return line(*parts, f" and {rest:,} more" if rest > 0 else "")


def _subject(subject: str, names: dict[str, Line]) -> Line:
    if subject in names:
        return names[subject]
    first, slash, second = subject.partition("/")
    is_pair = slash and first in names and second in names
    return line(names[first], ", ", names[second]) if is_pair else line(subject)


def judgements(evaluation: IdeaEvaluation) -> Iterator[tuple[str, Noun, Provenance]]:
    """Yield every judgement of all modules with its field and provenance."""
    for module in evaluation.modules.values():
        for name in type(module).model_fields:
            value = getattr(module, name)
            for entry in value if isinstance(value, tuple) else (value,):
                provenance = getattr(entry, "provenance", None)
                if isinstance(provenance, Provenance):
                    yield name, entry, provenance
