"""What lands is found by machines that have no folder in common, whatever object storage does."""

import gzip
import io
import sys
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dashboards.views.write_run import write_reports
from flows.cli.answer import EXIT_DONE, EXIT_USAGE
from flows.cli.command_line import application, run_command
from flows.run.preflight import check_place
from schemas.base import replace
from schemas.errors import AssayError, ConfigurationError, UpstreamError
from schemas.idea import RejectedIdea
from schemas.identifiers import IdeaId, RunId
from schemas.people.role import Role
from schemas.reasons import Reason
from schemas.settings import Settings
from tests.support.catalogues import with_catalogue
from tests.support.evaluations import make_evaluation, make_llm_call, make_run
from tests.support.object_server import Fault, ObjectServer
from tests.warehouse.conftest import Machines, machine
from warehouse.app.accounts import add_account
from warehouse.app.database import ServiceDatabase
from warehouse.kinds.runs.deletion import delete_run
from warehouse.kinds.runs.landing import RUNS, find_receipt, land, land_rejections
from warehouse.kinds.runs.reuse import reuse
from warehouse.move_lake import move_data
from warehouse.reports import (
    bring_report,
    forget_reports,
    share_reports,
    with_pages,
)
from warehouse.units import landing
from warehouse.units.bucket import RECEIPT_FILE
from warehouse.units.landing import complete_receipt, read_receipt
from warehouse.units.publish import publish
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")
KEY = make_evaluation().evaluation_key
UNIT = f"assay/landing/run={RUN}/idea={KEY}.tar"
INDEX = f"assay/landing/receipts/{KEY[:2]}/{KEY}"
WORK = f"assay/landing/run={RUN}/work.tar"


def content(warehouse: Warehouse) -> dict[str, bytes]:
    folder = RUNS.unit_folder(warehouse, RUN, KEY)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_unit_that_landed_elsewhere_is_found_by_its_name_published_and_deleted(
    machines: Machines, server: ObjectServer, empty: str, tmp_path: Path
) -> None:
    first, second = machines
    server.unlisted = lambda key: True
    receipts = [land(first, make_evaluation(number)) for number in range(2)]
    for receipt in receipts:
        assert complete_receipt(second, RUNS, RUN, receipt.evaluation_key) == receipt
    assert content(second) == content(first)
    assert publish(with_catalogue(second, empty), RUNS, make_run(ideas=2)).published
    assert server.operations("list") == []
    delete_run(with_catalogue(second, empty), RUN)
    assert find_receipt(machine(tmp_path / "third"), KEY) is None
    assert not [name for name in server.objects if RUN in name and "/lake/" not in name]


def test_what_is_complete_here_asks_nobody(machines: Machines, server: ObjectServer) -> None:
    land(machines[0], make_evaluation())
    server.asked.clear()
    assert complete_receipt(machines[0], RUNS, RUN, KEY)
    assert server.asked == []


@pytest.mark.parametrize(
    ("how", "in_key"),
    [
        ("slow_down", ".tar"),
        ("late", "/receipts/"),
        ("partial", ".tar"),
        pytest.param("slow_down", "/receipts/", marks=pytest.mark.long),
        pytest.param("late", ".tar", marks=pytest.mark.long),
        pytest.param("partial", "/receipts/", marks=pytest.mark.long),
    ],
)
def test_a_unit_that_arrives_at_the_second_attempt_has_landed_once(
    machines: Machines, server: ObjectServer, how: str, in_key: str
) -> None:
    server.faults = [Fault(how, "put", in_key=in_key)]
    receipt = land(machines[0], make_evaluation())
    assert server.faults == [], "it went wrong once"
    assert set(server.objects) == {UNIT, INDEX}
    server.faults = [Fault("half", "get", in_key=in_key)]
    assert find_receipt(machines[1], KEY) == receipt
    assert server.faults == [], "half of an answer is no answer"
    assert receipt.llm_calls == len(make_evaluation().llm_calls)


def test_a_unit_that_storage_refuses_has_landed_nowhere(
    machines: Machines, server: ObjectServer
) -> None:
    server.faults = [Fault("slow_down", "put", None)]
    with pytest.raises(UpstreamError, match="SlowDown"):
        land(machines[0], make_evaluation())
    server.faults.clear()
    server.expired = True
    with pytest.raises(ConfigurationError, match="renew them"):
        land(machines[0], make_evaluation())
    server.expired = False
    for warehouse in machines:
        assert find_receipt(warehouse, KEY) is None
    assert server.objects == {}


