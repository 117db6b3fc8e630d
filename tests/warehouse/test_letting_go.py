"""What the lake has held for long is not kept in landing too, and nothing that needs it is lost."""

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from schemas.base import replace
from schemas.errors import PublicationError
from schemas.identifiers import RunId
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.reasons import Reason
from schemas.tables import TABLE
from tests.support.evaluations import make_evaluation, make_run
from tests.warehouse.conftest import publish_ideas
from warehouse.compact import CompactReport, compact
from warehouse.kinds.registry import KINDS
from warehouse.kinds.runs.landing import RUNS, find_receipt, land
from warehouse.kinds.runs.reuse import reuse
from warehouse.queries import Queries
from warehouse.units.bucket import EVICTION_MARK
from warehouse.units.landing import iterate_receipts
from warehouse.units.publish import publish
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

RUN, OTHER = RunId("run-a"), RunId("run-b")
AT_ONCE = timedelta(0)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Run `run-a` with two ideas and a rejected entry that bears the identifier of one of them. Not
    to be changed.
    """
    warehouse = Warehouse(tmp_path_factory.mktemp("small"))
    publish_ideas(warehouse, RUN, range(2))
    return warehouse


@pytest.fixture(scope="module")
def small_let_go(small: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The same once compaction has let go of its files. Not to be changed."""
    warehouse = Warehouse(shutil.copytree(small.root, tmp_path_factory.mktemp("let-go") / "w"))
    assert compacted(warehouse).landed_units_let_go == 2
    return warehouse


@pytest.fixture
def copied(small: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(small.root, tmp_path / "copied"))


@pytest.fixture
def evict(small_let_go: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(small_let_go.root, tmp_path / "let-go"))


def landed_files(warehouse: Warehouse) -> list[Path]:
    return sorted(RUNS.folder(warehouse, RUN).glob("idea=*/*.parquet"))


def evaluations(queries: Queries, run_id: RunId) -> dict[str, IdeaEvaluation]:
    found = (review.evaluation for review in queries.idea_reviews(run_id))
    return {evaluation.idea.idea_id: evaluation for evaluation in found}


def compacted(warehouse: Warehouse) -> CompactReport:
    return compact(warehouse, keep=AT_ONCE)


def test_compaction_lets_go_of_what_the_lake_has_held_for_long_and_says_what_it_freed(
    copied: Warehouse,
) -> None:
    assert compact(copied).landed_units_let_go == 0, "published a moment ago"
    size = sum(path.stat().st_size for path in landed_files(copied))
    report = compacted(copied)
    assert (report.landed_units_let_go, landed_files(copied)) == (2, [])
    assert report.bytes_freed >= size
    assert len(list(iterate_receipts(copied, RUNS, RUN))) == 2
    assert verify(copied).sound


@pytest.mark.long
def test_what_was_let_go_counts_as_published_and_changes_nothing(evict: Warehouse) -> None:
    report = publish(evict, RUNS, make_run(ideas=2, rejected_count=1))
    assert report.unchanged
    assert landed_files(evict) == []


def test_a_run_that_is_published_again_brings_back_what_was_let_go(
    small: Warehouse, evict: Warehouse
) -> None:
    with small.queries() as queries:
        before = evaluations(queries, RUN)
    land(evict, make_evaluation(2))
    report = publish(evict, RUNS, make_run(ideas=3, rejected_count=1))
    assert (report.published, report.unchanged) == (True, False)
    assert not list(RUNS.folder(evict, RUN).glob(f"idea=*/{EVICTION_MARK}"))
    assert verify(evict).sound, "row for row, as it landed"
    with evict.queries() as queries:
        after = evaluations(queries, RUN)
    assert {name: after[name] for name in before} == before


