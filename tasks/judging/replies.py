"""A model's reply as text → the step's output model, or a typed reason why not.

Values are never guessed.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_origin

from pydantic import ValidationError

from schemas.base import Reply
from schemas.calls import CallStatus
from schemas.patterns import IGNORECASE, bounded
from schemas.reasons import Reason
from tasks.judging.json_candidates import json_values, looks_cut_off, repaired
from tasks.web.decoding import with_whole_characters

# Whether a reply without JSON is a refusal.

_REFUSAL = bounded(
    r"^\W*+(?:(?:i['’]?m|i am|we['’]?re) (?:sorry|afraid|unable|not able)|sorry\b|(?:my"
    r" )?apologies|i apologi[sz]e"
    r"|unfortunately,? i|(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|have"
    r" to decline|decline)"
    r"|as an ai\b|this request (?:violates|goes against)|i['’]m not comfortable)",
    IGNORECASE,
)
_LONGEST = 1500


def is_refusal(text: str) -> bool:
    """Whether `text`, which holds no JSON, opens with the words of a refusal."""
    return len(text) <= _LONGEST and _REFUSAL.match(text) is not None


OutputT = TypeVar("OutputT", bound=Reply)
_DETAIL_LENGTH = 300


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[OutputT]):
    """A reply that validates.

    `repaired`: its JSON was broken and mended without adding or losing text.
    """

    value: OutputT
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class UnusableReply:
    """A reply that gives no value. `again`: asking once more, with the error shown, may help."""

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

    Taken, in this order: the whole text as JSON; the JSON values inside it (in fences, in prose),
        of which the last
    that validates with the most fields counts; broken JSON mended by `json_repair`, if mending
    neither invents nor
    drops text. Whatever is taken has passed the model's validation.

    Args:
        finish_reason: as the provider gave it; `length` and `max_tokens` mean cut off,
            `content_filter` refused.
        refusal: the provider's own refusal message, if any.
    """
    text, refusal = with_whole_characters(text or ""), with_whole_characters(refusal or "")
    if refusal or finish_reason == "content_filter":
        return _refused(refusal or "the provider's content filter stopped the reply")
    body = _without_thoughts(text).strip()
    cut_off = finish_reason in ("length", "max_tokens")
    if not body and not cut_off:
        return UnusableReply(CallStatus.EMPTY, Reason.REPLY_EMPTY, "the reply is empty", again=True)
    if cut_off:
        return _cut_off()  # a part that happens to be valid is not the answer
    best, error = _best(json_values(body), output_model)
    if best is not None:
        return ParsedReply(best)
    if error is None and is_refusal(body):
        return _refused(body)
    if looks_cut_off(body):
        detail = "the reply ends inside its JSON"
        return UnusableReply(CallStatus.CUT_OFF, Reason.REPLY_CUT_OFF, detail, again=True)
    if error is None and (mended := repaired(body)) is not None:
        best, error = _best(iter([mended]), output_model)
        if best is not None:
            return ParsedReply(best, repaired=True)
    detail = error or f"no JSON in the reply: {_short(body)}"
    return UnusableReply(CallStatus.UNPARSABLE, Reason.REPLY_UNPARSABLE, detail, again=True)


def _best(values: Iterator[Any], output_model: type[OutputT]) -> tuple[OutputT | None, str | None]:
    """The validating value with the most of the model's fields, the last of equals; else the last
    error.
    """
    best: OutputT | None = None
    most = -1
    error: str | None = None
    for value in values:
        answer = _as_answer(value, output_model)
        if answer is None:
            continue
        known = len(answer.keys() & _names(output_model))
        try:
            validated = output_model.model_validate(answer)
        except ValidationError as problem:
            error = _validation_message(problem)
            continue
        if known >= most:
            best, most = validated, known
    return best, error


def _as_answer(value: Any, output_model: type[Reply]) -> dict[str, Any] | None:
    """The object that answers, unwrapped from a list of one or a single outer key; None when it has
    none of the fields.
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


def _without_thoughts(text: str) -> str:
    """Drop what a reasoning model thought aloud before its answer."""
    start, closed, answer = text.partition("</think>")
    return answer if closed and start.lstrip().startswith("<think>") else text


def _validation_message(problem: ValidationError) -> str:
    parts = [
        f"{'.'.join(str(part) for part in item['loc']) or 'reply'}: {item['msg']}"
        for item in problem.errors(include_url=False, include_input=False)
    ]
    return _short("; ".join(parts[:5]) + (f"; and {len(parts) - 5} more" if len(parts) > 5 else ""))


def _refused(detail: str) -> UnusableReply:
    return UnusableReply(
        CallStatus.REFUSED, Reason.REFUSED, f"the model refused: {_short(detail)}", again=False
    )


def _cut_off() -> UnusableReply:
    """A reply to ask for again with more room, rather than with its error shown."""
    detail = "the reply reached its length limit"
    return UnusableReply(CallStatus.CUT_OFF, Reason.REPLY_CUT_OFF, detail, again=False)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _DETAIL_LENGTH else line[: _DETAIL_LENGTH - 1] + "…"


def reply_json(value: Reply) -> str:
    """A reply as the text that `parse_reply` reads back to the same value."""
    return json.dumps(value.model_dump(mode="json", by_alias=True), ensure_ascii=False)
