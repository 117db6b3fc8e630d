"""Parsing of a model's reply into the step's output model.

Values are never guessed, and broken JSON is repaired only without adding or losing text.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_origin

import json_repair
from pydantic import ValidationError

from schemas.base import Reply
from schemas.calls import CallStatus
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, MULTILINE, Match, bounded
from tasks.web.decoding import with_whole_characters

_DECODER = json.JSONDecoder(strict=False)
_NOISE = bounded(r"[\s\\]+")
_WORDS = bounded(r"[^\W_]+")
_LEAST_KEPT_SHARE = 0.97
_ESCAPED = bounded(r"\\u([0-9a-fA-F]{4})")
_START = bounded(r"[{\[]")
_MOST_FAILED_STARTS = 200
_MOST_REREAD_CHARACTERS = 2_000_000
"""Limit of characters scanned again after failures: unclosed nested lists take quadratic time."""
_LONGEST_MENDED = 60_000
_MOST_QUOTES_TIMES_CHARACTERS = 50_000_000
"""Limit for json_repair, which scans from each quotation mark, often to the end."""


def json_values(text: str) -> Iterator[Any]:
    """Yield every outermost JSON object or list of `text`, in order."""
    for value, _, _ in _json_spans(text):
        if isinstance(value, dict) or any(isinstance(item, dict | str) for item in value):
            yield value


def _json_spans(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield (value, start, exclusive end) of every outermost JSON value."""
    place = failed_starts = reread_characters = 0
    while failed_starts < _MOST_FAILED_STARTS and reread_characters < _MOST_REREAD_CHARACTERS:
        start = next(_START.finditer(text, place), None)
        if start is None:
            return
        try:
            value, place = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            place = start.end()
            failed_starts += 1
            reread_characters += getattr(error, "pos", len(text)) - place
            continue
        yield value, start.start(), place


def looks_cut_off(text: str) -> bool:
    """Return whether the text opens a JSON object that it never closes.

    A text that ends in `}` inside a string has broken quotes, not a missing end.
    """
    start = text.find("{")
    body = text.rstrip()
    if body.endswith(("```", "~~~")):
        body = body[:-3].rstrip()
    if start < 0:
        return False
    depth = 0
    inside_string = is_escaped = False
    for character in body[start:]:
        if inside_string:
            inside_string = is_escaped or character != '"'
            is_escaped = character == "\\" and not is_escaped
        elif character == '"':
            inside_string = True
        else:
            depth += (character in "{[") - (character in "}]")
    return not body.endswith("}") if inside_string else depth > 0


def repair_json(text: str) -> Any | None:
    """Repair the JSON between the text's first and last brackets.

    The result is None when the repair invents or drops text, and for a text too long for
    json_repair.
    """
    start, end = text.find("{"), max(text.rfind("}"), text.rfind("]"))
    if start < 0 or end < start:
        return None
    source = text[start : end + 1]
    quotes = source.count('"') + source.count("'")
    if len(source) > _LONGEST_MENDED or quotes * len(source) > _MOST_QUOTES_TIMES_CHARACTERS:
        return None
    try:
        value = json_repair.loads(source)
    except (ValueError, RecursionError, IndexError, TypeError):
        return None
    return value if isinstance(value, dict | list) and _keeps_all_text(source, value) else None


def _keeps_all_text(source: str, value: Any) -> bool:
    flat = _NOISE.sub("", source)
    leaves = list(_leaves(value))
    if any(_NOISE.sub("", leaf) not in flat for leaf in leaves if leaf):
        return False
    if leaves.count("") > source.count('""') + source.count("''"):
        return False
    kept_characters = sum(len(word) for leaf in leaves for word in _WORDS.findall(leaf))
    return kept_characters >= _LEAST_KEPT_SHARE * sum(
        len(word) for word in _WORDS.findall(source.replace("\\n", " "))
    )


