"""Chat messages: shortening to a model's context, and attachments.

Shortening is deterministic and recorded. Instructions are never cut. The longest data blocks
(`<name>` … `</name>` of the user message) are cut to one common length, keeping head and tail with
a visible mark in between.
"""

import base64
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.settings import LanguageModelSettings
from schemas.text.patterns import MULTILINE, bounded
from tasks.judging.models import model_info

Message = dict[str, str]
TokenCounter = Callable[[str], int]

_OPENING = bounded(r"^<([a-z][a-z0-9_-]{0,60})>$", MULTILINE)
_CLOSING = bounded(r"\n</([a-z][a-z0-9_-]{0,60})>")
_TOKENS_PER_MESSAGE = 8
_LEAST_BLOCK_CHARACTERS = 200
_HEAD_SHARE = 0.7
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Fitted:
    """Messages that fit.

    `shortening` is one line on the omissions, None if there are none.
    """

    messages: list[Message]
    shortening: str | None


@dataclass(frozen=True, slots=True)
class TooLong:
    """Messages whose instructions, or whose many small blocks, leave no room."""

    detail: str


@dataclass(frozen=True, slots=True)
class _Block:
    name: str
    start: int
    end: int


def fit(
    messages: Sequence[Message], limit_tokens: int, count_tokens: TokenCounter
) -> Fitted | TooLong:
    """Shorten messages to at most `limit_tokens`.

    Args:
        messages: instructions first; the last one holds the data.
        count_tokens: called only when the messages might not fit by their number of bytes.
    """
    if (
        sum(len(message["content"].encode()) + _TOKENS_PER_MESSAGE for message in messages)
        <= limit_tokens
    ):
        return Fitted(list(messages), None)
    prompt_tokens = tokens_of(messages, count_tokens)
    if prompt_tokens <= limit_tokens:
        return Fitted(list(messages), None)
    *instructions, data = messages
    blocks = _blocks(data["content"])
    lengths = [block.end - block.start for block in blocks]
    if not blocks:
        return TooLong(
            f"{prompt_tokens} tokens of instructions exceed the {limit_tokens} the model has room for"
        )
    characters_per_token = max(
        sum(len(message["content"]) for message in messages) / prompt_tokens, 0.1
    )
    available = sum(lengths) - (prompt_tokens - limit_tokens) * characters_per_token
    for _ in range(_ROUNDS):
        level = _common_level(lengths, available)
        if level < min(_LEAST_BLOCK_CHARACTERS, max(lengths)):
            break
        content = _cut(data["content"], blocks, level)
        candidate = [*instructions, {**data, "content": content}]
        candidate_tokens = tokens_of(candidate, count_tokens)
        if candidate_tokens <= limit_tokens:
            return Fitted(candidate, _describe(blocks, lengths, level))
        available -= max((candidate_tokens - limit_tokens) * characters_per_token, 0.02 * available)
    return TooLong(
        f"{prompt_tokens} tokens cannot be shortened to the {limit_tokens} the model has room for without"
        " losing whole blocks"
    )


def tokens_of(messages: Sequence[Message], count_tokens: TokenCounter) -> int:
    """Count the tokens of messages, with those of the chat format."""
    return sum(count_tokens(message["content"]) + _TOKENS_PER_MESSAGE for message in messages)


def _blocks(content: str) -> list[_Block]:
    """Return the outermost data blocks.

    `end` is the line break before the closing tag.
    """
    ends: dict[str, list[int]] = defaultdict(list)
    for closing in _CLOSING.finditer(content):
        ends[closing.group(1)].append(closing.start())
    blocks: list[_Block] = []
    place = 0
    for opening in _OPENING.finditer(content):
        name = opening.group(1)
        following = bisect_left(ends[name], opening.end())
        if opening.start() >= place and following < len(ends[name]):
            end = ends[name][following]
            blocks.append(_Block(name, min(opening.end() + 1, end), end))
            place = end + 1
    return blocks


def _common_level(lengths: Sequence[int], available: float) -> int:
    """Return the greatest length L with sum(min(length, L)) at most `available`."""
    rest = available
    waiting = sorted(lengths)
    while waiting:
        share = rest / len(waiting)
        if waiting[0] > share:
            return int(share)
        rest -= waiting.pop(0)
    return max(lengths, default=0)


def _cut(content: str, blocks: Sequence[_Block], level: int) -> str:
    parts: list[str] = []
    place = 0
    for block in blocks:
        parts.append(content[place : block.start])
        parts.append(_head_and_tail(content[block.start : block.end], level))
        place = block.end
    return "".join([*parts, content[place:]])


def _head_and_tail(text: str, level: int) -> str:
    if len(text) <= level:
        return text
    mark = f"\n[… {len(text) - level} characters left out …]\n"
    room = max(level - len(mark), 2)
    head = int(room * _HEAD_SHARE)
    return text[:head] + mark + text[len(text) - (room - head) :]


def _describe(blocks: Sequence[_Block], lengths: Sequence[int], level: int) -> str:
    cut_blocks = [
        (block.name, length)
        for block, length in zip(blocks, lengths, strict=True)
        if length > level
    ]
    names = ", ".join(sorted({name for name, _ in cut_blocks}))
    character_count = sum(length for _, length in cut_blocks)
    return (
        f"head and tail kept of {len(cut_blocks)} longest of {len(blocks)} blocks ({names}):"
        f" {level * len(cut_blocks)} of {character_count} characters"
    )


PDF, PNG = "application/pdf", "image/png"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A PDF or a picture.

    `estimated_tokens` counts against budgets and rates until the provider reports the usage.
    """

    name: str
    sha256: str
    estimated_tokens: int
    content: bytes = field(repr=False)
    media_type: str = PDF


def with_attachment(messages: Sequence[Message], attachment: Attachment) -> list[Mapping[str, Any]]:
    """Put the file before the first user message's text.

    It is a content part of LiteLLM.

    Sources: https://docs.litellm.ai/docs/completion/document_understanding ("file_data", base64
    with its media type) and https://docs.litellm.ai/docs/completion/vision ("image_url").
    """
    base64_content = base64.b64encode(attachment.content).decode("ascii")
    data = f"data:{attachment.media_type};base64,{base64_content}"
    part: dict[str, Any] = {
        "type": "file",
        "file": {"filename": attachment.name, "file_data": data},
    }
    if attachment.media_type == PNG:
        part = {"type": "image_url", "image_url": {"url": data}}
    place = next(index for index, message in enumerate(messages) if message["role"] == "user")
    user_message: Mapping[str, Any] = {
        "role": "user",
        "content": [part, {"type": "text", "text": messages[place]["content"]}],
    }
    return [*messages[:place], user_message, *messages[place + 1 :]]


def takes_pdf(model: str) -> bool:
    """Return whether LiteLLM lists that the model reads attached PDFs."""
    return bool(model_info(model).get("supports_pdf_input"))


def takes_images(model: str, settings: LanguageModelSettings) -> bool:
    """Return whether the model reads attached pictures.

    The settings decide, else LiteLLM's tables.
    """
    if settings.images != "auto":
        return settings.images == "yes"
    return bool(model_info(model).get("supports_vision"))
