"""Pictures by image models: asked for as everything else is, and never kept as they come."""

import base64
import io
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from schemas.base import Noun
from schemas.calls import CallStatus
from schemas.judging import StepKind
from schemas.outcome import Scored, Unscored
from schemas.reasons import Reason
from tasks.judging.pictures import (
    MOST_BYTES,
    MOST_HEIGHT,
    MOST_WIDTH,
    PICTURE_TOKENS,
    PictureReply,
    read_picture,
)
from tasks.judging.replies import ParsedReply, UnusableReply
from tasks.judging.step import Step, no_baseline
from tests.support.drawn_pictures import TOKENS, drawn
from tests.support.openai_server import OpenAIServer
from warehouse.stores.keyed_store import KeyedStore
from warehouse.stores.transcripts import Transcripts

Open = Callable[..., Awaitable[Any]]
MODEL = "openai/gpt-image-1"


class Wanted(Noun):
    box: str


@pytest.fixture(scope="module")
def drawing() -> Step[Wanted, PictureReply]:
    made = Step(
        name="drawing_trial",
        version=1,
        package="tests.none",
        input_model=Wanted,
        output_model=PictureReply,
        baseline=no_baseline("nothing is drawn"),
        kind=StepKind.DRAWING,
        answer_tokens=PICTURE_TOKENS,
    )
    made.__dict__["template"] = "Draw a box.\n---\n{{ box | block('box') }}\n"
    return made


WANTED = Wanted(box="Count bats")


async def test_a_picture_is_one_request_one_row_and_litellms_price(
    server: OpenAIServer, open_engine: Open, drawing: Any
) -> None:
    opened = await open_engine(model=MODEL)
    outcome = await opened.engine.run(drawing, WANTED)
    assert isinstance(outcome, Scored), outcome
    assert (outcome.value.width, outcome.value.height) == (1536, 1024)
    (request,) = server.requests
    assert request.path == "/v1/images/generations"
    assert request.body == {
        "model": "gpt-image-1",
        "prompt": "Draw a box.\n\n<box>\nCount bats\n</box>",
    }
    (row,) = opened.ledger.llm_calls
    assert (row.status, row.attempt, row.cache_hit) == (CallStatus.OK, 1, False)
    assert (row.completion_tokens, row.model_requested) == (TOKENS, MODEL)
    assert row.cost_usd == pytest.approx(row.prompt_tokens * 5e-6 + TOKENS * 4e-5)
    assert row.parameters_dropped == "seed, temperature"
    assert outcome.provenance.call_ids == (row.call_id,)


@pytest.mark.parametrize("kind", ["jpeg", "clear", "wide"])
async def test_whatever_its_format_pixels_alone_are_kept_and_no_more_than_print_needs(
    server: OpenAIServer, open_engine: Open, drawing: Any, kind: str
) -> None:
    server.behaviour = f"picture:{kind}"
    opened = await open_engine(model="openai/loopback-image")
    outcome = await opened.engine.run(drawing, WANTED)
    assert isinstance(outcome, Scored), outcome
    with Image.open(io.BytesIO(outcome.value.content)) as image:
        assert (image.format, image.mode, image.info) == ("PNG", "RGB", {})
        assert image.size == (outcome.value.width, outcome.value.height)
        assert image.size[0] <= MOST_WIDTH
        assert image.size[1] <= MOST_HEIGHT
        assert image.getpixel((2, 2)) == pytest.approx((255, 255, 255), abs=3)


@pytest.mark.parametrize(
    ("behaviour", "reason", "status", "calls"),
    [
        ("content_policy", Reason.REFUSED, CallStatus.REFUSED, 1),
        ("moderated", Reason.REFUSED, CallStatus.REFUSED, 1),
        ("server_error", Reason.ENGINE_UNAVAILABLE, CallStatus.SERVER_ERROR, 3),
        ("not_json", Reason.ENGINE_UNAVAILABLE, CallStatus.SERVER_ERROR, 3),
        ("empty", Reason.REPLY_EMPTY, CallStatus.EMPTY, 1),
        ("malformed", Reason.REPLY_UNPARSABLE, CallStatus.UNPARSABLE, 1),
        ("address", Reason.REPLY_UNPARSABLE, CallStatus.UNPARSABLE, 1),
        ("picture:noise", Reason.REPLY_UNPARSABLE, CallStatus.UNPARSABLE, 1),
        ("picture:torn", Reason.REPLY_UNPARSABLE, CallStatus.UNPARSABLE, 1),
        ("picture:gif", Reason.REPLY_UNPARSABLE, CallStatus.UNPARSABLE, 1),
        ("picture:vast", Reason.REPLY_UNPARSABLE, CallStatus.UNPARSABLE, 1),
    ],
)
async def test_what_gives_no_picture_is_unscored_and_every_attempt_a_row(
    server: OpenAIServer,
    open_engine: Open,
    drawing: Any,
    behaviour: str,
    reason: Reason,
    status: CallStatus,
    calls: int,
) -> None:
    server.behaviour = behaviour
    opened = await open_engine(model=MODEL, maximum_attempts=3)
    outcome = await opened.engine.run(drawing, WANTED)
    assert isinstance(outcome, Unscored)
    rows = opened.ledger.llm_calls
    assert (outcome.reason, [row.status for row in rows]) == (reason, [status] * calls), (
        outcome.detail
    )
    assert all(row.error and "\n" not in row.error for row in rows)
    assert "site-packages" not in outcome.detail
    assert len(server.requests) == calls
    paid = status in (CallStatus.UNPARSABLE, CallStatus.EMPTY)
    assert all(bool(row.cost_usd) == paid for row in rows)


