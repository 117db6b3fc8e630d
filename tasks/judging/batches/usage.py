"""What an answer says that it took, in the words of each provider."""

from collections.abc import Mapping
from typing import Any

from schemas.calls import MAXIMUM_TOKENS


def usage_of(answer: Mapping[str, Any]) -> tuple[int, int, int]:
    """(prompt, completion, cached) tokens of an answer of OpenAI, Azure, Anthropic or Gemini; 0
    where it says nothing that can be believed. Cached tokens are part of the prompt's.
    """
    if isinstance(said := answer.get("usageMetadata"), Mapping):
        completion = _count(said, "candidatesTokenCount") + _count(said, "thoughtsTokenCount")
        return _count(said, "promptTokenCount"), completion, _count(said, "cachedContentTokenCount")
    said = answer.get("usage")
    if not isinstance(said, Mapping):
        return 0, 0, 0
    if "input_tokens" in said:
        cached = _count(said, "cache_read_input_tokens")
        prompt = _count(said, "input_tokens") + cached + _count(said, "cache_creation_input_tokens")
        return prompt, _count(said, "output_tokens"), cached
    details = said.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, Mapping) else 0
    return _count(said, "prompt_tokens"), _count(said, "completion_tokens"), cached


def _count(said: Mapping[str, Any], name: str) -> int:
    value = said.get(name)
    believable = isinstance(value, int) and 0 <= value <= MAXIMUM_TOKENS
    return int(value) if believable and value is not None else 0
