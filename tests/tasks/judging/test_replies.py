import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from schemas.base import Reply
from schemas.calls import CallStatus
from schemas.reasons import Reason
from tasks.judging.replies import ParsedReply, UnusableReply, parse_reply, reply_json


class Verdict(Reply):
    score: int = Field(ge=0, le=10)
    reason: str
    tags: tuple[str, ...] = ()


class Listing(Reply):
    methods: list[str]


class Lenient(Reply):
    note: str = ""
    score: int = 3


GOOD = '{"score": 7, "reason": "Two papers agree."}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is my verdict:\n\n{GOOD}\n\nI hope this helps {{truly}}!",
        f'First {{"score": "no idea"}}, then [1] {GOOD}',
        f"[{GOOD}]",
        f'{{"verdict": {GOOD}}}',
        f"<think>Perhaps {{x}} or {GOOD.replace('7', '2')}</think>{GOOD}",
        '{"score": "7", "reason": "Two papers agree.", "extra": 1}',
        '{"score": 7, "reason": "Two papers agree.",}',
        "{'score': 7, 'reason': 'Two papers agree.'}",
        '{score: 7, reason: "Two papers agree."}',
        'Sure: {"score": 7 "reason": "Two papers agree."}',
        f'{{"$schema": "x", "properties": {{"score": {{"type": "integer"}}}}}}\n{GOOD}',
    ],
)
def test_a_reply_is_found_wherever_it_stands(text: str) -> None:
    parsed = parse_reply(text, Verdict)
    assert isinstance(parsed, ParsedReply), parsed
    assert parsed.value == Verdict(score=7, reason="Two papers agree.")


def test_the_part_of_an_unreadable_reply_that_is_told_shows_escaped_signs_as_themselves() -> None:
    found = parse_reply(r"{points = \u201cso\u201d, \u0007}", Verdict)
    assert isinstance(found, UnusableReply)
    assert found.detail == r"no JSON in the reply: {points = “so”, \u0007}"


@pytest.mark.parametrize("reason", [r"half \ud800", "half \ud800"], ids=["escaped", "as it is"])
def test_half_a_character_reads_as_the_replacement_character(reason: str) -> None:
    found = parse_reply(f'{{"score": 7, "reason": "{reason}"}}', Verdict)
    assert isinstance(found, ParsedReply)
    assert found.value.reason == "half \ufffd"


def test_the_last_full_answer_counts() -> None:
    parsed = parse_reply(
        '{"score": 1, "reason": "draft"} better: {"score": 9, "reason": "final"}', Verdict
    )
    assert isinstance(parsed, ParsedReply)
    assert parsed.value.reason == "final"


DRAFT = '{"score": 9, "reason": "Too high.", "tags": ["draft"]}'


@pytest.mark.parametrize(
    "text",
    [
        f"Let me draft: {DRAFT} hmm, too high.</think>{GOOD}",
        f"<think>Let me draft: {DRAFT}</think>{GOOD}",
        f"<thinking>{DRAFT}</thinking>\n{GOOD}",
        f"{DRAFT}</THINK>\n```json\n{GOOD}\n```",
        f"◁think▷{DRAFT}◁/think▷{GOOD}",
        f"[THINK]{DRAFT}[/THINK]{GOOD}",
        f"<|START_THINKING|>{DRAFT}<|END_THINKING|>{GOOD}",
        f"<think>{DRAFT}</think>{DRAFT}<think>No.</think>{GOOD}",
        f'<think>It starts {{"score": 9, "reason": "a</think>{GOOD}',
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final"
        f"<|message|>{GOOD}<|return|>",
        f"analysis{DRAFT}<|channel|>final <|constrain|>json<|message|>{GOOD}",
        f"analysisA draft is {DRAFT}.assistantfinal{GOOD}",
        f"{DRAFT} On reflection: {GOOD}",
    ],
)
def test_drafts_among_thoughts_are_no_answers(text: str) -> None:
    parsed = parse_reply(text, Verdict)
    assert isinstance(parsed, ParsedReply), parsed
    assert parsed.value == Verdict(score=7, reason="Two papers agree.")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (f"Let me draft: {DRAFT} hmm, too high.</think>I cannot decide.", CallStatus.UNPARSABLE),
        (f"<think>Let me draft: {DRAFT} hmm.</think>I cannot decide.", CallStatus.UNPARSABLE),
        (f"Let me draft: {DRAFT} hmm, too high.</think>", CallStatus.EMPTY),
        (f"<think>Let me draft: {DRAFT} hmm", CallStatus.CUT_OFF),
        (f"<think>Once.</think><think>Let me draft: {DRAFT}", CallStatus.CUT_OFF),
        (f"<|channel|>analysis<|message|>{DRAFT}", CallStatus.CUT_OFF),
        (f"<|start|>assistant<|channel|>analysis<|message|>{DRAFT}", CallStatus.CUT_OFF),
        (f"Let us see.\n  <think>Let me draft: {DRAFT}", CallStatus.CUT_OFF),
    ],
)
def test_a_reply_with_nothing_but_thoughts_is_asked_for_again(
    text: str, status: CallStatus
) -> None:
    parsed = parse_reply(text, Verdict)
    assert isinstance(parsed, UnusableReply), parsed
    assert (parsed.status, parsed.again) == (status, True)


