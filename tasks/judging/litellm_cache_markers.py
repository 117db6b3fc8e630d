"""Marks that tell a provider which beginning of a prompt comes again, where the provider wants to be told."""

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.patterns import IGNORECASE, bounded
from tasks.judging.step import end_of_first_block

_CLAUDE = bounded(r"^anthropic/|(^|[/.])claude-", IGNORECASE)


def is_claude(model: str) -> bool:
    """Whether `model`, by LiteLLM's name, is one of Anthropic's, wherever it is hosted."""
    return _CLAUDE.search(model) is not None


def takes_cache_markers(model: str) -> bool:
    """Whether the model's API caches only what is marked.

    Others, such as OpenAI's, cache beginnings of 1,024 tokens and more by themselves.
    """
    return is_claude(model)


def with_cache_markers(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same words, with a mark behind what all calls of a step about an idea share: the instructions and the first block.

    LiteLLM passes `cache_control` of a content part on to the provider.
    """
    system, user, *rest = messages
    end = end_of_first_block(user["content"])
    same, varying = user["content"][:end], user["content"][end:]
    if not same or not varying.strip():
        return [dict(message) for message in messages]
    shared = {"type": "text", "text": same, "cache_control": {"type": "ephemeral"}}
    return [
        dict(system),
        {**user, "content": [shared, {"type": "text", "text": varying}]},
        *(dict(message) for message in rest),
    ]