async def test_no_key_shows_in_a_refusal(
    server: OpenAIServer, open_engine: Open, drawing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")
    server.behaviour = "echoes:401"
    opened = await open_engine(model=MODEL)
    outcome = await opened.engine.run(drawing, WANTED)
    assert isinstance(outcome, Unscored)
    assert server.requests[0].key == "sk-planted-0123456789abcdef"
    assert "planted" not in f"{outcome}{opened.ledger.llm_calls}"


async def test_a_picture_is_wanted_as_bytes_from_models_that_take_the_wish(
    server: OpenAIServer, open_engine: Open, drawing: Any
) -> None:
    server.behaviour = "rejects:response_format"
    opened = await open_engine(model="openai/dall-e-3")
    for box in ("Count bats", "Show bats"):
        assert isinstance(await opened.engine.run(drawing, Wanted(box=box)), Scored)
    sent = [request.body.get("response_format") for request in server.requests]
    assert sent == ["b64_json", None, None], "a refusal is learnt"
    assert opened.ledger.llm_calls[-1].parameters_dropped == "response_format, seed, temperature"


async def test_without_a_price_or_a_count_of_tokens_the_cost_is_unknown(
    server: OpenAIServer, open_engine: Open, drawing: Any
) -> None:
    server.behaviour = "untold"
    opened = await open_engine(model="openai/loopback-image")
    assert isinstance(await opened.engine.run(drawing, WANTED), Scored)
    (row,) = opened.ledger.llm_calls
    assert (row.prompt_tokens, row.completion_tokens, row.cost_usd) == (0, 0, None)


async def test_the_same_picture_is_paid_once_and_its_bytes_are_in_no_transcript(
    server: OpenAIServer, open_engine: Open, drawing: Any, tmp_path: Path
) -> None:
    transcripts = Transcripts(tmp_path / "transcripts.sqlite")
    with KeyedStore(tmp_path / "replies.sqlite") as store:
        for again in (False, True):
            opened = await open_engine(model=MODEL, cache=store)
            opened.backend.transcripts = transcripts
            outcome = await opened.engine.run(drawing, WANTED)
            assert isinstance(outcome, Scored)
            (row,) = opened.ledger.llm_calls
            assert row.cache_hit is again
            kept = transcripts.read(row.transcript_sha256)
            assert kept.reply.startswith("a picture: ")
    transcripts.close()
    assert row.cost_usd == 0
    assert len(server.requests) == 1


WHOLE = {kind: drawn("<box>\nCount bats", kind) for kind in ("small", "jpeg", "webp", "gif")}


@given(
    kind=st.sampled_from(sorted(WHOLE)),
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=8),
    keep=st.floats(0, 1),
)
def test_whatever_bytes_come_they_give_a_plain_picture_or_a_reason(
    kind: str, changes: list[tuple[float, int]], keep: float
) -> None:
    content = bytearray(WHOLE[kind])
    for place, value in changes:
        content[int(place * min(len(content) - 1, 200))] = value
    content = content[: max(int(keep * len(content)), 1) if keep < 0.5 else len(content)]
    read = read_picture(base64.b64encode(bytes(content)).decode(), PictureReply)
    if isinstance(read, UnusableReply):
        assert not read.again
        return
    with Image.open(io.BytesIO(read.value.content)) as image:
        assert (image.format, image.mode, image.info) == ("PNG", "RGB", {})
        assert max(image.size) <= MOST_WIDTH


@given(text=st.text(max_size=60))
def test_whatever_text_comes_it_is_a_reason(text: str) -> None:
    assert isinstance(read_picture(text, PictureReply), UnusableReply)


def test_more_bytes_than_are_decoded_are_too_large() -> None:
    read = read_picture("A" * (MOST_BYTES * 4 // 3 + 8), PictureReply)
    assert isinstance(read, UnusableReply)
    assert read.reason is Reason.REPLY_UNPARSABLE


def test_a_picture_in_a_data_address_is_read() -> None:
    encoded = base64.b64encode(WHOLE["small"]).decode()
    assert isinstance(read_picture(f"data:image/png;base64,{encoded}", PictureReply), ParsedReply)
