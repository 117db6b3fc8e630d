"""Cost and token counts of an attempt at a call."""

from collections.abc import Sequence
from dataclasses import replace

from schemas.calls import CallStatus
from schemas.reasons import Reason
from tasks.judging.messages import Message
from tasks.judging.models import Price
from tasks.judging.provider_call import CallAnswer, CallFailure

# Our own count is a quarter of the characters; no tokenizer makes fewer than a third of that.
_MOST_CHARACTERS_PER_TOKEN = 12
UNANSWERED = CallFailure(
    CallStatus.TIMED_OUT,
    Reason.TIMED_OUT,
    "the evaluation ended before the answer came",
    cost_is_unknown=True,
)
"""A call that was sent and is billed at an unknown cost."""


def plausible_usage(
    answer: CallAnswer | CallFailure, prompt: Sequence[Message], price: Price | None
) -> CallAnswer | CallFailure:
    """Return the answer with no fewer tokens than its texts can have.

    Without any usage it stays as it is: then the cost is unknown.
    """
    if isinstance(answer, CallFailure):
        usage = answer.usage and _plausible(answer.usage, prompt, price)
        return replace(answer, usage=usage)
    return _plausible(answer, prompt, price)


def _plausible(answer: CallAnswer, prompt: Sequence[Message], price: Price | None) -> CallAnswer:
    if not answer.tokens:
        return answer
    characters = sum(len(message["content"]) for message in prompt)
    prompt_tokens = max(answer.prompt_tokens, characters // _MOST_CHARACTERS_PER_TOKEN)
    reply_tokens = len(answer.text or "") // _MOST_CHARACTERS_PER_TOKEN
    completion_tokens = max(answer.completion_tokens, reply_tokens)
    if (prompt_tokens, completion_tokens) == (answer.prompt_tokens, answer.completion_tokens):
        return answer
    corrected_answer = replace(
        answer, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, cost_usd=None
    )
    costs = filter(None, (cost_of(corrected_answer, price), answer.cost_usd))
    return replace(corrected_answer, cost_usd=max(costs, default=None))


def cost_of(
    answer: CallAnswer | CallFailure, price: Price | None, pictures: int = 0
) -> float | None:
    """Return LiteLLM's figure, else the cost by price.

    The result is None if it is unknown.
    """
    if isinstance(answer, CallFailure):
        if answer.usage is None:
            return None if answer.cost_is_unknown else 0.0
        answer = answer.usage
    if answer.cost_usd is not None or price is None:
        return answer.cost_usd
    if not answer.tokens and not (pictures and price.picture_usd):
        return None
    return price.of(
        answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens, pictures=pictures
    )


def tokens_of_bill(answer: CallAnswer | CallFailure, estimated_tokens: int) -> int:
    """Return the tokens that count against a budget.

    If they are unknown, the estimate counts.
    """
    usage = answer.usage if isinstance(answer, CallFailure) else answer
    if usage is None:
        assert isinstance(answer, CallFailure)
        return estimated_tokens if answer.cost_is_unknown else 0
    return usage.tokens or estimated_tokens