@pytest.mark.long
def test_an_evaluation_that_was_let_go_is_taken_over_by_another_run(evict: Warehouse) -> None:
    evaluation = make_evaluation(1)
    assert find_receipt(evict, evaluation.evaluation_key) is not None
    reuse(evict, evaluation.evaluation_key, RUN, OTHER, replace(evaluation.idea, group="x"))
    assert publish(evict, RUNS, make_run("run-b", ideas=1)).published
    with evict.queries() as queries:
        first, taken = (evaluations(queries, run)[evaluation.idea.idea_id] for run in (RUN, OTHER))
    assert taken.soundness == first.soundness
    assert taken.contribution == first.contribution


@pytest.mark.parametrize(
    ("name", "after_files"),
    [
        ("unlink", 5),
        pytest.param("rename", 5, marks=pytest.mark.long),
        pytest.param("unlink", 0, marks=pytest.mark.long),
        pytest.param("rename", 0, marks=pytest.mark.long),
    ],
)
@pytest.mark.long
def test_letting_go_and_bringing_back_may_be_killed_at_any_file(
    copied: Warehouse,
    evict: Warehouse,
    name: str,
    after_files: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class KilledError(BaseException):
        pass

    def dying(path: Path | str, *given: object, **named: object) -> None:
        nonlocal left
        if Path(path).suffix in (".parquet", ".building"):
            left -= 1
            if left < 0:
                raise KilledError
        return plain(path, *given, **named)

    def step() -> None:
        if name == "unlink":
            compacted(warehouse)
        else:
            publish(warehouse, RUNS, make_run(ideas=2, rejected_count=0))

    warehouse, meant = (copied, evict) if name == "unlink" else (evict, copied)
    files = len(landed_files(meant))
    place = os if name == "unlink" else Path
    left, plain = after_files, getattr(place, name)
    with monkeypatch.context() as patched, pytest.raises(KilledError):
        patched.setattr(place, name, dying)
        step()
    assert verify(warehouse).sound
    step()
    assert len(landed_files(warehouse)) == files


def test_files_that_do_not_hold_what_the_lake_holds_are_kept(copied: Warehouse) -> None:
    with copied.publisher() as connection:
        connection.execute("update papers set title = 'another' where idea_id = 'idea-00001'")
    assert compacted(copied).landed_units_let_go == 0
    assert landed_files(copied)


@pytest.mark.long
def test_ideas_that_ended_early_keep_their_files(warehouse: Warehouse) -> None:
    land(warehouse, make_evaluation(0))
    land(warehouse, make_evaluation(1), incomplete_reason=Reason.BUDGET_EXHAUSTED)
    assert publish(warehouse, RUNS, make_run(ideas=2)).published
    assert compacted(warehouse).landed_units_let_go == 1
    assert {path.parent.name for path in landed_files(warehouse)} == {
        f"idea={make_evaluation(1).evaluation_key}"
    }


def test_a_lost_lake_is_told_in_one_line_that_says_how_to_go_on(evict: Warehouse) -> None:
    shutil.rmtree(evict.lake)
    with pytest.raises(
        PublicationError, match=r"were evicted: bring .* back from a copy, or remove"
    ):
        publish(evict, RUNS, make_run(ideas=2, rejected_count=1))


@pytest.mark.long
def test_batches_of_a_complete_run_go_and_those_of_another_stay(copied: Warehouse) -> None:
    land(copied, make_evaluation(0, run_id="run-b"))
    assert publish(copied, RUNS, make_run("run-b", ideas=2)).published
    complete, other = (copied.batches(run_id) for run_id in (RUN, OTHER))
    for path in (complete, other):
        path.parent.mkdir(parents=True)
        path.write_bytes(os.urandom(1000))
    report = compacted(copied)
    assert report.batch_files_removed == 1
    assert report.bytes_freed > 1000
    assert (complete.exists(), other.exists()) == (False, True)


def test_kinds_that_let_go_know_their_units_by_a_column_of_every_table() -> None:
    for kind in (kind for kind in KINDS if kind.unit_column):
        for name in kind.tables:
            assert kind.unit_column in TABLE[name].column_names
