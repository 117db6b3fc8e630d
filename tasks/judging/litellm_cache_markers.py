"""Marks that tell a provider which beginning of a prompt comes again, where the provider wants to be told."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_TAKES_MARKERS = re.compile(r"^anthropic/|(^|[/.])claude-", re.IGNORECASE)
_END_OF_IDEA = "\n</idea>"


def takes_cache_markers(model: str) -> bool:
    """Whether `model`, by LiteLLM's name, is one whose API caches only what is marked (Anthropic's, wherever it is hosted).

    Others, such as OpenAI's, cache beginnings of 1,024 tokens and more by themselves.
    """
    return _TAKES_MARKERS.search(model) is not None


def with_cache_markers(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same words, with a mark behind what all calls of a step about an idea share: the instructions and the idea's block.

    LiteLLM passes `cache_control` of a content part on to the provider.
    """
    system, user, *rest = messages
    idea, end, varying = user["content"].partition(_END_OF_IDEA)
    if not end or not varying.strip():
        return [dict(message) for message in messages]
    shared = {"type": "text", "text": idea + end, "cache_control": {"type": "ephemeral"}}
    return [dict(system), {**user, "content": [shared, {"type": "text", "text": varying}]}, *(dict(message) for message in rest)]