def _leaves(value: Any) -> Iterator[str]:
    """Yield keys and scalars as the source would write them."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value
    elif value is None or isinstance(value, bool):
        yield {True: "true", False: "false", None: "null"}[value]
    else:
        yield repr(value)


_REFUSAL = bounded(
    r"^\W*+(?:(?:i['’]?m|i am|we['’]?re) (?:sorry|afraid|unable|not able)|sorry\b|(?:my"
    r" )?apologies|i apologi[sz]e"
    r"|unfortunately,? i|(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|have"
    r" to decline|decline)"
    r"|as an ai\b|this request (?:violates|goes against)|i['’]m not comfortable)",
    IGNORECASE,
)
_LONGEST_REFUSAL = 1500


# Marks of thoughts in the templates of reasoning models: DeepSeek and Qwen, Kimi, Magistral,
# gpt-oss (also with its special tokens stripped), Cohere, Sky-T1.
_THOUGHT = "(?:think|thinking|thoughts?|reasoning|scratchpad|analysis)"
# In the middle of a line such a mark is a mention: “the paper defines <analysis> tags”.
_THOUGHTS_BEGIN = bounded(
    r"^[ \t]{0,40}(?:<\|[a-z_]{1,30}\|>(?:assistant)?){0,4}"
    rf"(?:<(?:[a-z]{{1,12}}:)?{_THOUGHT}>|◁think▷|\[THINK\]"
    r"|<\|begin_of_thought\|>|<\|START_THINKING\|>"
    r"|<\|channel\|>\s?(?:analysis|commentary))",
    IGNORECASE | MULTILINE,
)
_THOUGHTS_END = bounded(
    rf"</(?:[a-z]{{1,12}}:)?{_THOUGHT}>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>|<\|END_THINKING\|>"
    r"|<\|channel\|>\s?final[^<]{0,20}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>"
    r"|assistantfinal(?=\s{0,99}[\[{`])",
    IGNORECASE,
)

OutputT = TypeVar("OutputT", bound=Reply)
_DETAIL_LENGTH = 300


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[OutputT]):
    """A valid reply.

    `repaired`: its JSON was repaired without adding or losing text.
    """

    value: OutputT
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class UnusableReply:
    """A reply without a value.

    `again`: a retry with the error in the prompt may help.
    """

    status: CallStatus
    reason: Reason
    detail: str
    again: bool


def parse_reply(
    text: str | None,
    output_model: type[OutputT],
    *,
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> ParsedReply[OutputT] | UnusableReply:
    """Read `text` as `output_model`.

    Thoughts are dropped first: everything up to their last closing tag, and from an unclosed
    opening tag at the start of a line. Then the last valid JSON value of the text counts (alone,
    in fences, in prose), else JSON repaired by `json_repair`, if that neither invents nor drops
    text.

    Args:
        finish_reason: of the provider; `length` and `max_tokens` mean cut off, `content_filter`
            refused.
        refusal: the provider's own refusal message, if any.
    """
    text, refusal = with_whole_characters(text or ""), with_whole_characters(refusal or "")
    if refusal or finish_reason == "content_filter":
        return _refusal(refusal or "the provider's content filter stopped the reply")
    if finish_reason in ("length", "max_tokens"):
        # A valid part of the text is not the whole answer. It is requested again with a higher
        # limit, not corrected.
        detail = "the reply reached its length limit"
        return UnusableReply(CallStatus.CUT_OFF, Reason.REPLY_CUT_OFF, detail, again=False)
    thoughts, body, unclosed_place = _split_thoughts(text)
    if not body:
        return UnusableReply(CallStatus.EMPTY, Reason.REPLY_EMPTY, "the reply is empty", again=True)
    best, error = _best(json_values(body[:unclosed_place]), output_model)
    if best is not None:
        return ParsedReply(best)
    # Inside an open JSON value, the mark is part of its text.
    if unclosed_place is not None and not looks_cut_off(body[:unclosed_place]):
        detail = "the reply ends inside its thoughts"
        return UnusableReply(CallStatus.CUT_OFF, Reason.REPLY_CUT_OFF, detail, again=True)
    refuses = len(body) <= _LONGEST_REFUSAL and _REFUSAL.match(body)
    # A draft of an answer among the thoughts rules out a refusal.
    if error is None and refuses and _best(json_values(thoughts), output_model)[0] is None:
        return _refusal(body)
    if looks_cut_off(body):
        detail = "the reply ends inside its JSON"
        return UnusableReply(CallStatus.CUT_OFF, Reason.REPLY_CUT_OFF, detail, again=True)
    if error is None and (repaired_value := repair_json(body)) is not None:
        best, error = _best(iter([repaired_value]), output_model)
        if best is not None:
            return ParsedReply(best, repaired=True)
    detail = error or f"no JSON in the reply: {_shorten(body)}"
    return UnusableReply(CallStatus.UNPARSABLE, Reason.REPLY_UNPARSABLE, detail, again=True)


def _best(values: Iterator[Any], output_model: type[OutputT]) -> tuple[OutputT | None, str | None]:
    """Return the last value that validates, else the last error."""
    best: OutputT | None = None
    error: str | None = None
    for value in values:
        answer = _as_answer(value, output_model)
        if answer is None:
            continue
        try:
            best = output_model.model_validate(answer)
        except ValidationError as problem:
            error = _validation_message(problem)
    return best, error


def _as_answer(value: Any, output_model: type[Reply]) -> dict[str, Any] | None:
    """Return the object with the reply's fields.

    It may be wrapped in a list of one or under a single key. The result is None when it has none of
    the fields.
    """
    names = _names(output_model)
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], dict) and value[0].keys() & names:
            return value[0]
        fields = output_model.model_fields
        only = next(iter(fields)) if len(fields) == 1 else None
        return (
            {only: value} if only and get_origin(fields[only].annotation) in (list, tuple) else None
        )
    if not isinstance(value, dict):
        return None
    if value.keys() & names or not names:
        return value
    inner = next(iter(value.values())) if len(value) == 1 else None
    return inner if isinstance(inner, dict) and inner.keys() & names else None


def _names(output_model: type[Reply]) -> set[str]:
    fields = output_model.model_fields
    return set(fields) | {field.alias for field in fields.values() if field.alias}


def _split_thoughts(text: str) -> tuple[str, str, int | None]:
    """Split a reply into (thoughts, answer, position of unclosed thoughts).

    The position is in the answer. A closing tag may have no opening one, which the model's template
    supplies. Marks inside a JSON value are text.
    """
    marks = [*_THOUGHTS_END.finditer(text), *_THOUGHTS_BEGIN.finditer(text)]
    if not marks:
        return "", text.strip(), None
    values = [(first, end) for _, first, end in _json_spans(text)]
    starts = [first for first, _ in values]

    def is_in_json(place: int) -> bool:
        value = bisect_right(starts, place)
        return value > 0 and place < values[value - 1][1]

    begin = 0
    for mark in _THOUGHTS_END.finditer(text):
        begin = begin if is_in_json(mark.start()) else mark.end()
    begin = len(text) - len(text[begin:].lstrip())
    body = text[begin:].rstrip()
    places = (mark.start() for mark in _THOUGHTS_BEGIN.finditer(body))
    unclosed_place = next((place for place in places if not is_in_json(begin + place)), None)
    return text[:begin], body, unclosed_place


def _validation_message(problem: ValidationError) -> str:
    parts = [
        f"{'.'.join(str(part) for part in item['loc']) or 'reply'}: {item['msg']}"
        for item in problem.errors(include_url=False, include_input=False)
    ]
    return _shorten(
        "; ".join(parts[:5]) + (f"; and {len(parts) - 5} more" if len(parts) > 5 else "")
    )


def _refusal(detail: str) -> UnusableReply:
    return UnusableReply(
        CallStatus.REFUSED, Reason.REFUSED, f"the model refused: {_shorten(detail)}", again=False
    )


def _character(escape: Match[str]) -> str:
    """Return the character of a JSON escape, if it is printable."""
    character = chr(int(escape[1], 16))
    return character if character.isprintable() else escape.group()


def _shorten(text: str) -> str:
    line = " ".join(_ESCAPED.sub(_character, text).split())
    return line if len(line) <= _DETAIL_LENGTH else line[: _DETAIL_LENGTH - 1] + "…"


def reply_json(value: Reply) -> str:
    """Return a reply as text that `parse_reply` can read."""
    return json.dumps(value.model_dump(mode="json", by_alias=True), ensure_ascii=False)
