"""Studies on made-up data: what they measure, and that they run as suites do."""

from pathlib import Path
from typing import Any

import pytest

from schemas.base import replace
from schemas.choices import EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, PaperId
from schemas.judgement.benchmark import BenchmarkRequest
from schemas.reasons import Reason
from schemas.works.ideation import IdeationRound, IdeaVersion
from tasks.benchmarks.registry import SUITES
from tasks.benchmarks.suites.survey import CaseSet
from tasks.benchmarks.survey_sets import SurveyCase, write_papers
from tasks.calibration.examples import Example, item_sha256
from tasks.literature.snapshot.build import build_snapshot
from tests.benchmarks.studies import concepts, ideation, injected_errors, stacking, survey_reviews
from tests.benchmarks.studies.injection import ErrorKind, inject
from tests.benchmarks.studies.registry import STUDIES
from tests.benchmarks.studies.version_contests import PRAISE, flattery_of
from tests.support.benchmark_sets import (
    BareTrial,
    benchmark_request,
    never_evaluate,
    rows_of,
    run_small,
    scores_of,
    tried,
    write_literature,
    write_manuscripts,
)
from tests.support.ideation_lake import IDEATION, make_round, make_version, publish_ideation_lake
from tests.support.openai_server import start_openai_server
from tests.support.survey_fakes import Writer
from warehouse.warehouse import Warehouse


@pytest.fixture(autouse=True)
def _studies_are_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, study in STUDIES.items():
        monkeypatch.setitem(SUITES, name, study)


def test_concepts_every_cutoff_has_every_system_and_no_pair_was_linked_before(
    tmp_path: Path,
) -> None:
    write_literature(tmp_path)
    request = benchmark_request(tmp_path, concepts.SUITE)
    assert run_small(concepts.SUITE, request, never_evaluate).published
    found = scores_of(request)
    assert {system for _, _, system in found} == set(concepts.SYSTEMS)
    assert len({part for _, part, _ in found}) == concepts.WINDOWS
    assert all(value is not None or reason for value, reason, _ in found.values())
    asked = "select item_id[:10], answer from benchmark_items where gold"
    linked, others = (rows_of(request, f"{asked} = '{gold}'") for gold in ("linked", "not linked"))
    assert len(linked) == len(others) > 0
    assert not set(linked) & set(others)


SUBJECTS = ("echo calls of bats", "growth rings of trees", "songs of whales")


def version(seed: int, slot: int, number: int) -> IdeaVersion:
    """From the second round on a version promises more, and says so at length."""
    later = "It may be the first and novel answer. " * (number - 1)
    return replace(
        make_version(number, slot),
        version_id=IdeaId(f"seed{seed}-{slot}-r{number}"),
        parent_id=f"seed{seed}-{slot}-r{number - 1}" if number > 1 else None,
        seed_id=IdeaId(f"seed{seed}"),
        text=f"# Plan {slot}\n\nWe measure {SUBJECTS[seed]} in {slot} places. {later}",
        closest_similarity_0_to_1=0.3 + number / 10,
    )


def publish_two_rounds(request: BenchmarkRequest) -> None:
    """Two ideas of each of three seeds; in the second round one is dropped as a near-duplicate."""
    first, second = ([version(s, slot, n) for s in range(3) for slot in (1, 2)] for n in (1, 2))
    second[0] = replace(second[0], dropped_reason=Reason.NEAR_DUPLICATE, dropped_detail="twin")
    rounds = (
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
    )
    publish_ideation_lake(Warehouse(request.warehouse), *rounds)


@pytest.mark.long
def test_ideation_known_quality_is_recovered_and_known_biases_are_exposed(tmp_path: Path) -> None:
    request = benchmark_request(tmp_path, ideation.SUITE, literature="live")
    assert run_small(ideation.SUITE, request, never_evaluate).published
    rows = rows_of(
        request,
        "select metric, slice, t.value, m.lower, m.upper from benchmark_scores m"
        " join benchmark_scores t using (metric, slice)"
        " where m.system = 'simulated' and t.system = 'truth'",
    )
    held = [lower <= true <= upper for *_, true, lower, upper in rows if lower is not None]
    assert len(held) > 40
    assert sum(held) / len(held) > 0.9
    lower_ends = {row[:2]: row[3] for row in rows}

    def lower_end(metric: str, judge: str, generator: str = "improves") -> float:
        return float(lower_ends[metric, f"generator={generator}, judge={judge}"])

    assert (
        lower_end("last_round_win_rate", "sound") > 0.5 > lower_end("last_round_win_rate", "coin")
    )
    assert lower_end("first_shown_share", "prefers_first") > 0.5
    assert lower_end("length_log_odds", "prefers_long") > 0
    flattered = ("prefers_long", "flatters")
    equal_length = lower_end("win_rate_at_equal_length", *flattered)
    assert lower_end("last_round_win_rate", *flattered) > 0.5 > equal_length