@pytest.mark.parametrize("before", ["", f"<think>{DRAFT}</think>", f"{DRAFT}</think>"])
@pytest.mark.parametrize("tag", ["<think>", "</think>", "<think>a</think>", "[/THINK]"])
def test_an_answer_may_quote_the_tags_of_thoughts(before: str, tag: str) -> None:
    verdict = Verdict(score=4, reason=f"The paper trains on {tag} alone.")
    assert parse_reply(f"{before}{reply_json(verdict)}", Verdict) == ParsedReply(verdict)


@pytest.mark.parametrize(
    "text",
    [
        f"Here is my answer, as the paper defines <analysis> tags:\n{GOOD}",
        f"{GOOD}\n\nNote: I did not use <thinking> tags.",
        f"{GOOD}\n<thinking> tags are not used here.",
        f"{GOOD}\n<think>Or rather {DRAFT}",
        f"<think>{DRAFT}</think>\nAs the paper defines <think>:\n{GOOD}",
    ],
)
def test_an_answer_may_stand_among_words_about_tags_of_thoughts(text: str) -> None:
    parsed = parse_reply(text, Verdict)
    assert parsed == ParsedReply(Verdict(score=7, reason="Two papers agree."))


@pytest.mark.parametrize("reason", ["It trains on <think> alone.", "It says:\n<think> and ends."])
def test_broken_json_that_quotes_a_tag_of_thoughts_is_mended(reason: str) -> None:
    parsed = parse_reply(f'{{"score": 7, "reason": "{reason}",}}', Verdict)
    assert parsed == ParsedReply(Verdict(score=7, reason=reason), repaired=True)


def test_the_last_answer_counts_and_not_the_fullest() -> None:
    parsed = parse_reply('{"score": 1, "note": "draft"} or {"score": 9}', Lenient)
    assert parsed == ParsedReply(Lenient(score=9))


def test_a_bare_list_answers_a_model_with_one_list() -> None:
    parsed = parse_reply('["a", "b"]', Listing)
    assert isinstance(parsed, ParsedReply)
    assert parsed.value.methods == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "finish_reason", "status", "reason"),
    [
        ("", "stop", CallStatus.EMPTY, Reason.REPLY_EMPTY),
        (None, None, CallStatus.EMPTY, Reason.REPLY_EMPTY),
        ("<think>hm</think>  ", "stop", CallStatus.EMPTY, Reason.REPLY_EMPTY),
        ("I'm sorry, but I can't help with that.", "stop", CallStatus.REFUSED, Reason.REFUSED),
        ("I cannot judge this idea.", "stop", CallStatus.REFUSED, Reason.REFUSED),
        ("", "content_filter", CallStatus.REFUSED, Reason.REFUSED),
        ('{"score": 7, "reason": "Two pap', "length", CallStatus.CUT_OFF, Reason.REPLY_CUT_OFF),
        ('{"score": 7, "reason": "Two pap', "stop", CallStatus.CUT_OFF, Reason.REPLY_CUT_OFF),
        (
            "```json\n" + '{"score": 7, "tags": ["a", "b"\n```',
            "stop",
            CallStatus.UNPARSABLE,
            Reason.REPLY_UNPARSABLE,
        ),
        ('{"score": 7}', "stop", CallStatus.UNPARSABLE, Reason.REPLY_UNPARSABLE),
        ('{"score": 70, "reason": "x"}', "stop", CallStatus.UNPARSABLE, Reason.REPLY_UNPARSABLE),
        ('{"score": , "reason": "x"}', "stop", CallStatus.UNPARSABLE, Reason.REPLY_UNPARSABLE),
        ('{"score": 7, "reason": }', "stop", CallStatus.UNPARSABLE, Reason.REPLY_UNPARSABLE),
        ("Seven out of ten.", "stop", CallStatus.UNPARSABLE, Reason.REPLY_UNPARSABLE),
    ],
)
def test_what_gives_no_value_says_why(
    text: str | None, finish_reason: str | None, status: CallStatus, reason: Reason
) -> None:
    parsed = parse_reply(text, Verdict, finish_reason=finish_reason)
    assert isinstance(parsed, UnusableReply), parsed
    assert parsed.detail
    if parsed.status is CallStatus.CUT_OFF and status is CallStatus.UNPARSABLE:
        return
    assert (parsed.status, parsed.reason) == (status, reason)


