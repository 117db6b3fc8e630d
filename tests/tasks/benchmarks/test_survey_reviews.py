"""Written surveys are judged along five dimensions, beside surveys from searches alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.run.estimates.declared import estimate
from schemas.choices import LiteratureChoice
from schemas.identifiers import PaperId
from schemas.judgement.benchmark import BenchmarkScore
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.benchmarks.steps.judge_survey import SurveyDimension
from tasks.benchmarks.suite import Trial
from tasks.benchmarks.suites.survey import MARK, MARK_GAIN, SUITE, CaseSet, score_written
from tasks.benchmarks.survey_sets import VIS_FILE, SurveyCase, write_papers
from tasks.benchmarks.work import BENCHMARK
from tasks.literature.snapshot.build import build_snapshot
from tests.support.benchmark_sets import benchmark_request, never_evaluate, tried
from tests.support.openai_server import OpenAIServer, start_openai_server
from tests.support.survey_writer import Writer

CASES = [SurveyCase("case-1", "How do bats hunt moths?", frozenset({PaperId("a")}))]
DEPTHS = (0, 2)


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with start_openai_server() as running:
        yield running


@pytest.fixture(scope="module")
def literature(tmp_path_factory: pytest.TempPathFactory) -> LiteratureChoice:
    folder = tmp_path_factory.mktemp("literature")
    rows = [
        {
            "title": f"Bat calls at night, part {name}",
            "abstract": f"Bats hunt moths by loud echo calls of kind {name}. It works.",
            "authors": [f"Ada {name.upper()}arden"],
            "venue": "",
            "url": f"https://example.org/{name}",
            "year": 2010,
        }
        for name in "abc"
    ]
    path = write_papers(rows, folder / "papers.jsonl")
    build_snapshot(path, folder / "index").close()
    return LiteratureChoice(folder / "index")


def scored(
    folder: Path, literature: LiteratureChoice, **changes: Any
) -> tuple[list[BenchmarkScore], Trial]:
    request = benchmark_request(folder, SUITE, literature=literature, **changes)
    trial, scores = tried(
        SUITE,
        request,
        never_evaluate,
        lambda trial: score_written(trial, CaseSet("bats", literature, CASES, True)),
    )
    return scores, trial


def test_every_dimension_has_a_mark_at_both_depths_and_the_gain_of_hops(
    server: OpenAIServer, literature: LiteratureChoice, tmp_path: Path
) -> None:
    server.answer = Writer()
    model = {"engine": "litellm:openai/loopback", "api_base": server.url}
    scores, trial = scored(tmp_path, literature, **model)
    found = {(row.metric, row.system, row.slice): row.value for row in scores}
    for dimension in SurveyDimension:
        part = f"set=bats, dimension={dimension}"
        marks = [found[MARK, f"depth_{depth}", part] for depth in DEPTHS]
        assert all(mark is not None and 1 <= mark <= 5 for mark in marks)
        assert found[MARK_GAIN, "depth_2", part] == (marks[1] or 0) - (marks[0] or 0)
    assert len(trial.items) == len(SurveyDimension) * len(DEPTHS)
    assert all(item.unscored_reason is None for item in trial.items)


def test_a_survey_that_was_not_written_is_unscored_and_no_mark(
    server: OpenAIServer, literature: LiteratureChoice, tmp_path: Path
) -> None:
    server.answer = Writer(outline={"clusters": [], "sections": "none"})
    model = {"engine": "litellm:openai/loopback", "api_base": server.url}
    scores, trial = scored(tmp_path, literature, **model)
    assert {row.value for row in scores} == {None}
    assert {item.unscored_reason for item in trial.items} == {Reason.REPLY_UNPARSABLE}


def test_offline_no_survey_is_written_and_none_is_judged(
    literature: LiteratureChoice, tmp_path: Path
) -> None:
    scores, trial = scored(tmp_path, literature)
    assert [(row.metric, row.value) for row in scores] == [(MARK, None)] * 2
    assert trial.items == []


def test_written_surveys_are_part_of_the_bill_where_their_set_is_there(tmp_path: Path) -> None:
    request = benchmark_request(tmp_path, SUITE, engine="litellm:openai/gpt-4.1", item_limit=2)
    without = estimate(BENCHMARK, request, Settings())
    (tmp_path / VIS_FILE).parent.mkdir(parents=True)
    (tmp_path / VIS_FILE).touch()
    there = estimate(BENCHMARK, request, Settings())
    assert there.model_calls > without.model_calls + 4