def test_ideation_versions_of_a_run_are_compared_by_another_family_and_told_by_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ideation, "_score_simulations", lambda _: ())  # which takes longest
    request = benchmark_request(
        tmp_path, ideation.SUITE, evaluated_run=IDEATION, literature="live", item_limit=3
    )
    publish_two_rounds(request)
    assert run_small(ideation.SUITE, request, never_evaluate).published
    found, writer = scores_of(request), "litellm:small"
    assert found["last_round_win_rate", "dimension=overall", "assay"][0] is not None
    for (metric, part), value in {
        ("revised_share", "all"): 5 / 6,
        ("near_duplicate_share", "round=2"): 1 / 6,
        ("closest_work_similarity", "round=2"): 2.9 / 6,
        ("words_gained", "last less first"): 8,
    }.items():
        assert found[metric, part, writer][0] == pytest.approx(value)
    assert 0 < (found["diversity", "round=1", writer][0] or 0) < 1
    own = benchmark_request(
        tmp_path, ideation.SUITE, evaluated_run=IDEATION, engine="litellm:elsewhere/small-2"
    )
    with pytest.raises(ConfigurationError, match="of the model family that wrote the ideas"):
        ideation.versions_of(own, Warehouse(request.warehouse).settings)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("openai/gpt-5-mini", "openai/o3", True),
        ("anthropic/claude-sonnet-4-5", "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", True),
        ("openrouter/openai/gpt-5", "openrouter/anthropic/claude-opus-4", False),
        ("gemini/gemini-2.5-pro", "vertex_ai/gemma-3", True),
        ("hosted/4711", "hosted/0815", False),
    ],
)
def test_models_of_one_maker_are_of_one_family_whoever_serves_them(
    one: str, other: str, *, same: bool
) -> None:
    families = [ideation.family_of(EngineChoice(name)) for name in (one, other)]
    assert (families[0] == families[1]) is same


def test_praise_is_counted_and_plain_words_are_not() -> None:
    plain, praised = flattery_of("We count bats in three caves."), flattery_of(PRAISE)
    assert plain == {"words": 6, "newness_claims": 0, "hedges": 0, "rubric_words": 0}
    assert min(praised[name] for name in ("newness_claims", "hedges", "rubric_words")) > 2


FILLER = "Plain words about the pebbles fill the body of this short paper until it is long. " * 10
CLEAN = f"""# Sorting

Abstract
Trained people needed 12.5 minutes for a bucket of pebbles in our careful study.

1 Introduction
{FILLER}

2 Results
In the end all trained people of the study needed 12.5 minutes for one bucket of pebbles.
{FILLER}
The difference between the two groups was clear, t(38) = 4.10, p = .0002, in a two-sided test.
{FILLER}
These results suggest that training makes people sort their pebbles in less time than before.
"""
PAPER = CLEAN.replace(
    "\n\n2 Results\n",
    """
It was shown by others [1, 2] that pebbles can be sorted, and later by several people [3] as well.
The results of the early work [4] may be explained by the weather of the year in which it was done.

2 Results
Each of the pebbles was bought in a shop and washed twice in cold water before the study began [5].
People were randomly assigned to training or to none, so that skill could not decide the outcome.
We found in all buckets that the group ALPHA was better with small pebbles than BETA ever was.
As for ALPHA in the morning, nothing changed, and the order of the pebbles did not matter at all.
Later on the pebbles of ALPHA were counted again, and so were all the pebbles that BETA had sorted.
It seems that the buckets of BETA and the ones of ALPHA were filled alike at the very beginning.
""",
)
FAULTY = CLEAN.replace("p = .0002", "p = .4").replace("Sorting", "Sorting again")


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        (ErrorKind.NUMBER, "12.5", "17.5"),
        (ErrorKind.STATISTICS, "p = .0002", "p = 0.002"),
        (ErrorKind.UNSUPPORTED_CONCLUSION, "results suggest", "results prove"),
        (ErrorKind.CONTRADICTED_ABSTRACT, "12.5", "17.5"),
        (ErrorKind.SIGN, "better", "worse"),
        (ErrorKind.MISSING_CONTROL, "randomly assigned", ""),
        (ErrorKind.SWAPPED_CONDITIONS, "group ALPHA was better", "group BETA was better"),
        (ErrorKind.WRONG_CITATION, "[", "["),
    ],
)
def test_a_kind_changes_one_sentence_as_its_rule_says(
    kind: ErrorKind, before: str, after: str
) -> None:
    found = [inject(PAPER, "text", seed, [kind]) for seed in range(12)]
    assert found[0] == inject(PAPER, "text", 0, [kind])
    for twin, (error,) in found:
        flat = " ".join(twin.split())
        assert error.before != error.after in flat
        assert flat.count(error.before) < " ".join(PAPER.split()).count(error.before)
        assert not error.is_quoted_by("The results are wrong.")
    assert any(before in error.before and after in error.after for _, (error,) in found)
    assert any(error.is_quoted_by(f"“{error.after}”") or not error.after for _, (error,) in found)


