"""Every suite from its data to the lake and the report, on small made-up sets; the main job is a
stand-in.
"""

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import NoReturn

import pytest

from flows.cli.exit_codes import EXIT_FAILURES
from flows.cli.works import print_published
from flows.profiles import load_profile
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.profile import Profile
from schemas.run import Module
from tasks.benchmarks.submissions import (
    connected,
    linked_submissions,
    read_groups,
    read_pairs,
    read_points,
)
from tasks.benchmarks.suites import SUITES
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
from tests.support.ranking_fakes import write_prior

DATA = Path(__file__).parents[4] / "shared" / "data"


def test_coverage_judges_every_rubric_of_every_system_and_says_what_it_could_not_ask(
    tmp_path: Path,
) -> None:
    systems = ("prompt_only", "another_ideas_review")
    request = benchmark_request(write_scholarideas(tmp_path), COVERAGE, baselines=systems)
    summary = run_small(COVERAGE, request)
    assert (summary.published, summary.head.incomplete_reason, summary.failed_expectations) == (
        True,
        None,
        (),
    )
    found = scores_of(request)
    assert {part for metric, part, system in found if (metric, system) == ("coverage", "assay")} == {
        "all", "discipline=ai", "discipline=eco", "type=weakness", "type=strength", "axis=soundness", "axis=contribution",
        "severity=major", "severity=minor",
    }  # fmt: skip
    value, _, unscored = found["coverage", "all", "prompt_only"]
    assert value is not None
    assert 1 <= value <= 5
    assert unscored == 0
    _, reason, _ = found["reference_invalidity_lower_bound", "all", "prompt_only"]
    assert reason == "there is no item"
    rates = [
        found[f"preference_{outcome}", "criterion=depth", "assay vs. prompt_only"][0]
        for outcome in ("win", "loss", "tie")
    ]
    assert sum(rate for rate in rates if rate is not None) == pytest.approx(1)
    answers = rows_of(
        request,
        "select system, count(*), count(distinct step) from benchmark_items where task ="
        " 'judge_coverage' group by 1",
    )
    assert sorted(answers) == [(system, 6, 1) for system in sorted(["assay", *systems])]
    assert ("preference_win", "criterion=depth", "assay vs. another_ideas_review") not in found
    assert found["coverage_difference", "all", "assay - another_ideas_review"][1] is None
    assert all(path.exists() for path in summary.report_paths)
    report = summary.report_paths[1].read_text()
    assert "*published*: ScholarEval (arXiv 2510.16234), Table 1, DR Tulu" in report
    assert "Extractive engine" in report


def test_the_same_command_again_changes_nothing_and_another_limit_is_another_benchmark(
    tmp_path: Path,
) -> None:
    request = benchmark_request(write_pairs(tmp_path), PAIRS, modules=())
    first = run_small(PAIRS, request, never_evaluate)
    again = run_small(PAIRS, request, never_evaluate)
    assert (first.unchanged, again.unchanged, again.head.run_id) == (False, True, first.head.run_id)
    limited = run_small(
        PAIRS, benchmark_request(tmp_path, PAIRS, modules=(), item_limit=2), never_evaluate
    )
    assert limited.head.run_id != first.head.run_id
    assert dict(rows_of(request, "select item_limit, count(*) from benchmarks group by 1")) == {
        None: 1,
        2: 1,
    }
    assert {
        count
        for (count,) in rows_of(request, "select count(*) from benchmark_items group by run_id")
    } == {8, 4}


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
    request = benchmark_request(write_points(tmp_path, decisions), DECISIONS)
    found = measured(DECISIONS, request)
    assert found["accuracy", "classes=2", "always majority"].value == 0.5
    assert found["predicted_share", "label=reject", "always majority"].value == 1.0
    assert found["predicted_entropy_bits", "classes=4", "always majority"].value == 0.0
    assert found["gold_share", "label=reject", "assay"].value == 0.5
    assert {part for metric, part, _ in found if metric == "macro_f1"} >= {
        "classes=2",
        "classes=3",
        "classes=4",
    }
    accuracies = [
        one for one in found.values() if (one.metric, one.system) == ("accuracy", "assay")
    ]
    assert {one.count for one in accuracies} == {4}


def test_without_any_gold_label_every_value_is_undefined_with_a_reason(tmp_path: Path) -> None:
    request = benchmark_request(write_points(tmp_path, (None, "withdrawn")), DECISIONS)
    score = measured(DECISIONS, request)["macro_f1", "classes=3", "assay"]
    assert score.value is None
    assert score.undefined_reason


