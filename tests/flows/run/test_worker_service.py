"""What workers elsewhere share with the command: asked over the network, kept in its files."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from flows.run import worker_service
from flows.run.worker_service import WorkerService
from flows.works.check.check_request import resolve_check
from schemas import base
from schemas.calls import LlmCall
from schemas.errors import BudgetExhaustedError, CommandGoneError, ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.options.commands import CheckOptions
from schemas.run import Budget
from schemas.settings import DocumentSettings, Settings
from schemas.tables import TABLE
from tasks.accounting.budgets import SharedBudget
from tasks.documents.document import LatexSource
from tasks.documents.latex import read_latex_whole
from tasks.evaluation.evaluate_shard import Attempts
from tasks.manuscripts.collect import CheckJob
from tasks.shards.elsewhere import brought
from tasks.shards.work import Shard
from tasks.web.owner import Reach, RemoteOwner
from tasks.web.shared_limits import SharedRateLimit
from tests.support.document_server import Reply, document_server
from tests.support.evaluations import make_evaluation, make_llm_call
from tests.support.manuscript_files import latex_folder
from tests.support.work_of_every_kind import WORKS, Work
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.landed import read_rows
from warehouse.layout import Layout
from warehouse.owner import asking
from warehouse.units.kind import Kind
from warehouse.units.landing import hand_over, iterate_receipts, journalled_calls, unit_folders

RUN, IDEA = RunId("run-1"), IdeaId("idea-1")
Worker = Callable[[], RemoteOwner]


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """The command's."""
    return Layout(tmp_path / "command")


@pytest.fixture
def own(tmp_path: Path) -> Layout:
    """The worker's."""
    return Layout(tmp_path / "worker")


def service_of(layout: Layout, folder: Path, kind: Kind[Any, Any] = RUNS) -> WorkerService:
    return WorkerService(Settings(home=layout.root / "home"), layout, RUN, kind, folder)


def unseen(reach: Reach) -> Reach:
    """As a machine has it that does not see the folder."""
    return replace(reach, mark="not here")


@pytest.fixture
def worker(layout: Layout) -> Iterator[Worker]:
    """Makes workers of a run."""
    service = service_of(layout, layout.landing / "run=run-1")
    with ExitStack() as stack:
        reach = stack.enter_context(service.open("127.0.0.1", "127.0.0.1"))
        yield lambda: stack.enter_context(RemoteOwner(unseen(reach), None, patience_seconds=2.0))


def budget(layout: Layout, **bounds: float) -> SharedBudget:
    return SharedBudget(layout.state / "budgets.sqlite", RUN, Budget(**bounds))


def test_workers_share_the_budget_of_the_command_to_the_token(
    layout: Layout, own: Layout, worker: Worker
) -> None:
    async def call(tokens: int) -> None:
        with asking(worker()):
            spending = budget(own, maximum_tokens=100)
            spending.settle(await spending.reserve(IDEA, tokens=50), tokens=tokens)

    asyncio.run(call(60))
    assert budget(layout, maximum_tokens=100).spent().tokens == 60
    asyncio.run(call(45))
    with pytest.raises(BudgetExhaustedError, match="of 100 tokens is spent: raise --max-tokens"):
        asyncio.run(call(1))
    assert budget(layout, maximum_tokens=100).spent(IDEA).tokens == 105
    assert not own.root.exists()


def test_calls_of_a_worker_are_journalled_with_the_command_and_land_with_the_unit(
    layout: Layout, own: Layout, worker: Worker
) -> None:
    evaluation = base.replace(make_evaluation(), run_id=RUN)
    unit = RUNS.unit_path(layout, evaluation.run_id, evaluation.evaluation_key)
    call = make_llm_call(evaluation.idea.idea_id, 0, call_id="journalled", cost_usd=0.25)

    async def send() -> None:
        spending = budget(own)
        reservation = await spending.reserve(IDEA, cost_usd=0.5)
        spending.send(reservation, unit, call)
        spending.settle(reservation, cost_usd=0.25, tokens=7, call=call)

    with asking(worker()):
        asyncio.run(send())
    assert journalled_calls(layout, unit) == [call]
    with asking(worker()):
        assert journalled_calls(own, unit) == [call]
        land(own, base.replace(evaluation, llm_calls=()))
    path = layout.landing / unit / "llm_calls.parquet"
    assert [row["call_id"] for row in read_rows(TABLE["llm_calls"], path)] == ["journalled"]
    assert journalled_calls(layout, unit) == []
    assert budget(layout).spent().cost_usd == 0.25