def test_errors_have_sentences_of_their_own_and_a_text_without_prose_has_none() -> None:
    twin, errors = inject(PAPER, "text", 5)
    assert len({error.before for error in errors}) == len(errors) >= 4
    assert all(error.after in " ".join(twin.split()) for error in errors)
    assert inject("1 2 3\n\n& \\\\ |", "text", 1) == ("1 2 3\n\n& \\\\ |", ())


def test_injected_errors_what_the_checks_see_is_found_and_an_old_problem_is_no_find(
    tmp_path: Path,
) -> None:
    data = write_manuscripts(tmp_path, clean=CLEAN, faulty=FAULTY)
    request = benchmark_request(data, injected_errors.SUITE)
    summary = run_small(injected_errors.SUITE, request, never_evaluate)
    assert (summary.published, summary.failed_expectations) == (True, ())
    found = scores_of(request)
    recall = {
        part.removeprefix("kind="): value
        for (metric, part, _), (value, _, _) in found.items()
        if metric == "injected_recall"
    }
    assert (recall["statistics"] or 0) >= 0.5
    assert (recall["contradicted_abstract"], recall["unsupported_conclusion"]) == (1, 0)
    assert found["problems_of_unchanged_text", "all", "assay"][0] == 0.5
    assert 0 < (found["injected_precision", "all", "assay"][0] or 0) < 1
    (data / "manuscripts" / "clean" / "paper.md").unlink()
    with pytest.raises(ConfigurationError, match="clean is missing at"):
        injected_errors.manuscript_places(data)


@pytest.mark.long
def test_stacking_each_source_is_a_row_alone_and_with_those_before_it() -> None:
    grades = ("reject",) * 12 + ("poster",) * 12 + ("spotlight",) * 5 + ("oral",) * 5
    examples = [
        Example(
            item_sha256(f"Idea {n}"),
            grade,
            "poster",
            {"committee clarity": float(len(set(grades[:n])) + n % 3)},
            text=f"Idea {n}",
        )
        for n, grade in enumerate(grades)
    ]
    trial: Any = BareTrial("stacking")
    stacking.score_stacks(trial, examples)
    f1 = {row.system: row.value for row in trial.scores if row.metric == "macro_f1"}
    assert list(f1) == ["stack: committee", "stack: prior", "stack: committee + prior"]
    assert (f1["stack: committee"] or 0) > 0.5


def test_survey_reviews_a_written_survey_has_marks_and_one_not_written_is_unscored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    rows = [
        {
            "paper_id": name,
            "title": f"Bat calls at night, part {name}",
            "abstract": f"Bats hunt moths by loud echo calls of kind {name}. It works.",
            "authors": [f"Ada {name.upper()}arden"],
            "venue": "",
            "year": 2010,
            "url": f"https://example.org/{name}",
            "references": [],
        }
        for name in "abc"
    ]
    build_snapshot(write_papers(rows, tmp_path / "p.jsonl"), tmp_path / "index").close()
    literature = LiteratureChoice(tmp_path / "index")
    cases = [SurveyCase("case-1", "How do bats hunt moths?", frozenset({PaperId("a")}))]
    bats = CaseSet("bats", literature, cases, True)

    def scored(folder: str, **model: Any) -> Any:
        request = benchmark_request(
            tmp_path,
            survey_reviews.SUITE,
            literature=literature,
            warehouse=tmp_path / folder,
            **model,
        )
        return tried(
            survey_reviews.SUITE,
            request,
            use=lambda trial: survey_reviews.score_written(trial, bats),
        )

    with start_openai_server() as server:
        model = {"engine": "litellm:openai/loopback", "api_base": server.url}
        server.answer = Writer()
        trial, scores = scored("a", **model)
        marks = [one.value for one in scores if one.metric == survey_reviews.MARK]
        assert len(marks) == len(trial.items) == 2 * len(survey_reviews.SurveyDimension)
        assert all(mark is not None and 1 <= mark <= 5 for mark in marks)
        server.answer = Writer(outline={"clusters": [], "sections": "none"})
        trial, scores = scored("b", **model)
        assert {one.value for one in scores} == {None}
        assert {item.unscored_reason for item in trial.items} == {Reason.REPLY_UNPARSABLE}
    _, scores = scored("c")  # the extractive engine writes none
    assert [(one.metric, one.value) for one in scores] == [(survey_reviews.MARK, None)] * 2
