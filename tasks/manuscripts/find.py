"""Attempts at finding up to k problems, each an independent pass (quality checker, section 2.2)."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from schemas.calls import LlmCall
from schemas.outcome import Outcome, Scored
from schemas.text.patterns import IGNORECASE, bounded
from schemas.works.manuscripts import Attempt, ManuscriptForm, Problem
from tasks.judging.step import Engine
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.sections import passage_around
from tasks.manuscripts.steps.find_problems import FIND_PROBLEMS, ProblemsInput, ProblemsReply
from tasks.text.quotations import stands_in

# Existence of the places that a report names: true, false or unknown.

_PAGE = bounded(r"\b(?:pages?|pp?\.)\s{0,9}(\d{1,4})", IGNORECASE)
_SECTION = bounded(
    (
        r"(?:\b(?:sections?|secs?\.?)|§)\s{0,9}([A-Z]?\d{1,2}(?:\.\d{1,2}){0,3})(?!\w)"
        r"|\bappendix\s{1,9}([A-Z](?:\.\d{1,2}){0,3})(?!\w)"
    ),
    IGNORECASE,
)
_EQUATION = bounded(
    (
        r"\b(?:equations?|eqs?\.?"
        r"|eqns?\.?)\s{0,9}+~?\(?\s{0,9}([A-Z]?\.?\d{1,3}(?:\.\d{1,3}){0,9}[a-z]?)\)?"
    ),
    IGNORECASE,
)
_NUMBERED = bounded(
    r"\b(theorem|lemma|proposition|corollary|definition|claim|remark|example|assumption"
    r"|conjecture|algorithm|table|figure|fig)s?\.?\s{0,9}~?"
    r"([A-Z]?\.?\d{1,3}(?:\.\d{1,3})*)",
    IGNORECASE,
)
_PRINTED_EQUATION = bounded(
    r"\(\s{0,9}([A-Z]?\.?\d{1,3}(?:\.\d{1,3}){0,9}[a-z]?)\s{0,9}\)", IGNORECASE
)
_PRINTED_NUMBER = bounded(
    r"\b(theorem|lemma|proposition|corollary|definition|claim|remark|example|assumption|conjecture"
    r"|algorithm|table|figure|fig)s?\.?\s{0,9}([A-Z]?\.?\d{1,3}(?:\.\d{1,3}){0,9})(?!\d)",
    IGNORECASE,
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
    if manuscript.pages:
        yield from (1 <= int(number) <= len(manuscript.pages) for number in _PAGE.findall(location))
    if manuscript.form is ManuscriptForm.LATEX:
        yield from (label in manuscript.text for label in _LABEL.findall(location))
        yield _names_heading(location, manuscript)
        return
    text = manuscript.text
    for numbers in _SECTION.findall(location):
        yield _numbered_heading("".join(numbers), manuscript)
    equations = frozenset(_PRINTED_EQUATION.findall(text))
    yield from (number in equations for number in _EQUATION.findall(location))
    numbers_in_text = frozenset(
        (_kind(kind), number.lower()) for kind, number in _PRINTED_NUMBER.findall(text)
    )
    for kind, number in _NUMBERED.findall(location):
        yield any(
            _kind(kind) == other and _begins_with(printed_number, number.lower())
            for other, printed_number in numbers_in_text
        )
    yield _names_heading(location, manuscript)


def _kind(word: str) -> str:
    return "figure" if word.lower() == "fig" else word.lower()


def _begins_with(whole: str, number: str) -> bool:
    """Match `3.1` with 3 and 3.1, but not with 3.12 or 31."""
    return whole.startswith(number) and not whole[len(number) : len(number) + 1].isdigit()


def _numbered_heading(number: str, manuscript: Manuscript) -> bool | None:
    """Return whether a heading has the number; None if headings are unnumbered."""
    matches = (_HEADING_NUMBER.match(f"{heading} ") for heading in manuscript.headings)
    numbers = [match.group(1) for match in matches if match]
    if not any(character.isdigit() for each in numbers for character in each):
        return None
    return number.upper() in {each.upper() for each in numbers} or any(
        each.startswith(f"{number}.") for each in numbers
    )


def _names_heading(location: str, manuscript: Manuscript) -> bool | None:
    """Return True if a heading is quoted, else None: a place need not quote one."""
    letters = _letters(location)
    names = (name for heading in manuscript.headings if len(name := _letters(heading)) >= 5)
    return True if any(name in letters for name in names) else None


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text.lower())


EngineOfAttempt = Callable[[int], Engine]


async def find_problems(
    manuscript: Manuscript,
    engine_of: EngineOfAttempt,
    *,
    maximum_problems: int = 5,
    attempt_count: int = 1,
) -> tuple[tuple[Attempt, ...], tuple[Problem, ...]]:
    """Run `attempt_count` attempts and return them with their problems.

    Of a longer reply the first `maximum_problems` problems count. An attempt without problems has a
    count of 0; a failed one has None and a reason.
    """
    question = ProblemsInput(
        title=manuscript.title,
        form=manuscript.shown_form,
        text="" if manuscript.attachment is not None else manuscript.text,
        attached=manuscript.attachment is not None,
        maximum_problems=maximum_problems,
    )
    numbers = range(1, attempt_count + 1)
    outcomes = await asyncio.gather(
        *(engine_of(number).run(FIND_PROBLEMS, question) for number in numbers)
    )
    attempts, problems = [], []
    for number, outcome in zip(numbers, outcomes, strict=True):
        reported_problems = _problems(number, outcome, manuscript, maximum_problems)
        attempts.append(_attempt(number, outcome, len(reported_problems)))
        problems.extend(reported_problems)
    return tuple(attempts), tuple(problems)


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
    thinking = [call.thinking_tokens for call in paid_calls]
    thinking_tokens = (
        None
        if any(tokens is None for tokens in thinking)
        else sum(tokens or 0 for tokens in thinking)
    )
    costs = [call.cost_usd for call in paid_calls]
    return attempt.model_copy(
        update={
            "input_tokens": sum(call.prompt_tokens for call in paid_calls),
            "thinking_tokens": thinking_tokens,
            "output_tokens": sum(call.completion_tokens for call in paid_calls)
            - (thinking_tokens or 0),
            "cost_usd": (
                None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)
            ),
        }
    )


def _attempt(number: int, outcome: Outcome[ProblemsReply], count: int) -> Attempt:
    if isinstance(outcome, Scored):
        return Attempt(attempt=number, problem_count=count, provenance=outcome.provenance)
    return Attempt(
        attempt=number,
        problem_count=None,
        unscored_reason=outcome.reason,
        unscored_detail=outcome.detail,
        provenance=outcome.provenance,
    )


def _problems(
    number: int, outcome: Outcome[ProblemsReply], manuscript: Manuscript, most: int
) -> list[Problem]:
    if not isinstance(outcome, Scored):
        return []
    reading = manuscript.reading
    return [
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
                stands_in(entry.quote, manuscript.text, least_characters=1) if entry.quote else None
            ),
            passage=passage_around(entry.quote, reading),
            provenance=outcome.provenance,
        )
        for place, entry in enumerate(outcome.value.problems[:most], start=1)
    ]