def test_what_a_silent_worker_had_reserved_is_free_again(
    layout: Layout, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_service, "_DEAD_AFTER_SECONDS", 0.3)

    async def reserved(owner: RemoteOwner) -> None:
        with asking(owner):
            await budget(layout, maximum_cost_usd=1.0).reserve(IDEA, cost_usd=5.0)

    asyncio.run(reserved(worker()))  # and never settled
    asyncio.run(asyncio.wait_for(reserved(worker()), 60))


def test_a_question_whose_answer_was_lost_is_counted_once(
    layout: Layout, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = worker()
    send, lost = owner._client.request, [True]

    def unreliable(*arguments: object, **named: object) -> httpx.Response:
        answer = send(*arguments, **named)  # type: ignore[arg-type]
        if lost.pop() if lost else False:
            raise httpx.ReadError("the answer was lost")
        return answer

    monkeypatch.setattr(owner._client, "request", unreliable)
    with asking(owner):
        budget(layout, maximum_requests=5).count_request(IDEA)
    assert budget(layout, maximum_requests=5).spent().requests == 1


def test_rates_and_attempts_are_those_of_the_command(
    layout: Layout, own: Layout, worker: Worker
) -> None:
    async def second_waits(limit: SharedRateLimit) -> float:
        await limit.take()
        return await limit.take(0.0)

    for _ in range(2):  # two workers
        with asking(worker()):
            Attempts(own.state).begin("a" * 32)  # type: ignore[arg-type]
    with asking(worker()):
        assert Attempts(own.state).count("a" * 32) == 2  # type: ignore[arg-type]
        there = SharedRateLimit(own.state / "limits", "model tokens", 600)
        assert asyncio.run(second_waits(there)) > 0
    here = SharedRateLimit(layout.state / "limits", "model tokens", 600)
    here.penalise(0.2)
    with asking(worker()):
        assert asyncio.run(there.take(0.0)) > 0
    assert not own.root.exists()


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.kind.word)
def test_units_of_every_kind_land_with_the_command_and_are_found_there(
    work: Work, layout: Layout, own: Layout
) -> None:
    work.prepare(layout)
    folder = work.kind.folder(layout, *work.names)
    with (
        service_of(layout, folder, work.kind).open("127.0.0.1", "127.0.0.1") as reach,
        RemoteOwner(unseen(reach), None, 2.0) as owner,
        asking(owner),
    ):
        landed = work.land(own, 0, "call-0")
        again = work.land(own, 0, "call-1")  # which keeps what was paid for
    (receipt,) = iterate_receipts(layout, work.kind, *work.names)
    assert receipt == again
    if "llm_calls" in landed.rows:
        assert again.rows["llm_calls"] == landed.rows["llm_calls"] + 1
    (unit,) = unit_folders(layout, work.kind, *work.names)
    assert {file.name for file in unit.iterdir()} >= {"receipt.json"}


def test_a_unit_made_while_the_command_was_gone_is_handed_over_to_the_next(
    layout: Layout, own: Layout, tmp_path: Path
) -> None:
    work = WORKS[0]
    folder = work.kind.folder(layout, *work.names)
    with service_of(layout, folder, work.kind).open("127.0.0.1", "127.0.0.1") as reach:
        pass  # and gone
    with (
        RemoteOwner(unseen(reach), None, 0.1) as owner,
        asking(owner),
        pytest.raises(CommandGoneError, match="that sent this work gives no answer"),
    ):
        work.land(own, 0, "call-0")
    assert list(iterate_receipts(layout, work.kind, *work.names)) == []
    with (
        service_of(layout, folder, work.kind).open("127.0.0.1", "127.0.0.1") as reach,
        RemoteOwner(unseen(reach), None, 2.0) as owner,
    ):
        assert hand_over(own, owner, work.kind.folder(own, *work.names)) == 1
        assert hand_over(own, owner, work.kind.folder(own, *work.names)) == 0
    assert len(list(iterate_receipts(layout, work.kind, *work.names))) == 1


