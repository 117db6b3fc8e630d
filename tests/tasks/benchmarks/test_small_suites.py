"""Suites `ask`, `votes` and those of recommendations, from their data to the lake."""

import gzip
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import Reason
from tasks.benchmarks.records import rows_of as rows_of_file
from tasks.benchmarks.steps.judge_answer import JudgedAnswerReply
from tasks.benchmarks.suites.ask import SUITE as ASK
from tasks.benchmarks.suites.ask import AnswerResult, Criterion, RubricCase, share_met
from tasks.benchmarks.suites.recommendation import (
    DATA_SETS,
    LEADERBOARDS,
    QUERIES_FILE,
    Project,
    average_precision,
    is_test_project,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from tasks.benchmarks.suites.votes import SUITE as VOTES
from tasks.benchmarks.suites.votes import read_wiki_votes
from tasks.ranking.voters import care_of_voters
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    rows_of,
    run_small,
    scores_of,
    write_expert_answers,
    write_resources,
    write_votes,
)
from tests.support.evaluations import make_provenance

PROVENANCE = make_provenance("judge_answer")
CASE = RubricCase(
    id="q",
    question="Who hunts?",
    criteria=(Criterion(criterion="Who.", weight=0.3), Criterion(criterion="When.", weight=0.1)),
)
ANSWER = AnswerResult(text="Bats.")


def test_works_that_experts_cite_are_found_read_and_shown_without_a_model(tmp_path: Path) -> None:
    write_expert_answers(tmp_path)
    request = benchmark_request(tmp_path, ASK)
    summary = run_small(ASK, request, never_evaluate)
    assert (summary.published, summary.failed_expectations) == (True, ())
    found = scores_of(request)
    part = "set=expert_answers"
    for metric in ("found_recall", "read_recall", "cited_recall", "answered_share"):
        assert found[metric, part, "assay"][:2] == (1.0, None), metric
    value, reason, _ = found["criteria_met", "set=rubrics", "assay"]
    assert (value, reason) == (None, "the extractive engine writes no answer")


def verdicts(*met: str) -> Outcome[JudgedAnswerReply]:
    entries = [{"criterion": place, "met": word} for place, word in enumerate(met, start=1)]
    return Scored(JudgedAnswerReply.model_validate({"criteria": entries}), PROVENANCE)


@pytest.mark.parametrize(
    ("met", "share"),
    [(("yes", "yes"), 1.0), (("yes", "no"), 0.75), (("no", "partly"), 0.125), (("yes",), None)],
)
def test_criteria_count_by_their_weight_and_without_a_verdict_there_is_no_share(
    met: tuple[str, ...], share: float | None
) -> None:
    assert share_met(CASE, ANSWER, verdicts(*met)) == (share and pytest.approx(share))


def test_no_answer_meets_nothing_and_one_that_was_lost_is_not_counted() -> None:
    lost = AnswerResult(text="", reason=Reason.SERVER_ERROR, detail="503")
    assert share_met(CASE, AnswerResult(text="", reason=Reason.NO_EVIDENCE), None) == 0.0
    assert share_met(CASE, lost, None) is None
    failed: Outcome[JudgedAnswerReply] = Unscored(Reason.REFUSED, "no", PROVENANCE)
    assert share_met(CASE, ANSWER, failed) is None


def test_what_works_on_the_same_subject_used_is_named_first(tmp_path: Path) -> None:
    folder = write_resources(tmp_path, 40)
    request = benchmark_request(folder, DATA_SETS)
    assert run_small(DATA_SETS, request, never_evaluate).published
    found = scores_of(request)
    value, _, unscored = found["mean_reciprocal_rank", "kind=data_set", "assay"]
    assert value == 1.0
    lexical = found["mean_reciprocal_rank", "kind=data_set", "shared_words"][0]
    assert lexical is not None
    assert lexical < 1.0
    projects = rows_of_file(folder / QUERIES_FILE, Project)
    asked = {each.id for each in projects if is_test_project(each)}
    assert {
        name for (name,) in rows_of(request, "select distinct item_id from benchmark_items")
    } == asked
    assert unscored == len(
        [each for each in projects if is_test_project(each) and not each.datasets_in_corpus]
    )


def test_a_leaderboard_is_answered_from_the_boards_of_other_data_sets(tmp_path: Path) -> None:
    request = benchmark_request(write_resources(tmp_path), LEADERBOARDS)
    run_small(LEADERBOARDS, request, never_evaluate)
    found = scores_of(request)
    assert found["recall_at_5", "kind=baseline", "assay"][0] == 0.5, "its own paper is on no other"
    assert found["mean_reciprocal_rank", "kind=metric", "assay"][0] == 1.0
    assert found["mean_reciprocal_rank", "kind=baseline", "most_used"][0] != 1.0


def test_measures_of_a_ranked_list() -> None:
    ranked, right = ["a", "b", "c", "d"], frozenset("bdx")
    assert precision_at(ranked, right, 2) == 0.5
    assert precision_at(["b"], right, 5) == 0.2
    assert recall_at(ranked, right, 4) == 2 / 3
    assert average_precision(ranked, right) == (1 / 2 + 2 / 4) / 3
    assert reciprocal_rank(ranked, right) == 0.5
    assert reciprocal_rank(ranked, frozenset("x")) == 0.0


def test_votes_that_follow_one_order_are_foretold_and_who_votes_by_side_is_found(
    tmp_path: Path,
) -> None:
    votes = read_wiki_votes(write_votes(tmp_path))
    careless = [care.voter for care in care_of_voters(votes) if care.careless]
    assert careless == ["p11"]
    request = benchmark_request(tmp_path, VOTES)
    assert run_small(VOTES, request, never_evaluate).published
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
    assert found["expected_calibration_error", "coin"] == pytest.approx(0, abs=0.05)


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
    with pytest.raises(
        ConfigurationError, match="line 1 winner: Input should be 'left' or 'right'"
    ):
        read_wiki_votes(path)