def test_evaluated_groups_have_three_systems_and_name_the_run_they_rest_on(tmp_path: Path) -> None:
    """They are kept apart also where one stands twice."""
    request = benchmark_request(
        write_groups(tmp_path), GROUPS, modules=(Module.SOUNDNESS,), baselines=("prompt_only",)
    )
    assert run_small(GROUPS, request).published
    found = scores_of(request)
    assert {metric for metric, _, _ in found} == {
        "best_of_group",
        "exact_ranking",
        "spearman",
        "kendall",
    }
    assert {system for _, _, system in found} == {
        "assay",
        "assay_scores",
        "prompt_only",
        "stratified random",
        "always majority",
        "constant",
    }
    counts = "select system, count(*), count(distinct item_id) from benchmark_items group by 1"
    assert {row[1:] for row in rows_of(request, counts)} == {(4, 4)}
    ((runs,),) = rows_of(request, "select evaluated_run_ids from benchmarks")
    assert len(runs) == 1


def with_prior(path: Path, *words: str, fitted_on: tuple[str, ...] = ()) -> Profile:
    write_prior(path, words, fitted_on=fitted_on)
    profile = load_profile("economy")
    return replace(profile, ranking=replace(profile.ranking, prior=str(path)))


@pytest.mark.parametrize(
    ("words", "share"),
    [
        (("proteins", "retrieval"), 1.0),
        pytest.param(("attention",), 0, marks=pytest.mark.long),
    ],
)
def test_a_prior_is_one_more_judge_of_pairs_and_asks_nobody(
    words: tuple[str, ...], share: float, tmp_path: Path
) -> None:
    profile = with_prior(tmp_path / "prior.json", *words)
    request = benchmark_request(write_pairs(tmp_path, 3), PAIRS, modules=(), profile=profile)
    run_small(PAIRS, request, never_evaluate)
    found = scores_of(request)
    right = found["pairwise_accuracy", "difficulty=easy", "prior"][0]
    assert right == pytest.approx(share, abs=0.34), "the second of each pair was accepted"
    assert rows_of(
        request,
        "select count(*), count(step) from benchmark_items where system = 'prior'",
    ) == [(6, 0)]


def test_a_prior_is_one_more_judge_of_groups_and_never_of_what_it_was_fitted_on(
    tmp_path: Path,
) -> None:
    folder = write_groups(tmp_path)
    profile = with_prior(tmp_path / "prior.json", "policies")
    request = benchmark_request(folder, GROUPS, modules=(), profile=profile)
    found = measured(GROUPS, request, never_evaluate)
    chance = found["best_of_group", "all", "stratified random"].value
    assert chance is not None
    assert (found["best_of_group", "all", "prior"].value or 0) > chance
    (idea, *_) = read_groups(folder / "innoeval_groups.json")[0].members
    seen = with_prior(tmp_path / "prior.json", "policies", fitted_on=(idea.idea.text,))
    with pytest.raises(ConfigurationError, match=r"1 of the items .* without ranking.prior"):
        measured(
            GROUPS, benchmark_request(folder, GROUPS, modules=(), profile=seen), never_evaluate
        )


def test_pairs_that_share_a_submission_are_one_cluster_of_the_intervals(tmp_path: Path) -> None:
    folder = write_pairs(tmp_path, 6)
    pairs = json.loads((folder / "innoeval_pairs_easy.json").read_text())
    for pair in pairs[:4]:
        pair["paper_a"] = pairs[0]["paper_a"]
    (folder / "innoeval_pairs_easy.json").write_text(json.dumps(pairs))
    read = {pair.pair_id: pair for pair in read_pairs(folder / "innoeval_pairs_easy.json", "easy")}
    clusters = connected({name: (pair.first, pair.second) for name, pair in read.items()})
    assert sorted(Counter(clusters.values()).values()) == [1, 1, 4]
    request = benchmark_request(folder, PAIRS, modules=())
    found = measured(PAIRS, request, never_evaluate)
    methods = {
        one.interval_method
        for one in found.values()
        if (one.metric, one.system) == ("pairwise_accuracy", "assay")
    }
    assert methods <= {"", "clustered bootstrap", "wilson over clusters"}
    chance = found["pairwise_accuracy", "difficulty=easy", "stratified random"].value
    assert chance == pytest.approx(0.5, abs=0.05)


def test_submissions_of_one_group_are_one_cluster_where_the_groups_are_at_hand(
    tmp_path: Path,
) -> None:
    folder = write_points(write_groups(tmp_path), ("Reject", "Reject", "Accept (Oral)", "Reject"))
    found = linked_submissions(folder, read_points(folder / "innoeval_points.jsonl"))
    assert found["p0"] == found["p1"] == found["p2"] != found["p3"]


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
    with pytest.raises(
        ConfigurationError, match=r"innoeval_points\.jsonl, not found in .*--data DIR"
    ):
        run_small(DECISIONS, benchmark_request(tmp_path, DECISIONS))
    (tmp_path / "innoeval_points.jsonl").write_text("[1, 2]\n")
    with pytest.raises(ConfigurationError, match="no JSON object"):
        run_small(DECISIONS, benchmark_request(tmp_path, DECISIONS))