@pytest.mark.parametrize(
    "work",
    [WORKS[0], *(pytest.param(work, marks=pytest.mark.long) for work in WORKS[1:])],
    ids=lambda work: work.kind.word,
)
def test_a_unit_handed_over_takes_the_calls_along_that_the_command_has(
    work: Work, layout: Layout, own: Layout
) -> None:
    """Journalled and landed ones; of a call in several the answered row stays."""
    work.prepare(layout)
    work.land(layout, 0, "landed")
    (target,) = unit_folders(layout, work.kind, *work.names)
    mark_incomplete(target)
    unit = target.relative_to(layout.landing).as_posix()
    folder = work.kind.folder(layout, *work.names)
    with service_of(layout, folder, work.kind).open("127.0.0.1", "127.0.0.1") as reach:
        pass  # and gone
    with (
        RemoteOwner(unseen(reach), None, 0.1) as owner,
        asking(owner),
        pytest.raises(CommandGoneError),
    ):
        work.land(own, 0, "handed-over")
    lost = [
        make_llm_call(IDEA, place, call_id=name, cost_usd=None)
        for place, name in enumerate(("landed", "handed-over", "earlier"))
    ]
    asyncio.run(journal(layout, unit, *lost))
    with (
        service_of(layout, folder, work.kind).open("127.0.0.1", "127.0.0.1") as reach,
        RemoteOwner(unseen(reach), None, 2.0) as owner,
    ):
        assert hand_over(own, owner, work.kind.folder(own, *work.names)) == 1
    rows = read_rows(TABLE["llm_calls"], target / "llm_calls.parquet")
    costs = {row["call_id"]: row["cost_usd"] for row in rows}
    assert len(rows) == len(costs) == 3
    assert [name for name in costs if costs[name] is None] == ["earlier"]
    assert journalled_calls(layout, unit) == []
    (receipt,) = iterate_receipts(layout, work.kind, *work.names)
    assert receipt.rows["llm_calls"] == 3


async def journal(layout: Layout, unit: str, *calls: LlmCall) -> None:
    """What a start leaves that is killed while it waits for the answers to `calls`."""
    for call in calls:
        budget = SharedBudget(layout.budgets, RUN, Budget())
        budget.send(await budget.reserve(IDEA), unit, call)


def mark_incomplete(unit: Path) -> None:
    path = unit / "receipt.json"
    receipt = orjson.loads(path.read_bytes()) | {"incomplete_reason": "budget_exhausted"}
    path.write_bytes(orjson.dumps(receipt))


class Reading(Shard):
    """A shard that names a file, a folder and, in a profile, a file as text."""

    paper: Path
    sources: tuple[Path, ...]
    exemplars: str
    text: str
    place: Path

    @property
    def warehouse(self) -> Path:
        return self.place

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.paper, *self.sources, Path(self.exemplars))


def check_job(layout: Layout, path: Path) -> CheckJob:
    request = resolve_check([path], CheckOptions(warehouse=layout.root), Settings())
    return CheckJob(run_id=RUN, request=request, sources=request.sources)


@contextmanager
def owner_of(layout: Layout, shard: Shard) -> Iterator[RemoteOwner]:
    """The command as a worker elsewhere sees it, which hands out the files that `shard` names."""
    service = service_of(layout, layout.landing / "run=run-1")
    service.hand_out(frozenset(shard.files))
    with (
        service.open("127.0.0.1", "127.0.0.1") as reach,
        RemoteOwner(unseen(reach), None, 2.0) as owner,
    ):
        yield owner


