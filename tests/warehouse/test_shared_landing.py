"""What lands is found by machines that have no folder in common, whatever object storage does."""

import gzip
import io
import tarfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flows.preflight import check_place
from schemas.base import replace
from schemas.errors import AssayError, ConfigurationError, UpstreamError
from schemas.identifiers import RunId
from schemas.reasons import Reason
from schemas.settings import Settings
from tests.support.evaluations import make_evaluation, make_llm_call, make_run
from tests.support.object_server import BUCKET, Fault, ObjectServer
from warehouse.layout import Layout
from warehouse.runs.deletion import delete_run
from warehouse.runs.landing import RUNS, land
from warehouse.units import landing
from warehouse.units.landing import RECEIPT_FILE, complete_receipt, read_receipt
from warehouse.units.publish import publish
from warehouse.units.shared import shared_landing

RUN = RunId("run-a")
KEY = make_evaluation().evaluation_key
UNIT = f"assay/landing/run={RUN}/idea={KEY}.tar"


@pytest.fixture(autouse=True)
def shared(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    del server
    monkeypatch.setenv("ASSAY_SHARED_LANDING", f"s3://{BUCKET}/assay")
    shared_landing.cache_clear()
    yield
    shared_landing.cache_clear()


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Layout, Layout]:
    """Two of them, with folders of their own."""
    return Layout(tmp_path / "first"), Layout(tmp_path / "second")


def content(layout: Layout) -> dict[str, bytes]:
    folder = RUNS.unit_folder(layout, RUN, KEY)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_unit_that_landed_elsewhere_is_found_by_its_name_and_published(
    machines: tuple[Layout, Layout], server: ObjectServer
) -> None:
    first, second = machines
    server.unlisted = lambda key: True
    receipts = [land(first, make_evaluation(number)) for number in range(2)]
    for receipt in receipts:
        assert complete_receipt(second, RUNS, RUN, receipt.evaluation_key) == receipt
    assert content(second) == content(first)
    assert publish(second, RUNS, make_run(ideas=2)).published
    assert server.operations("list") == []


def test_what_is_complete_here_asks_nobody(
    machines: tuple[Layout, Layout], server: ObjectServer
) -> None:
    land(machines[0], make_evaluation())
    server.asked.clear()
    assert complete_receipt(machines[0], RUNS, RUN, KEY)
    assert server.asked == []


@pytest.mark.parametrize("how", ["slow_down", "late", "partial"])
def test_a_unit_that_arrives_at_the_second_attempt_has_landed_once(
    machines: tuple[Layout, Layout], server: ObjectServer, how: str
) -> None:
    server.faults = [Fault(how, "put")]
    receipt = land(machines[0], make_evaluation())
    assert server.faults == [], "it went wrong once"
    assert list(server.objects) == [UNIT]
    assert read_receipt(machines[1], RUNS, RUN, KEY) == receipt
    assert receipt.llm_calls == len(make_evaluation().llm_calls)


def test_a_unit_that_storage_refuses_has_landed_nowhere(
    machines: tuple[Layout, Layout], server: ObjectServer
) -> None:
    server.faults = [Fault("slow_down", "put", None)]
    with pytest.raises(UpstreamError, match="SlowDown"):
        land(machines[0], make_evaluation())
    server.faults.clear()
    server.expired = True
    with pytest.raises(ConfigurationError, match="renew them"):
        land(machines[0], make_evaluation())
    server.expired = False
    for layout in machines:
        assert read_receipt(layout, RUNS, RUN, KEY) is None
    assert server.objects == {}


