"""Votes of people: foretold, their careless voters found, and figures on the real ones stated."""

import gzip
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from tasks.benchmarks.suites.votes import SUITE, read_wiki_votes
from tasks.ranking.voters import care_of_voters
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    rows_of,
    run_small,
    write_votes,
)

DATA = Path(__file__).parents[4] / "shared" / "data"


def test_votes_that_follow_one_order_are_foretold_and_who_votes_by_side_is_found(
    tmp_path: Path,
) -> None:
    votes = read_wiki_votes(write_votes(tmp_path))
    careless = [care.voter for care in care_of_voters(votes) if care.careless]
    assert careless == ["p11"]
    request = benchmark_request(tmp_path, SUITE)
    assert run_small(SUITE, request, never_evaluate).published
    found = {
        (metric, system): value
        for metric, system, value in rows_of(
            request, "select metric, system, value from benchmark_scores where slice = 'all'"
        )
    }
    assert found["accuracy", "assay"] > 0.9
    assert found["accuracy", "coin"] is None
    assert found["log_loss", "assay"] < found["log_loss", "coin"] == pytest.approx(0.6931, abs=1e-4)
    assert found["votes_needed", "adaptive_pairs"] > 0


def test_failed_attention_checks_speak_against_a_voter(tmp_path: Path) -> None:
    votes = read_wiki_votes(write_votes(tmp_path))
    few = [vote for vote in votes if vote.judge == "human:p00"][:3]
    others = [vote for vote in votes if vote.judge != "human:p00"]
    told = {
        failed: next(
            care.careless_0_to_1
            for care in care_of_voters([*few, *others], {"p00": (failed, 5 - failed)})
            if care.voter == "p00"
        )
        for failed in (0, 5)
    }
    assert told[0] < 0.1 < 0.9 < told[5]


def test_a_winner_that_is_neither_is_refused_in_one_line(tmp_path: Path) -> None:
    path = write_votes(tmp_path, voters=2)

    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b'left"}', b'up"}')))
    with pytest.raises(ConfigurationError, match="neither left nor right"):
        read_wiki_votes(path)
