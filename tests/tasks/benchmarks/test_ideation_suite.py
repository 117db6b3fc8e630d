"""Suite `ideation`: made-up judges are seen through, and versions of a run are held against each
other by who did not write them.
"""

from pathlib import Path

import pytest

from flows.run.requests import request_of
from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import IdeaId
from schemas.judgement.benchmark import BenchmarkRequest
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.works.ideation import IdeationRound, IdeaVersion
from tasks.benchmarks.suites import ideation
from tasks.benchmarks.suites.ideation import SUITE, family_of
from tasks.benchmarks.version_contests import PRAISE, flattery_of
from tasks.benchmarks.work import BENCHMARK
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    rows_of,
    run_small,
    scores_of,
)
from tests.support.ideation_lake import IDEATION, make_round, make_version, publish_ideation_lake
from warehouse.warehouse import Warehouse

SUBJECTS = ("echo calls of bats", "growth rings of trees", "songs of whales")


def version(seed: int, slot: int, number: int) -> IdeaVersion:
    """From the second round on a version promises more, and says so at length."""
    later = "It may be the first and novel answer. " * (number - 1)
    text = f"# Plan {slot}\n\nWe measure {SUBJECTS[seed]} in {slot} places. {later}"
    return replace(
        make_version(number, slot),
        version_id=IdeaId(f"seed{seed}-{slot}-r{number}"),
        parent_id=f"seed{seed}-{slot}-r{number - 1}" if number > 1 else None,
        seed_id=IdeaId(f"seed{seed}"),
        text=text,
        closest_similarity_0_to_1=0.3 + number / 10,
    )


def publish_two_rounds(request: BenchmarkRequest) -> None:
    """Two ideas of each of three seeds; in the second round one is dropped as a near-duplicate."""
    first = [version(seed, slot, 1) for seed in range(3) for slot in (1, 2)]
    second = [version(seed, slot, 2) for seed in range(3) for slot in (1, 2)]
    second[0] = replace(second[0], dropped_reason=Reason.NEAR_DUPLICATE, dropped_detail="twin")
    publish_ideation_lake(
        Warehouse(request.warehouse),
        *(
            IdeationRound(
                round_id=f"round-{number}",
                versions=tuple(made),
                answers=tuple(
                    replace(answer, version_id=each.version_id)
                    for each in made
                    for answer in make_round(number).answers
                ),
            )
            for number, made in enumerate((first, second), start=1)
        ),
    )


@pytest.mark.long
def test_known_quality_is_recovered_and_known_biases_are_exposed(tmp_path: Path) -> None:
    request = benchmark_request(tmp_path, SUITE, literature="live")
    assert run_small(SUITE, request, never_evaluate).published
    found = rows_of(
        request,
        "select metric, slice, m.value, t.value, m.lower, m.upper from benchmark_scores m"
        " join benchmark_scores t using (metric, slice)"
        " where m.system = 'simulated' and t.system = 'truth'",
    )
    told = {row[:2]: row[2:] for row in found}
    intervals = [
        (true, lower, upper) for _, true, lower, upper in told.values() if lower is not None
    ]
    held = [lower <= true <= upper for true, lower, upper in intervals]
    assert len(held) > 40
    assert sum(held) / len(held) > 0.9

    def lower_and_upper(metric: str, judge: str, generator: str = "improves") -> tuple[float, ...]:
        return told[metric, f"generator={generator}, judge={judge}"][2:]

    assert lower_and_upper("last_round_win_rate", "sound")[0] > 0.5
    assert lower_and_upper("last_round_win_rate", "coin")[0] < 0.5
    assert lower_and_upper("first_shown_share", "prefers_first")[0] > 0.5
    assert lower_and_upper("length_log_odds", "prefers_long")[0] > 0
    praise_contests = lower_and_upper("last_round_win_rate", "prefers_long", "flatters")
    at_equal_length = lower_and_upper("win_rate_at_equal_length", "prefers_long", "flatters")
    assert praise_contests[0] > 0.5 > at_equal_length[0]
    planted = told["newness_claims_gained", "generator=flatters"]
    assert planted[2] > 0


