"""What an idea that waits for a batch has used is booked once, however often it is taken up."""

from datetime import UTC, datetime
from pathlib import Path

from schemas.calls import ApiCall
from schemas.identifiers import EvaluationKey, IdeaId
from tasks.accounting.ledger import Ledger
from tasks.evaluation.evaluate_shard import SuspendedIdeas

KEY = EvaluationKey("a" * 32)


def request(call_id: str, *, cache_hit: bool) -> ApiCall:
    return ApiCall(
        call_id=call_id,
        idea_id=IdeaId("i1"),
        source="semantic_scholar",
        endpoint="paper/search",
        status=200,
        failure_reason=None,
        wait_seconds=0.0,
        latency_seconds=0.1,
        cache_hit=cache_hit,
        packed=1,
        upstream_requests=0 if cache_hit else 1,
        created_at=datetime.now(UTC),
    )


def test_requests_that_left_are_kept_and_counted_once(tmp_path: Path) -> None:
    waiting, first = SuspendedIdeas(tmp_path / "waiting"), Ledger(IdeaId("i1"))
    assert [first.is_new_request() for _ in range(2)] == [True, True]
    first.api_calls += [request("left", cache_hit=False), request("kept", cache_hit=True)]
    waiting.suspend(KEY, first)
    second = Ledger(IdeaId("i1"))
    waiting.resume(KEY, second)
    assert [call.call_id for call in second.api_calls] == ["left"]
    assert [second.is_new_request() for _ in range(3)] == [False, False, True]


def test_an_idea_waits_until_the_answers_are_there_and_is_forgotten_when_it_has_landed(
    tmp_path: Path,
) -> None:
    waiting = SuspendedIdeas(tmp_path / "waiting")
    assert not waiting.is_waiting(KEY)
    waiting.suspend(KEY, Ledger(IdeaId("i1")))
    assert waiting.is_waiting(KEY)
    waiting.go_on()
    assert not waiting.is_waiting(KEY)
    waiting.forget(KEY)
    assert list((tmp_path / "waiting").iterdir()) == []
