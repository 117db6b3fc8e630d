"""Suites from their data to the lake and the report, on small made-up sets; the main job is a
stand-in.
"""

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import NoReturn

import pytest

from flows.cli.answer import EXIT_FAILURES
from flows.cli.works import print_published
from flows.profiles import load_profile
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.profile import Profile
from schemas.run import Budget, Module
from tasks.benchmarks.registry import SUITES
from tasks.benchmarks.submissions import (
    cluster_contests,
    read_groups,
    read_pairs,
    read_points,
    submission_clusters,
)
from tasks.benchmarks.suites.agreement import SUITE as AGREEMENT
from tasks.benchmarks.suites.coverage import SUITE as COVERAGE
from tasks.benchmarks.suites.decisions import SUITE as DECISIONS
from tasks.benchmarks.suites.matches import GROUPS, PAIRS
from tasks.benchmarks.work import BENCHMARK
from tests.support.benchmark_sets import (
    benchmark_request,
    measured,
    never_evaluate,
    rows_of,
    run_small,
    scores_of,
    write_groups,
    write_pairs,
    write_points,
    write_scholarideas,
)
from tests.support.openai_server import Recorded, start_openai_server
from tests.support.ranking_fakes import write_prior

DATA = Path(__file__).parents[4] / "shared" / "data"
CHANCE = {"stratified random", "always majority", "constant"}


def test_coverage_judges_every_rubric_of_every_system_and_says_what_it_could_not_ask(
    tmp_path: Path,
) -> None:
    systems = ("prompt_only", "another_ideas_review")
    request = benchmark_request(write_scholarideas(tmp_path), COVERAGE, baselines=systems)
    summary = run_small(COVERAGE, request)
    head = summary.head
    assert summary.published
    assert (head.incomplete_reason, summary.failed_expectations) == (None, ())
    found = scores_of(request)
    parts = {part for metric, part, system in found if (metric, system) == ("coverage", "assay")}
    assert parts == {
        *("all", "discipline=ai", "discipline=eco", "type=weakness", "type=strength"),
        *("axis=soundness", "axis=contribution", "severity=major", "severity=minor"),
    }
    value, _, unscored = found["coverage", "all", "prompt_only"]
    assert value is not None
    assert 1 <= value <= 5
    assert unscored == 0
    _, reason, _ = found["reference_invalidity_lower_bound", "all", "prompt_only"]
    assert reason == "there is no item"
    part, against = "criterion=depth", "assay vs. prompt_only"
    rates = [found[f"preference_{rate}", part, against][0] for rate in ("win", "loss", "tie")]
    assert sum(rate for rate in rates if rate is not None) == pytest.approx(1)
    answers = rows_of(
        request,
        "select system, count(*), count(distinct step) from benchmark_items where task ="
        " 'judge_coverage' group by 1",
    )
    assert sorted(answers) == [(system, 6, 1) for system in sorted(["assay", *systems])]
    assert ("preference_win", part, "assay vs. another_ideas_review") not in found
    assert found["coverage_difference", "all", "assay - another_ideas_review"][1] is None
    assert all(path.exists() for path in summary.report_paths)
    report = summary.report_paths[1].read_text()
    assert "*published*: ScholarEval (arXiv 2510.16234), Table 1, DR Tulu" in report
    assert "Extractive engine" in report


def test_the_same_command_again_changes_nothing_and_another_limit_is_another_benchmark(
    tmp_path: Path,
) -> None:
    request = benchmark_request(write_pairs(tmp_path), PAIRS, modules=())
    first, again = (run_small(PAIRS, request, never_evaluate) for _ in range(2))
    assert (first.unchanged, again.unchanged, again.head.run_id) == (False, True, first.head.run_id)
    fewer = benchmark_request(tmp_path, PAIRS, modules=(), item_limit=2)
    assert run_small(PAIRS, fewer, never_evaluate).head.run_id != first.head.run_id
    limits = rows_of(request, "select item_limit, count(*) from benchmarks group by 1")
    assert dict(limits) == {None: 1, 2: 1}
    counts = rows_of(request, "select count(*) from benchmark_items group by run_id")
    assert {count for (count,) in counts} == {8, 4}


def test_a_suite_over_which_assay_fails_is_published_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> NoReturn:
        raise ValueError("a list of nothing")

    monkeypatch.setitem(SUITES, PAIRS.name, dataclasses.replace(PAIRS, run=broken))
    request = benchmark_request(write_pairs(tmp_path), PAIRS, modules=())
    summary = run_small(PAIRS, request, never_evaluate)
    assert summary.published
    code = print_published(BENCHMARK, request, summary, as_json=False)
    assert (code, "a list of nothing" in capsys.readouterr().err) == (EXIT_FAILURES, True)