def test_a_worker_that_is_killed_after_the_unit_arrived_has_landed_it(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(landing, "move_into_place", die)
        with pytest.raises(KeyboardInterrupt):
            land(machines[0], make_evaluation())
    found = [complete_receipt(warehouse, RUNS, RUN, KEY) for warehouse in machines]
    assert found[0] is not None
    assert found[0] == found[1]
    assert content(machines[0]) == content(machines[1])


def test_a_unit_that_ended_early_here_and_whole_elsewhere_is_brought_with_all_its_calls(
    machines: Machines,
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
        land(machine(tmp_path / str(number)), replace(evaluation, llm_calls=(paid,)))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    receipt = complete_receipt(machine(tmp_path / "another"), RUNS, RUN, KEY)
    assert receipt is not None
    assert receipt.llm_calls == 4
    assert set(server.objects) == {UNIT, INDEX}


def test_an_evaluation_of_another_run_is_found_by_its_key_and_taken_over(
    machines: Machines, server: ObjectServer
) -> None:
    first, second = machines
    server.unlisted = lambda key: True
    for run_id in ("run-a", "run-c"):
        land(first, make_evaluation(run_id=run_id))
    found = find_receipt(second, KEY)
    assert found is not None
    idea = replace(make_evaluation().idea, idea_id=IdeaId("renamed"))
    taken = reuse(second, KEY, found.run_id, RunId("run-b"), idea)
    assert taken.reused_from_run_id == found.run_id
    assert read_receipt(first, RUNS, "run-b", KEY) == taken
    assert server.objects[INDEX].decode().split() == ["run-a", "run-b", "run-c"]


def packed(name: str, data: bytes = b"{}") -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return content.getvalue()


def linked_again() -> bytes:
    """A unit whose second member is the first one under another name."""
    content = io.BytesIO(packed("receipt.json"))
    with tarfile.open(fileobj=content, mode="a") as archive:
        member = tarfile.TarInfo("papers.parquet")
        member.type, member.linkname = tarfile.LNKTYPE, "receipt.json"
        archive.addfile(member)
    return content.getvalue()


def with_a_hole() -> bytes:
    """A receipt of ten megabytes that takes one block in the archive."""
    member = tarfile.TarInfo("receipt.json")
    member.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.name": "receipt.json",
        "GNU.sparse.size": "10000000",
        "GNU.sparse.map": "9999998,2",
    }
    member.size = 2
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(b"{}"))
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
        linked_again(),
        with_a_hole(),
    ],
    ids=range(11),
)
def test_what_is_no_unit_is_refused_in_one_line_and_written_nowhere(
    machines: Machines, server: ObjectServer, tmp_path: Path, content: bytes
) -> None:
    server.put(UNIT, content)
    with pytest.raises(ConfigurationError, match=r"\.tar is not what lands there") as refused:
        read_receipt(machines[0], RUNS, RUN, KEY)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.rglob("*escaped*"))
    assert not machines[0].landing.exists()


@pytest.mark.long
def test_what_landed_on_one_machine_is_verified_and_deleted_on_another(
    machines: Machines, server: ObjectServer, empty: str, tmp_path: Path
) -> None:
    first, second = machines
    rejected = RejectedIdea(
        idea_id=None, location="line 9", reason=Reason.DUPLICATE_ID, detail="give it another"
    )
    for number in range(2):
        land(first, make_evaluation(number))
    land_rejections(first, RUN, [rejected])
    kept = land(first, make_evaluation(run_id="run-b"))
    run = make_run(ideas=2, rejected_count=1)
    assert publish(with_catalogue(first, empty), RUNS, run).published
    share_reports(first, with_pages(write_reports(with_catalogue(first, empty), RUN)))
    report = second.reports / RUN / "index.html"
    assert bring_report(second, report)
    assert report.read_bytes() == (first.reports / RUN / "index.html").read_bytes()
    server.unlisted = lambda key: True
    assert verify(with_catalogue(second, empty)).problems == ()
    third = machine(tmp_path / "third")
    server.objects.pop(UNIT)
    assert any("its receipts say" in each for each in verify(with_catalogue(third, empty)).problems)
    delete_run(with_catalogue(second, empty), RUN)
    assert find_receipt(third, make_evaluation(1).evaluation_key) is None
    assert find_receipt(third, KEY) == kept
    names = [name for name in server.objects if not name.startswith("assay/lake/")]
    assert not [name for name in names if RUN in name], "neither units nor reports"


