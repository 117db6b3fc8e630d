"""Attempts at finding up to k problems, each an independent pass (quality checker, section 2.2)."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from schemas.calls import LlmCall
from schemas.judging import Wording
from schemas.outcome import Unscored
from schemas.text.patterns import IGNORECASE, bounded
from schemas.works.manuscripts import Attempt, ManuscriptForm, Problem
from tasks.judging.findings_of_judges import first_of_each
from tasks.judging.step import Engine
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.sections import passage_around
from tasks.manuscripts.steps.find_problems import FIND_PROBLEMS, ProblemsInput
from tasks.text.quotations import stands_in

# Existence of the places that a report names: true, false or unknown.

_STATEMENT = (
    r"\b(theorem|lemma|proposition|corollary|definition|claim|remark|example|assumption|conjecture"
    r"|algorithm|table|figure|fig)s?\.?\s{0,9}"
)
_EQUATION_NUMBER = r"([A-Z]?\.?\d{1,3}(?:\.\d{1,3}){0,9}[a-z]?)"
_PAGE = bounded(r"\b(?:pages?|pp?\.)\s{0,9}(\d{1,4})", IGNORECASE)
_SECTION = bounded(
    r"(?:\b(?:sections?|secs?\.?)|§)\s{0,9}([A-Z]?\d{1,2}(?:\.\d{1,2}){0,3})(?!\w)"
    r"|\bappendix\s{1,9}([A-Z](?:\.\d{1,2}){0,3})(?!\w)",
    IGNORECASE,
)
_EQUATION = bounded(
    rf"\b(?:equations?|eqs?\.?|eqns?\.?)\s{{0,9}}+~?\(?\s{{0,9}}{_EQUATION_NUMBER}\)?", IGNORECASE
)
_NUMBERED_STATEMENT = bounded(rf"{_STATEMENT}~?([A-Z]?\.?\d{{1,3}}(?:\.\d{{1,3}})*)", IGNORECASE)
_PRINTED_EQUATION = bounded(rf"\(\s{{0,9}}{_EQUATION_NUMBER}\s{{0,9}}\)", IGNORECASE)
_PRINTED_NUMBER = bounded(
    rf"{_STATEMENT}([A-Z]?\.?\d{{1,3}}(?:\.\d{{1,3}}){{0,9}})(?!\d)", IGNORECASE
)
_HEADING_NUMBER = bounded(r"^([A-Z]|[A-Z]?\d{1,9}(?:\.\d{1,9}){0,20})\.?\s")
_NO_LETTERS = bounded(r"[^a-z]+")
_LABEL = bounded(
    r"\b(?:eq|sec|thm|lem|lemma|prop|cor|def|fig|tab|app|rem|alg)[:.][\w:.-]+", IGNORECASE
)


def location_found(location: str, manuscript: Manuscript) -> bool | None:
    """Return whether every named place exists.

    None if no place can be verified; LaTeX sources, for example, contain no numbers.
    """
    verdicts = [verdict for verdict in _verdicts(location, manuscript) if verdict is not None]
    return all(verdicts) if verdicts else None


def _verdicts(location: str, manuscript: Manuscript) -> Iterator[bool | None]:
    text, letters = manuscript.text, _NO_LETTERS.sub("", location.lower())
    if manuscript.pages:
        yield from (1 <= int(number) <= len(manuscript.pages) for number in _PAGE.findall(location))
    # A place need not quote a heading, so that a missing one proves nothing.
    names = (_NO_LETTERS.sub("", heading.lower()) for heading in manuscript.headings)
    yield True if any(len(name) >= 5 and name in letters for name in names) else None
    if manuscript.form is ManuscriptForm.LATEX:
        yield from (label in text for label in _LABEL.findall(location))
        return
    matches = (_HEADING_NUMBER.match(f"{heading} ") for heading in manuscript.headings)
    headings = [match.group(1).upper() for match in matches if match]
    are_numbered = any(character.isdigit() for each in headings for character in each)
    for numbers in _SECTION.findall(location):
        number = "".join(numbers).upper()
        is_there = any(each == number or each.startswith(f"{number}.") for each in headings)
        yield is_there if are_numbered else None
    equations = frozenset(_PRINTED_EQUATION.findall(text))
    yield from (number in equations for number in _EQUATION.findall(location))
    printed_numbers = frozenset(
        (_kind(kind), number.lower()) for kind, number in _PRINTED_NUMBER.findall(text)
    )
    for kind, number in _NUMBERED_STATEMENT.findall(location):
        length = len(number)
        yield any(  # 3 and 3.1 are there where 3.1 is, 31 is not
            _kind(kind) == other
            and printed_number.startswith(number.lower())
            and not printed_number[length : length + 1].isdigit()
            for other, printed_number in printed_numbers
        )


def _kind(word: str) -> str:
    return "figure" if word.lower() == "fig" else word.lower()


async def find_problems(
    manuscript: Manuscript,
    engine_of: Callable[[int], Engine],
    *,
    maximum_problems: int = 5,
    attempt_count: int = 1,
    wording: Wording = Wording.OWN,
) -> tuple[tuple[Attempt, ...], tuple[Problem, ...]]:
    """Run `attempt_count` attempts and return them with their problems.

    Of a longer reply the first `maximum_problems` problems of each judge count. An attempt without problems has a
    count of 0; a failed one has None and a reason.
    """
    question = ProblemsInput(
        title=manuscript.title,
        form=manuscript.shown_form,
        text="" if manuscript.attachment is not None else manuscript.text,
        attached=manuscript.attachment is not None,
        maximum_problems=maximum_problems,
        wording=wording,
    )
    numbers = range(1, attempt_count + 1)
    outcomes = await asyncio.gather(
        *(engine_of(number).run(FIND_PROBLEMS, question) for number in numbers)
    )
    attempts: list[Attempt] = []
    problems: list[Problem] = []
    for number, outcome in zip(numbers, outcomes, strict=True):
        if isinstance(outcome, Unscored):
            attempts.append(unscored_attempt(number, outcome))
            continue
        reply = outcome.value
        entries = first_of_each(reply.problems, maximum_problems)
        attempts.append(
            Attempt(
                attempt=number,
                problem_count=len(entries),
                answered_by=reply.answered_by,
                provenance=outcome.provenance,
            )
        )
        problems += [
            Problem(
                problem_id=f"a{number}p{place}",
                attempt=number,
                rank=place,
                problem=entry.problem,
                location=entry.location,
                explanation=entry.explanation,
                location_found=location_found(entry.location, manuscript),
                quote=entry.quote,
                quote_found=(
                    stands_in(entry.quote, manuscript.text, least_characters=1)
                    if entry.quote
                    else None
                ),
                passage=passage_around(entry.quote, manuscript.reading),
                found_by=entry.found_by,
                confidence_0_to_1=(
                    None if entry.confidence_percent is None else entry.confidence_percent / 100
                ),
                provenance=outcome.provenance,
            )
            for place, entry in enumerate(entries, start=1)
        ]
    return tuple(attempts), tuple(problems)


def unscored_attempt(number: int, outcome: Unscored) -> Attempt:
    return Attempt(
        attempt=number,
        problem_count=None,
        unscored_reason=outcome.reason,
        unscored_detail=outcome.detail,
        provenance=outcome.provenance,
    )


def with_usage(attempt: Attempt, calls: Sequence[LlmCall]) -> Attempt:
    """Return the attempt with the tokens and cost of its calls, as far as known.

    The usage of cached replies is unknown.
    """
    call_ids = attempt.provenance.call_ids if attempt.provenance else ()
    paid_calls = [
        call
        for call in calls
        if call.call_id in call_ids and call.prompt_tokens + call.completion_tokens > 0
    ]
    if not paid_calls:
        return attempt
    thinking = _sum([call.thinking_tokens for call in paid_calls])
    output = sum(call.completion_tokens for call in paid_calls) - int(thinking or 0)
    return attempt.model_copy(
        update={
            "input_tokens": sum(call.prompt_tokens for call in paid_calls),
            "thinking_tokens": thinking,
            "output_tokens": output,
            "cost_usd": _sum([call.cost_usd for call in paid_calls]),
        }
    )


def _sum(values: Sequence[float | None]) -> float | None:
    """Return the sum; None if any value is unknown."""
    known_values = [value for value in values if value is not None]
    return sum(known_values) if len(known_values) == len(values) else None