def test_a_worker_that_is_killed_after_the_unit_arrived_has_landed_it(
    machines: tuple[Layout, Layout], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(landing, "move_into_place", die)
        with pytest.raises(KeyboardInterrupt):
            land(machines[0], make_evaluation())
    found = [complete_receipt(layout, RUNS, RUN, KEY) for layout in machines]
    assert found[0] is not None
    assert found[0] == found[1]
    assert content(machines[0]) == content(machines[1])


def test_a_unit_that_ended_early_here_and_whole_elsewhere_is_brought_with_all_its_calls(
    machines: tuple[Layout, Layout],
) -> None:
    first, second = machines
    evaluation = make_evaluation(calls=2)
    land(first, evaluation, incomplete_reason=Reason.BUDGET_EXHAUSTED)
    again = replace(evaluation, llm_calls=(make_llm_call(evaluation.idea.idea_id, 9),))
    whole = land(second, again)
    assert whole.llm_calls == 3, "what the first machine paid is not forgotten"
    assert complete_receipt(first, RUNS, RUN, KEY) == whole
    assert content(first) == content(second)


def test_of_workers_that_land_one_unit_at_once_none_loses_what_it_paid(
    tmp_path: Path, server: ObjectServer
) -> None:
    start = threading.Barrier(4)

    def work(number: int) -> None:
        evaluation = make_evaluation(calls=1)
        start.wait()
        paid = make_llm_call(evaluation.idea.idea_id, 100 + number)
        land(Layout(tmp_path / str(number)), replace(evaluation, llm_calls=(paid,)))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    receipt = complete_receipt(Layout(tmp_path / "another"), RUNS, RUN, KEY)
    assert receipt is not None
    assert receipt.llm_calls == 4
    assert list(server.objects) == [UNIT]


def packed(name: str, data: bytes = b"{}") -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return content.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        packed("../../escaped.json"),
        packed("/tmp/escaped.json"),
        packed("program.sh"),
        packed("papers.parquet"),
        packed("receipt.json", b"{}" * 1000)[:1000],
        gzip.compress(packed("receipt.json")),
        packed("receipt.json")[:100],
        b"",
        b"no archive",
    ],
    ids=range(9),
)
def test_what_is_no_unit_is_refused_in_one_line_and_written_nowhere(
    machines: tuple[Layout, Layout], server: ObjectServer, tmp_path: Path, content: bytes
) -> None:
    server.put(UNIT, content)
    with pytest.raises(ConfigurationError, match=r"\.tar is no landed unit") as refused:
        read_receipt(machines[0], RUNS, RUN, KEY)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.rglob("*escaped*"))
    assert not machines[0].landing.exists()


def test_a_deleted_run_is_not_found_again(
    machines: tuple[Layout, Layout], server: ObjectServer
) -> None:
    first, second = machines
    land(first, make_evaluation())
    kept = land(first, make_evaluation(run_id="run-b"))
    assert publish(first, RUNS, make_run()).published
    delete_run(first, RUN)
    assert read_receipt(second, RUNS, RUN, KEY) is None
    assert read_receipt(second, RUNS, kept.run_id, KEY) == kept
    assert len(server.objects) == 1


@pytest.mark.parametrize("address", ["/a/folder", "s3://", "https://storage.example.org/lab"])
def test_an_address_that_is_none_is_refused_before_anything_is_paid_for(
    machines: tuple[Layout, Layout], monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("ASSAY_SHARED_LANDING", address)
    with pytest.raises(ConfigurationError, match="s3://bucket/prefix"):
        check_place(machines[0].root, Settings())


def test_storage_that_writes_over_what_is_there_is_refused_before_anything_is_paid_for(
    machines: tuple[Layout, Layout], server: ObjectServer
) -> None:
    check_place(machines[0].root, Settings())
    server.knows_conditions = False
    with pytest.raises(AssayError, match="If-None-Match"):
        check_place(machines[0].root, Settings())
    assert server.objects == {}


def test_the_receipt_is_of_the_unit_alone(
    machines: tuple[Layout, Layout], server: ObjectServer
) -> None:
    land(machines[0], make_evaluation())
    with tarfile.open(fileobj=io.BytesIO(server.objects[UNIT])) as archive:
        assert sorted(archive.getnames()) == sorted(content(machines[0]))
        receipt = archive.extractfile(RECEIPT_FILE)
        assert receipt is not None
        assert receipt.read() == content(machines[0])[RECEIPT_FILE]
