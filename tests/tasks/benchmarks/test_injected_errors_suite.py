"""Suite `injected_errors` from two made-up manuscripts to the lake."""

from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from tasks.benchmarks.published import published_scores
from tasks.benchmarks.suites.injected_errors import SUITE, manuscript_places
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    run_small,
    scores_of,
    write_manuscripts,
)

Found = dict[tuple[str, str, str], tuple[float | None, str | None, int]]
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
FAULTY = CLEAN.replace("p = .0002", "p = .4").replace("Sorting", "Sorting again")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    data = write_manuscripts(tmp_path_factory.mktemp("data"), clean=CLEAN, faulty=FAULTY)
    request = benchmark_request(data, SUITE)
    summary = run_small(SUITE, request, never_evaluate)
    assert (summary.published, summary.failed_expectations) == (True, ())
    return scores_of(request)


def test_what_the_checks_can_see_is_found_and_what_they_cannot_is_missed(found: Found) -> None:
    value, reason, unscored_count = found["injected_recall", "kind=statistics", "assay"]
    assert (reason, unscored_count) == (None, 0)
    assert value is not None
    assert value >= 0.5
    assert found["injected_recall", "kind=contradicted_abstract", "assay"][0] == 1
    assert found["injected_recall", "kind=unsupported_conclusion", "assay"][0] == 0
    value, reason, _ = found["injected_recall", "kind=wrong_citation", "assay"]
    assert value is None
    assert reason is not None


def test_what_is_said_of_the_unchanged_text_is_no_find(found: Found) -> None:
    assert found["problems_of_unchanged_text", "all", "assay"][0] == 0.5
    assert found["unchanged_text_left_alone", "all", "assay"][0] == 0.5
    precision = found["injected_precision", "all", "assay"][0]
    assert precision is not None
    assert 0 < precision < 1


def test_published_figures_stand_beside_the_measured_ones(found: Found) -> None:
    measured = {metric for metric, _, _ in found}
    published = {(one.metric, one.system): one.value for one in published_scores(SUITE.name)}
    assert {metric for metric, _ in published} <= measured
    assert published["injected_recall", "section by section"] == 0.41


def test_a_manuscript_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = write_manuscripts(tmp_path, clean=CLEAN)
    (folder / "manuscripts" / "clean" / "paper.md").unlink()
    with pytest.raises(ConfigurationError, match="clean lies at"):
        manuscript_places(folder)