def test_versions_of_a_run_are_compared_and_told_by_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ideation, "_score_simulations", lambda _: ())  # which takes longest
    request = benchmark_request(tmp_path, SUITE, evaluated_run=IDEATION, literature="live")
    publish_two_rounds(request)
    assert run_small(SUITE, request, never_evaluate).published
    found = scores_of(request)
    assert found["last_round_win_rate", "dimension=overall", "assay"][0] is not None
    writer = "litellm:small"
    assert found["revised_share", "all", writer][0] == pytest.approx(5 / 6)
    assert found["near_duplicate_share", "round=1", writer][0] == 0
    assert found["near_duplicate_share", "round=2", writer][0] == pytest.approx(1 / 6)
    assert found["closest_work_similarity", "round=1", writer][0] == pytest.approx(0.4)
    assert found["closest_work_similarity", "round=2", writer][0] == pytest.approx(2.9 / 6)
    assert found["words_gained", "last less first", writer][0] == 8
    assert found["newness_claims_gained", "last less first", writer][0] > 0  # type: ignore[operator]
    for number in (1, 2):
        apart = found["diversity", f"round={number}", writer][0]
        assert apart is not None
        assert 0 < apart < 1
    items = rows_of(
        request,
        "select count(*) from benchmark_items where task = 'last against first, overall'",
    )
    assert items == [(5,)]


@pytest.mark.long
def test_who_wrote_the_ideas_does_not_judge_them(tmp_path: Path) -> None:
    own = benchmark_request(
        tmp_path, SUITE, evaluated_run=IDEATION, engine="litellm:elsewhere/small-2"
    )
    publish_two_rounds(own)
    with pytest.raises(ConfigurationError, match="of the model family that wrote the ideas"):
        run_small(SUITE, own, never_evaluate)
    with pytest.raises(UnknownNameError, match="not published"):
        nobody = benchmark_request(
            tmp_path,
            SUITE,
            evaluated_run="ideation-of-nobody",
            engine="litellm:elsewhere/small-2",
        )
        run_small(SUITE, nobody, never_evaluate)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("openai/gpt-5-mini", "azure/gpt-4.1", True),
        ("openai/gpt-5-mini", "openai/o3", True),
        ("anthropic/claude-sonnet-4-5", "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", True),
        ("openrouter/openai/gpt-5", "openrouter/anthropic/claude-opus-4", False),
        ("gemini/gemini-2.5-pro", "vertex_ai/gemma-3", True),
        ("together_ai/meta-llama/Llama-3.1-70B", "groq/qwen-3-32b", False),
        ("hosted/4711", "hosted/0815", False),
    ],
)
def test_models_of_one_maker_are_of_one_family_whoever_serves_them(
    one: str, other: str, *, same: bool
) -> None:
    assert (family_of(EngineChoice(one)) == family_of(EngineChoice(other))) is same
    assert family_of(EngineChoice()) != family_of(EngineChoice(one))


def test_praise_is_counted_and_plain_words_are_not() -> None:
    plain, praised = flattery_of("We count bats in three caves."), flattery_of(PRAISE)
    assert plain == {"words": 6, "newness_claims": 0, "hedges": 0, "rubric_words": 0}
    assert min(praised[name] for name in ("newness_claims", "hedges", "rubric_words")) > 2


def test_the_suite_needs_no_folder_of_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    options = BenchmarkOptions(warehouse=tmp_path / "w")
    (unit,) = request_of(BENCHMARK, ("ideation",), options, Settings()).units
    assert unit.data is None
    with pytest.raises(ConfigurationError, match="--data DIR"):
        request_of(BENCHMARK, ("votes",), options, Settings())
