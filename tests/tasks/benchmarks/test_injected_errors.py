"""Errors put into texts: what each kind does to which sentence, and that nothing else changes; and
suite `injected_errors` from two made-up manuscripts to the lake.
"""

import difflib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import ConfigurationError
from tasks.benchmarks.injection import ErrorKind, inject
from tasks.benchmarks.suites.injected_errors import SUITE, manuscript_places
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    run_small,
    scores_of,
    write_manuscripts,
)

PAPER = """# Sorting of Pebbles

Abstract
We sorted pebbles by hand and found that trained people are faster than others. On average a trained
person needed 12.5 minutes for one bucket of pebbles.

1 Introduction
Sorting of pebbles is an old art that was studied before [1, 2], and later by many others [3]. The
results of the early work [4] may be explained by the weather of the year in which it was done.

2 Methods
We bought four hundred pebbles from a shop, and every one of them was washed twice in cold water [5].
People were randomly assigned to training or to none, so that skill could not decide the outcome.
Each of them sorted one bucket of pebbles alone, and nobody else was in the room at the same time.

3 Results
A trained person needed 12.5 minutes for a bucket, and one without training needed 20.1 minutes.
The mean difference between both of the groups was clear, t(38) = 4.10, p = .0002, in a two-sided test.
We found in all buckets that the group ALPHA was better with small pebbles than BETA ever was.
As for ALPHA in the morning, nothing changed, and the order of the pebbles did not matter at all.
Later on the pebbles of ALPHA were counted again, and so were all the pebbles that BETA had sorted.
It seems that the buckets of BETA and the ones of ALPHA were filled alike at the very beginning.
In a second room BETA had a better light to work in, which did not lead to any better results then.
These results suggest that training makes people sort pebbles in less time than they else would.

References
[1] A. Stone. On Pebbles. 1990.
"""


def injected(kind: ErrorKind, text: str = PAPER, form: str = "text", seed: int = 3) -> list[str]:
    """The changed places of the twin: `-old`, `+new` words."""
    twin, errors = inject(text, form, seed, [kind])
    assert [error.kind for error in errors] == [kind]
    changed = difflib.ndiff(text.split(), twin.split())
    return [line.replace(" ", "") for line in changed if line[0] in "+-"]


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        (ErrorKind.NUMBER, ["-12.5", "+17.5"]),
        (ErrorKind.STATISTICS, ["-.0002,", "+0.002,"]),
        (ErrorKind.UNSUPPORTED_CONCLUSION, ["-suggest", "+prove"]),
        (ErrorKind.CONTRADICTED_ABSTRACT, ["-12.5", "+17.5"]),
        (ErrorKind.SIGN, ["-better", "+worse"]),
    ],
)
def test_a_kind_changes_what_its_rule_says_and_nothing_else(
    kind: ErrorKind, changed: list[str]
) -> None:
    found = {tuple(injected(kind, seed=seed)) for seed in range(12)}
    assert tuple(changed) in found
    assert all(len(each) == 2 for each in found)


def test_compared_things_change_places() -> None:
    changed = injected(ErrorKind.SWAPPED_CONDITIONS)
    assert sorted(changed) == ["+ALPHA", "+BETA", "-ALPHA", "-BETA"]


def test_the_sentence_of_a_control_is_deleted_and_its_neighbours_may_be_quoted() -> None:
    twin, (error,) = inject(PAPER, "text", 1, [ErrorKind.MISSING_CONTROL])
    assert "randomly assigned" not in twin
    assert (error.after, error.location) == ("", "section 2 Methods")
    assert error.is_quoted_by("After “every one of them was washed twice in cold water” it stops.")
    assert not error.is_quoted_by("The results of the early work may be explained otherwise.")


def test_words_that_the_text_repeats_point_at_no_error() -> None:
    repeated = "In this trial we found that the pebbles"
    paper = (
        f"{repeated} of the shore were rather round when we came back home.\n\n"
        "The pebbles were randomly assigned to one of the two buckets.\n\n"
        f"{repeated} of the other bucket weigh nothing that our scale could ever show.\n"
    )
    _, (error,) = inject(paper, "text", 1, [ErrorKind.MISSING_CONTROL])
    assert not error.is_quoted_by(f"{repeated} were blue.")
    assert error.is_quoted_by(
        "“the other bucket weigh nothing that our scale could ever show” is odd."
    )


def test_a_citation_names_another_work_of_the_same_paper() -> None:
    removed, added = injected(ErrorKind.WRONG_CITATION)
    assert removed.strip("-,.[]") != added.strip("+,.[]")
    assert added.strip("+,.[]") in {"1", "3", "4", "5"} or "," in added
    source = "".join(
        f"\\section{{S{number}}} It was shown by others that pebbles can be sorted in {number} ways"
        f" \\citep{{key{number}}}.\n\n"
        for number in range(6)
    )
    twin, (error,) = inject(source, "latex", 1, [ErrorKind.WRONG_CITATION])
    assert "\\citep{key" in error.after
    assert sorted(twin) == sorted(source) or len(twin) == len(source)


def test_errors_stand_in_sentences_of_their_own_and_the_same_seed_gives_the_same_twin() -> None:
    twin, errors = inject(PAPER, "text", 5)
    assert (twin, errors) == inject(PAPER, "text", 5)
    assert len({error.before for error in errors}) == len(errors) >= 4
    flat = " ".join(twin.split())
    assert all(error.after in flat for error in errors)
    assert all(error.before not in flat for error in errors)
    assert twin.endswith(PAPER[PAPER.index("References") :])


def test_a_report_points_at_an_error_by_quoting_it_or_what_it_contradicts() -> None:
    _, (error,) = inject(PAPER, "text", 1, [ErrorKind.CONTRADICTED_ABSTRACT])
    assert error.location == "the abstract"
    assert error.is_quoted_by(f"Wrong: “{error.after}”")
    assert error.is_quoted_by("It says ‘A trained person needed 12.5 minutes for a bucket’.")
    assert not error.is_quoted_by("The abstract is wrong.")


@given(st.text(max_size=300))
def test_no_text_breaks_a_rule_and_one_without_prose_stays_as_it_is(text: str) -> None:
    twin, errors = inject(text, "text", 1)
    assert errors or twin == text


# The suite.

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


def test_a_manuscript_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = write_manuscripts(tmp_path, clean=CLEAN)
    (folder / "manuscripts" / "clean" / "paper.md").unlink()
    with pytest.raises(ConfigurationError, match="clean is missing at"):
        manuscript_places(folder)
