"""A model behind a suite: what it answered is kept, what it did not answer is unscored, and nothing
is asked twice.
"""

from pathlib import Path

import pytest

from schemas.run import Budget
from tasks.benchmarks.suites.matches import PAIRS
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    rows_of,
    run_small,
    scores_of,
    write_pairs,
)
from tests.support.openai_server import Recorded, start_openai_server

MODEL = {"engine": "litellm:openai/loopback", "modules": ()}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__MAXIMUM_ATTEMPTS", "1")


def test_an_interrupted_suite_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    answered: list[str] = []

    def dies_after_two(request: Recorded) -> str:
        if len(answered) >= 2:
            return "server_error"
        answered.append(str(request.body["messages"]))
        return "good"

    with start_openai_server(dies_after_two) as server:
        request = benchmark_request(write_pairs(tmp_path, 3), PAIRS, api_base=server.url, **MODEL)
        first = run_small(PAIRS, request, never_evaluate)
        assert first.head.incomplete_reason is not None
        unscored = sum(
            row[2]
            for row in scores_of(
                request, "metric = 'pairwise_accuracy' and slice like 'difficulty%'"
            ).values()
        )
        assert unscored > 0
        before = len(server.requests)
        server.behaviour = "good"
        second = run_small(PAIRS, request, never_evaluate)
    asked_again = [str(one.body["messages"]) for one in server.requests[before:]]
    assert second.head.run_id == first.head.run_id
    assert second.head.incomplete_reason is None
    assert not set(asked_again) & set(answered)
    assert rows_of(request, "select count(*) from benchmark_items where answer is null") == [(0,)]
    ((calls, tokens),) = rows_of(request, "select llm_calls, prompt_tokens from benchmarks")
    booked = (
        "select count(*), sum(prompt_tokens)::bigint from llm_calls where run_id like 'benchmark-%'"
    )
    assert rows_of(request, booked) == [(calls, tokens)]


def test_a_model_that_answers_nothing_gives_no_value_and_says_why(tmp_path: Path) -> None:
    with start_openai_server("refusal") as server:
        request = benchmark_request(write_pairs(tmp_path, 1), PAIRS, api_base=server.url, **MODEL)
        run_small(PAIRS, request, never_evaluate)
    value, reason, unscored = scores_of(request)["pairwise_accuracy", "difficulty=easy", "assay"]
    assert (value, reason, unscored) == (None, "none of the 1 pairs was answered", 1)
    assert {row[0] for row in rows_of(request, "select unscored_reason from benchmark_items")} == {
        "refused"
    }


def test_a_spent_budget_ends_the_suite_and_is_told(tmp_path: Path) -> None:
    with start_openai_server() as server:
        bounded = {"budget": Budget(maximum_tokens=3000), "api_base": server.url, **MODEL}
        request = benchmark_request(write_pairs(tmp_path, 6), PAIRS, **bounded)
        assert (
            run_small(PAIRS, request, never_evaluate).head.incomplete_reason == "budget_exhausted"
        )