def test_decisions_stand_beside_a_constant_and_an_item_without_gold_label_is_left_out(
    tmp_path: Path,
) -> None:
    decisions = ("Reject", "Reject", "Accept (Oral)", "Accept (Poster)", None)
    folder = write_points(tmp_path, decisions)
    found = measured(DECISIONS, benchmark_request(folder, DECISIONS))
    assert found["accuracy", "classes=2", "always majority"].value == 0.5
    assert found["predicted_share", "label=reject", "always majority"].value == 1.0
    assert found["predicted_entropy_bits", "classes=4", "always majority"].value == 0.0
    assert found["gold_share", "label=reject", "assay"].value == 0.5
    for classes in (2, 3, 4):
        assert ("macro_f1", f"classes={classes}", "assay") in found
        assert found["accuracy", f"classes={classes}", "assay"].count == 4
    unlabelled = benchmark_request(write_points(tmp_path, (None, "withdrawn")), DECISIONS)
    score = measured(DECISIONS, unlabelled)["macro_f1", "classes=3", "assay"]
    assert score.value is None
    assert score.undefined_reason


def test_evaluated_groups_have_three_systems_and_name_the_run_they_rest_on(tmp_path: Path) -> None:
    """They are kept apart also where one stands twice."""
    asked = {"modules": (Module.SOUNDNESS,), "baselines": ("prompt_only",)}
    request = benchmark_request(write_groups(tmp_path), GROUPS, **asked)
    assert run_small(GROUPS, request).published
    found = scores_of(request)
    metrics = {metric for metric, _, _ in found}
    assert metrics == {"best_of_group", "exact_ranking", "spearman", "kendall"}
    systems = {system for _, _, system in found}
    assert systems == {"assay", "assay_scores", "prompt_only", *CHANCE}
    counts = "select system, count(*), count(distinct item_id) from benchmark_items group by 1"
    assert {row[1:] for row in rows_of(request, counts)} == {(4, 4)}
    ((runs,),) = rows_of(request, "select evaluated_run_ids from benchmarks")
    assert len(runs) == 1


def with_prior(path: Path, *words: str, fitted_on: tuple[str, ...] = ()) -> Profile:
    write_prior(path, words, fitted_on=fitted_on)
    profile = load_profile("economy")
    return replace(profile, ranking=replace(profile.ranking, prior=str(path)))


def test_a_prior_is_one_more_judge_and_never_of_what_it_was_fitted_on(tmp_path: Path) -> None:
    path, folder = tmp_path / "prior.json", write_groups(write_pairs(tmp_path, 3))
    for words, share in ((("proteins", "retrieval"), 1.0), (("attention",), 0)):
        profile = with_prior(path, *words)
        request = benchmark_request(folder, PAIRS, modules=(), profile=profile)
        right = measured(PAIRS, request)["pairwise_accuracy", "difficulty=easy", "prior"].value
        assert right == pytest.approx(share, abs=0.34), "the second of each pair was accepted"
    profile = with_prior(path, "policies")
    found = measured(GROUPS, benchmark_request(folder, GROUPS, modules=(), profile=profile))
    chance = found["best_of_group", "all", "stratified random"].value
    assert chance is not None
    assert (found["best_of_group", "all", "prior"].value or 0) > chance
    (idea, *_) = read_groups(folder / "innoeval_groups.json")[0].members
    seen = with_prior(path, "policies", fitted_on=(idea.idea.text,))
    with pytest.raises(ConfigurationError, match=r"1 of the items .* without ranking.prior"):
        measured(GROUPS, benchmark_request(folder, GROUPS, modules=(), profile=seen))


def test_what_shares_a_submission_is_one_cluster_of_the_intervals(tmp_path: Path) -> None:
    folder = write_pairs(tmp_path, 6)
    path = folder / "innoeval_pairs_easy.json"
    pairs = json.loads(path.read_text())
    for pair in pairs[:4]:
        pair["paper_a"] = pairs[0]["paper_a"]
    path.write_text(json.dumps(pairs))
    read = {pair.pair_id: pair for pair in read_pairs(path, "easy")}
    clusters = cluster_contests({name: (pair.first, pair.second) for name, pair in read.items()})
    assert sorted(Counter(clusters.values()).values()) == [1, 1, 4]
    found = measured(PAIRS, benchmark_request(folder, PAIRS, modules=()))
    methods = {
        one.interval_method
        for one in found.values()
        if (one.metric, one.system) == ("pairwise_accuracy", "assay")
    }
    assert methods <= {"", "clustered bootstrap", "wilson over clusters"}
    chance = found["pairwise_accuracy", "difficulty=easy", "stratified random"].value
    assert chance == pytest.approx(0.5, abs=0.05)
    (other := tmp_path / "groups").mkdir()
    write_points(write_groups(other), ("Reject", "Reject", "Accept (Oral)", "Reject"))
    linked = submission_clusters(other, read_points(other / "innoeval_points.jsonl"))
    assert linked["p0"] == linked["p1"] == linked["p2"] != linked["p3"]


