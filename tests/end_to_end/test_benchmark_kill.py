"""A benchmark killed in the middle and started again: nothing is asked twice, and the scores are
those of an undisturbed one.
"""

from pathlib import Path

import pytest

from tasks.benchmarks.suites.matches import PAIRS
from tests.support.assay_command import assay, environment, kill_hard, rows, start_assay, wait_until
from tests.support.benchmark_sets import benchmark_request, never_evaluate, run_small, write_pairs
from tests.support.openai_server import Recorded, start_openai_server

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]

PROBE = "whether questions and answers are understood on both sides"
"""Every command asks this first, of any engine."""
ANSWERED_BEFORE = 4
"""The probe and three matches."""
GUARD_SECONDS = 400
SCORES = (
    "select metric, slice, system, value, lower, upper, count, unscored_count from benchmark_scores"
    " order by all"
)


def test_a_suite_killed_in_the_middle_asks_nothing_twice_and_scores_as_an_undisturbed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One call at a time, so that all before the one that hangs were answered and kept when the
    process dies.
    """
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    (data := tmp_path / "data").mkdir()
    write_pairs(data, 3)
    env = environment(
        tmp_path / "home",
        OPENAI_API_KEY="sk-of-a-test",
        ASSAY_LANGUAGE_MODEL__MAXIMUM_CONCURRENCY="1",
    )

    def hangs_in_the_middle(request: Recorded) -> str:
        return "good" if request.number <= ANSWERED_BEFORE else "hangs"

    with start_openai_server(hangs_in_the_middle) as server:
        options = (
            "--data",
            str(data),
            "--engine",
            "litellm:openai/loopback",
            "--api-base",
            server.url,
            "--literature",
            "live",
        )
        command = ("benchmark", "pairs", *options, "--warehouse", str(tmp_path / "warehouse"))
        process = start_assay(*command, env=env, log=(log := tmp_path / "first.log"))
        wait_until(
            lambda: len(server.requests) > ANSWERED_BEFORE or process.poll() is not None,
            GUARD_SECONDS,
            "the call that hangs",
        )
        assert process.poll() is None, log.read_text()
        kill_hard(process)
        process.wait(timeout=GUARD_SECONDS)
        server.behaviour = "good"
        again = assay(*command, env=env)
        assert again.returncode == 0, again.stderr
        asked = [
            text for one in server.requests if PROBE not in (text := str(one.body["messages"]))
        ]
        assert len(asked) == len(set(asked)) + 1, "only the call that was in flight"
        assert asked.count(asked[ANSWERED_BEFORE - 1]) == 2
        undisturbed = {
            "engine": "litellm:openai/loopback",
            "api_base": server.url,
            "warehouse": tmp_path / "other",
        }
        run_small(PAIRS, benchmark_request(data, PAIRS, **undisturbed), never_evaluate)
        assert len(server.requests) == 2 + len(asked) + len(set(asked))
    assert rows(tmp_path / "warehouse", SCORES) == rows(tmp_path / "other", SCORES)