def test_a_reply_that_was_cut_off_is_never_read_as_if_whole() -> None:
    for finish_reason in ("length", "max_tokens"):
        reply = parse_reply(GOOD, Verdict, finish_reason=finish_reason)
        assert isinstance(reply, UnusableReply)
        assert reply.reason is Reason.REPLY_CUT_OFF


def test_an_object_without_any_field_is_no_answer_even_where_all_have_defaults() -> None:
    assert isinstance(parse_reply('{"error": "overloaded"}', Lenient), UnusableReply)


def test_the_provider_says_it_refused() -> None:
    parsed = parse_reply(GOOD, Verdict, refusal="No.")
    assert isinstance(parsed, UnusableReply)
    assert parsed.status is CallStatus.REFUSED


JSON_TEXT = st.text(max_size=60)
VERDICTS = st.builds(
    Verdict,
    score=st.integers(0, 10),
    reason=JSON_TEXT,
    tags=st.lists(JSON_TEXT, max_size=3).map(tuple),
)
PLAIN = st.text("abcé xyz,:{}[]\"'\\", max_size=30)
PLAIN_VERDICTS = st.builds(
    Verdict, score=st.integers(0, 10), reason=PLAIN, tags=st.lists(PLAIN, max_size=3).map(tuple)
)
PROSE = st.text(st.characters(exclude_characters="{}[]<>"), max_size=60)


@given(VERDICTS, PROSE, PROSE, st.booleans())
def test_an_answer_survives_any_prose_around_it(
    verdict: Verdict, before: str, after: str, fenced: bool
) -> None:
    body = reply_json(verdict)
    text = f"{before}\n```json\n{body}\n```\n{after}" if fenced else f"{before}\n{body}\n{after}"
    assert parse_reply(text, Verdict) == ParsedReply(verdict)


@given(st.text(max_size=200), st.sampled_from([None, "stop", "length"]))
def test_no_reply_makes_the_parser_raise(text: str, finish_reason: str | None) -> None:
    parse_reply(text, Verdict, finish_reason=finish_reason)


@given(PLAIN_VERDICTS, st.data())
def test_a_damaged_reply_never_yields_words_the_model_did_not_write(
    verdict: Verdict, data: st.DataObject
) -> None:
    body = reply_json(verdict)
    place = data.draw(st.integers(0, len(body) - 1))
    damaged = (
        body[:place] + data.draw(st.sampled_from(["", '"', ",", "}", "\n"])) + body[place + 1 :]
    )
    parsed = parse_reply(damaged, Verdict)
    if isinstance(parsed, ParsedReply):
        flat = "".join(damaged.replace("\\", "").split())
        half_escapes = str.maketrans(
            {"\b": "b", "\f": "f", "\\": ""}
        )  # a lost backslash makes an escape of the next letter
        for string in (parsed.value.reason, *parsed.value.tags):
            assert "".join(string.translate(half_escapes).split()) in flat


def test_a_truncated_reply_is_never_completed() -> None:
    body = reply_json(
        Verdict(score=7, reason="One. Two. Three.", tags=("first", "second", "third"))
    )
    for end in range(1, len(body)):
        assert isinstance(parse_reply(body[:end], Verdict), UnusableReply), body[:end]


def test_a_list_cut_after_an_item_is_never_completed() -> None:
    class Items(Reply):
        items: list[Verdict]

    parsed = parse_reply(
        '{"items": [{"score": 1, "reason": "a"}, {"score": 2, "reason": "b"}', Items
    )
    assert isinstance(parsed, UnusableReply)
    assert parsed.status is CallStatus.CUT_OFF


@pytest.mark.parametrize(
    "hostile",
    ["{" * 20_000, "[" * 50_000, '{"a":' * 5_000, "{" + '"a' * 20_000, "{</think>" * 20_000],
)
def test_hostile_nesting_is_only_unparsable(hostile: str) -> None:
    assert isinstance(parse_reply(hostile, Verdict), UnusableReply)