@pytest.mark.parametrize(
    "how", ["slow_down", "partial", pytest.param("late", marks=pytest.mark.long)]
)
def test_reports_arrive_at_the_second_attempt_and_last_the_page_that_leads_to_the_others(
    machines: Machines, server: ObjectServer, how: str
) -> None:
    first, second = machines
    index, page = (first.reports / RUN / name for name in ("index.html", "ideas/a.html"))
    page.parent.mkdir(parents=True)
    for path in (index, page):
        path.write_text(path.name)
    server.faults = [Fault("slow_down", "put", None, in_key="index.html")]
    with pytest.raises(UpstreamError, match="SlowDown"):
        share_reports(first, with_pages([index]))
    assert not bring_report(second, second.reports / RUN / index.name)
    server.faults = [Fault(how, "put", in_key="a.html")]
    share_reports(first, with_pages([index]), new=False)
    assert server.faults == [], "it went wrong once"
    assert server.operations("put")[-1].key.endswith("index.html")
    assert bring_report(second, second.reports / RUN / "ideas" / "a.html")
    server.asked.clear()
    share_reports(first, with_pages([index]), new=False)
    assert not server.operations("put")
    forget_reports(second, second.reports / RUN)
    assert server.objects == {}


@pytest.mark.long
def test_a_warehouse_moves_from_a_folder_to_an_address_with_all_that_landed(
    machines: Machines, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(machines[0].root.parents[1]))
    folder = Warehouse(tmp_path / "folder")
    for number in range(2):
        land(folder, make_evaluation(number))
    assert publish(with_catalogue(folder, empty), RUNS, make_run(ideas=2)).published
    for files_are_new in (True, False):
        moved = move_data(with_catalogue(folder, empty), machines[0].address)
        assert (moved.units, moved.files_copied > 0) == (2, files_are_new)
    assert find_receipt(machines[1], KEY) == find_receipt(folder, KEY)
    assert verify(with_catalogue(machines[1], empty)).problems == ()
    assert publish(with_catalogue(machines[1], empty), RUNS, make_run(ideas=2)).unchanged
    with pytest.raises(ConfigurationError, match="already"):
        move_data(with_catalogue(machines[0], empty), machines[0].address)
    monkeypatch.setenv("ASSAY_CATALOGUE_URL", empty)
    moved_to = f"was moved to {machines[0].address}: name that with --warehouse"
    with pytest.raises(ConfigurationError, match=moved_to):
        check_place(folder.root, Settings())
    with pytest.raises(ConfigurationError, match=moved_to):
        publish(with_catalogue(folder, empty), RUNS, make_run(ideas=2))


def test_a_warehouse_whose_readers_sign_in_does_not_move_to_where_they_would_not(
    server: ObjectServer,
    empty: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "folder"
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    with ServiceDatabase(Warehouse(folder)) as database:
        add_account(database, "bob", Role.OWNER, "a long enough password")
    monkeypatch.setenv("ASSAY_CATALOGUE_URL", empty)
    words = ["warehouse", "move-data", "s3://lab/assay", "--warehouse", str(folder)]
    monkeypatch.setattr(sys, "argv", ["assay", *words])

    def moved() -> int:
        return run_command(lambda: application()(prog_name="assay", standalone_mode=False))

    assert moved() == EXIT_USAGE
    assert "export ASSAY_DASHBOARD__PASSWORD first" in capsys.readouterr().err
    assert server.objects == {}
    monkeypatch.setenv("ASSAY_DASHBOARD__PASSWORD", "one for all of them")
    assert moved() == EXIT_DONE


def test_storage_or_a_catalogue_that_cannot_be_shared_is_refused_before_anything_is_paid_for(
    machines: Machines, server: ObjectServer, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match=r"s3://lab/assay needs .* ASSAY_CATALOGUE_URL"):
        check_place(machines[0].root, Settings())
    monkeypatch.setenv("ASSAY_CATALOGUE_URL", empty)
    check_place(machines[0].root, Settings())
    server.knows_conditions = False
    with pytest.raises(AssayError, match="If-None-Match"):
        check_place(machines[0].root, Settings())
    assert server.objects == {}


def test_the_receipt_is_of_the_unit_alone(machines: Machines, server: ObjectServer) -> None:
    land(machines[0], make_evaluation())
    with tarfile.open(fileobj=io.BytesIO(server.objects[UNIT])) as archive:
        assert sorted(archive.getnames()) == sorted(content(machines[0]))
        receipt = archive.extractfile(RECEIPT_FILE)
        assert receipt is not None
        assert receipt.read() == content(machines[0])[RECEIPT_FILE]