@pytest.mark.skipif(
    not (DATA / "expert_reviews.parquet").is_file(),
    reason="the data sets are not beside this checkout",
)
def test_expert_reviews_give_the_printed_means(tmp_path: Path) -> None:
    request = benchmark_request(DATA, AGREEMENT, warehouse=tmp_path / "warehouse")
    run_small(AGREEMENT, request, never_evaluate)
    pairs = rows_of(
        request,
        "select m.value, p.value from benchmark_scores m join benchmark_scores p using (metric,"
        " slice) where m.origin = 'measured' and p.origin = 'published'",
    )
    assert len(pairs) == 15
    assert all(round(measured, 2) == printed for measured, printed in pairs)


def test_data_that_are_missing_or_something_else_are_one_clear_line(tmp_path: Path) -> None:
    missing = r"innoeval_points\.jsonl, not found in .*--data DIR"
    with pytest.raises(ConfigurationError, match=missing):
        run_small(DECISIONS, benchmark_request(tmp_path, DECISIONS))
    (tmp_path / "innoeval_points.jsonl").write_text("[1, 2]\n")
    with pytest.raises(ConfigurationError, match="line 1: Input should be an object"):
        run_small(DECISIONS, benchmark_request(tmp_path, DECISIONS))


# A model behind a suite: what it answered is kept, what it did not answer is unscored, and nothing
# is asked twice.

MODEL = {"engine": "litellm:openai/loopback", "modules": ()}


@pytest.fixture
def _one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__MAXIMUM_ATTEMPTS", "1")


@pytest.mark.usefixtures("_one_attempt")
def test_an_interrupted_suite_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    answered: list[str] = []

    def dies_after_one(request: Recorded) -> str:
        if answered:  # two replies could score a match in every pair, one order each
            return "server_error"
        answered.append(str(request.body["messages"]))
        return "good"

    with start_openai_server(dies_after_one) as server:
        request = benchmark_request(write_pairs(tmp_path, 3), PAIRS, api_base=server.url, **MODEL)
        first = run_small(PAIRS, request, never_evaluate)
        assert first.head.incomplete_reason is not None
        scores = scores_of(request, "metric = 'pairwise_accuracy' and slice like 'difficulty%'")
        assert sum(unscored for _, _, unscored in scores.values()) > 0
        before = len(server.requests)
        server.behaviour = "good"
        second = run_small(PAIRS, request, never_evaluate)
    asked_again = [str(one.body["messages"]) for one in server.requests[before:]]
    assert second.head.run_id == first.head.run_id
    assert second.head.incomplete_reason is None
    assert not set(asked_again) & set(answered)
    assert rows_of(request, "select count(*) from benchmark_items where answer is null") == [(0,)]
    booked = (
        "select count(*), sum(prompt_tokens)::bigint from llm_calls where run_id like 'benchmark-%'"
    )
    totals = rows_of(request, "select llm_calls, prompt_tokens from benchmarks")
    assert rows_of(request, booked) == totals


@pytest.mark.usefixtures("_one_attempt")
def test_a_model_that_answers_nothing_gives_no_value_and_says_why(tmp_path: Path) -> None:
    with start_openai_server("refusal") as server:
        request = benchmark_request(write_pairs(tmp_path, 1), PAIRS, api_base=server.url, **MODEL)
        run_small(PAIRS, request, never_evaluate)
    score = scores_of(request)["pairwise_accuracy", "difficulty=easy", "assay"]
    assert score == (None, "none of the 1 pairs was answered", 1)
    reasons = rows_of(request, "select distinct unscored_reason from benchmark_items")
    assert reasons == [("refused",)]


@pytest.mark.usefixtures("_one_attempt")
def test_a_spent_budget_ends_the_suite_and_is_told(tmp_path: Path) -> None:
    with start_openai_server() as server:
        bounded = {"budget": Budget(maximum_tokens=3000), "api_base": server.url, **MODEL}
        request = benchmark_request(write_pairs(tmp_path, 6), PAIRS, **bounded)
        head = run_small(PAIRS, request, never_evaluate).head
    assert head.incomplete_reason == "budget_exhausted"
