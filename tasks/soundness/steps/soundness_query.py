"""`soundness_query`: search queries for each method, and one for its failures and limits.

Baseline: the method's key phrases, the most central to the idea first, then the idea's topic.
"""

import math
from collections import Counter
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.reasons import Reason
from tasks.judging.reply_fields import Prose
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.soundness.steps.wording import plain, weight_of
from tasks.text.words import content_words, key_phrases, words


class QueriesInput(Noun):
    idea: str
    methods: tuple[str, ...] = Field(min_length=1)
    word_limit: int = Field(ge=1)
    queries_per_method: int = Field(default=1, ge=1)
    search_failures: bool = False


class MethodQuery(Reply):
    """The queries for one of the methods shown."""

    method: int = Field(ge=1, description="The number of the method, as shown.")
    queries: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    failure_query: Prose = Field(
        default="", description="For failures, limits and null results; empty when not asked for."
    )


class QueriesReply(Reply):
    """Reply to `soundness_query`."""

    queries: tuple[MethodQuery, ...] = Field(min_length=1)


_METHOD_PHRASES = 7
_IDEA_PHRASES = 3
_CANDIDATES = 24
_SHORT_PHRASES = 2
_FAILURE_WORDS = ("fails", "limitations")


async def baseline_queries(inputs: QueriesInput, _tools: BaselineTools) -> QueriesReply | NoAnswer:
    """Return up to ten phrases per method.

    Returns NoAnswer(nothing_to_judge) if no method has words.
    """
    about_idea = Counter(content_words(inputs.idea))
    subject = _informative(
        key_phrases(plain(inputs.idea), 4 * _CANDIDATES), about_idea, _IDEA_PHRASES
    )
    answers = [
        answer
        for number, method in enumerate(inputs.methods, start=1)
        if (answer := _queries(number, method, about_idea, subject, inputs)) is not None
    ]
    return (
        QueriesReply(queries=tuple(answers))
        if answers
        else NoAnswer(Reason.NOTHING_TO_JUDGE, "the method has no words to search for")
    )


def _queries(
    number: int, method: str, about_idea: Counter[str], subject: list[str], inputs: QueriesInput
) -> MethodQuery | None:
    """Return one query of all phrases, then short queries of the best phrases."""
    full_query = _query(method, about_idea, subject, inputs.word_limit)
    if not full_query:
        return None
    phrases = full_query.split(", ")
    short = [
        " ".join(words(" ".join(phrases[start : start + _SHORT_PHRASES]))[: inputs.word_limit])
        for start in range(0, len(phrases), _SHORT_PHRASES)
    ]
    queries = tuple(dict.fromkeys((full_query, *short)))[: inputs.queries_per_method]
    failures = _FAILURE_WORDS[: inputs.word_limit]
    room = inputs.word_limit - len(failures)
    failure_query = " ".join([*words(" ".join(phrases[:_SHORT_PHRASES]))[:room], *failures])
    return MethodQuery(
        method=number,
        queries=queries,
        failure_query=failure_query if inputs.search_failures else "",
    )


def _query(method: str, about_idea: Counter[str], subject: list[str], word_limit: int) -> str:
    phrases = [
        *_informative(key_phrases(plain(method), _CANDIDATES), about_idea, _METHOD_PHRASES),
        *subject,
    ]
    chosen_phrases: list[str] = []
    used_stems: set[str] = set()
    for phrase in phrases:
        stems = set(content_words(phrase))
        if (
            stems <= used_stems
            or sum(len(words(other)) for other in (*chosen_phrases, phrase)) > word_limit
        ):
            continue
        chosen_phrases.append(phrase)
        used_stems |= stems
    return ", ".join(chosen_phrases) or " ".join(words(method)[:word_limit])


def _informative(phrases: list[str], about_idea: Counter[str], limit: int) -> list[str]:
    """Rank phrases by information and by frequency in the idea.

    Ties keep their order.
    """

    def value(phrase: str) -> float:
        stems = content_words(phrase)
        return sum(weight_of(stem) * (1.0 + math.log1p(about_idea[stem])) for stem in stems) / (
            len(stems) + 0.7
        )

    ranked_places = sorted(
        range(len(phrases)), key=lambda place: (-round(value(phrases[place]), 3), place)
    )
    return [phrases[place] for place in ranked_places[:limit]]


SOUNDNESS_QUERY = Step(
    name="soundness_query",
    version=4,
    package="tasks.soundness",
    input_model=QueriesInput,
    output_model=QueriesReply,
    baseline=baseline_queries,
)