def test_files_that_a_shard_names_are_brought_and_texts_stay_as_they_are(
    layout: Layout, own: Layout, tmp_path: Path
) -> None:
    paper, sources, exemplars = (tmp_path / name for name in ("a.pdf", "tex", "ideas.jsonl"))
    paper.write_bytes(bytes(range(256)) * 9)
    (sources / "figures").mkdir(parents=True)
    (sources / "figures" / "one.tex").write_text("x")
    (sources / "empty.tex").touch()
    (sources / "link.tex").symlink_to(paper)
    exemplars.write_text("{}")
    shard = Reading(
        run_id=RUN,
        paper=paper,
        sources=(sources,),
        exemplars=str(exemplars),
        text=str(paper),
        place=layout.root,
    )
    with owner_of(layout, shard) as owner:
        there = brought(shard, owner, own)
        assert brought(shard, owner, own) == there
        for name in ("../a.pdf", "link.tex", str(paper)):
            with pytest.raises(ConfigurationError):
                owner.download(str(sources), name, tmp_path / "stolen")
        assert not (tmp_path / "stolen").exists()
    assert there.warehouse == own.root
    assert there.text == str(paper)
    assert there.paper.is_relative_to(own.cache) and there.paper.name == "a.pdf"
    assert there.paper.read_bytes() == paper.read_bytes()
    (folder,) = there.sources
    assert (folder / "figures" / "one.tex").read_text() == "x"
    assert (folder / "empty.tex").read_bytes() == b""
    assert not (folder / "link.tex").exists()
    assert Path(there.exemplars).read_text() == "{}"


async def test_a_link_in_a_folder_of_manuscripts_is_not_brought(
    layout: Layout, own: Layout, tmp_path: Path
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (tmp_path / "secret").write_text("A secret of this machine.")
    (folder / "link.md").symlink_to(tmp_path / "secret")
    job = check_job(layout, folder)
    with owner_of(layout, job) as owner:
        (source,) = brought(job, owner, own).sources
        assert not source.path.is_file()
        with pytest.raises(ConfigurationError, match="is a link"):
            owner.download(str(job.sources[0].path), "", tmp_path / "stolen")


async def test_a_manuscript_is_brought_with_the_files_it_includes(
    layout: Layout, own: Layout, tmp_path: Path
) -> None:
    folder = latex_folder(tmp_path / "paper")
    job = check_job(layout, folder / "main.tex")
    with owner_of(layout, job) as owner:
        (source,) = brought(job, owner, own).sources
    (folder / "parts" / "results.tex").unlink()
    read = await read_latex_whole(source.path, DocumentSettings(), source.included)
    assert isinstance(read, LatexSource)
    assert r"\section{Results}" in read.body
    assert read.missing_files == ()


def test_a_command_that_is_gone_is_waited_for_once_whatever_else_is_asked(tmp_path: Path) -> None:
    """Else every idea of a shard would wait for it anew, one after the other."""
    busy, well = Reply(503, b'{"error": "busy"}'), Reply(200, b'{"value": 1}')
    with document_server() as server:
        reach = Reach(server.url, "token", tmp_path, "not here", "run=run-1")
        with RemoteOwner(reach, None, 2.0) as owner:

            def attempts(replies: list[Reply]) -> int:
                server.replies["/ask"], before = replies, len(server.asked)
                with suppress(CommandGoneError):
                    assert owner.ask("budget", {}, "left", []) == 1
                return len(server.asked) - before

            assert attempts([busy]) > 1
            assert [attempts([busy]) for _ in range(3)] == [1, 1, 1]
            assert attempts([well]) == 1
            assert attempts([busy, well]) == 2


def test_nothing_is_answered_to_strangers_or_of_other_work(layout: Layout, worker: Worker) -> None:
    owner = worker()
    for name in ("landing/run=other/idea=x.tar", "landing/run=run-1/../../lake.tar"):
        with pytest.raises(ConfigurationError, match="no unit of this work"):
            owner.put(name, b"", replaced=None)
    with pytest.raises(ConfigurationError, match="no file of this work"):
        owner.listing("/etc/passwd")
    with pytest.raises(ConfigurationError, match="nothing that workers may ask"):
        owner.ask("budget", {}, "close", [])
    owner._client.headers["authorization"] = "Bearer guessed"
    with pytest.raises(CommandGoneError):
        owner.tag("landing/run=run-1/idea=x.tar")
    del layout
