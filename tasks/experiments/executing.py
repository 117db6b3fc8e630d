"""Executions: a program run on data it has not seen, and scored where it never was.

What an execution came to is kept under all that could change it. So work that was killed goes on
with what it had, and no execution is done or counted twice.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from schemas.identifiers import content_hash
from schemas.reasons import Reason, reason_named
from schemas.works.experiment import Container, Execution, Stage
from tasks.experiments.sandbox import Ended, Stop, run_sandboxed
from tasks.experiments.task_folder import TaskFolder
from warehouse.scrubbing import one_line
from warehouse.stores.keyed_store import KeyedStore, json_entry

_LARGEST = 1e150
"""Of a score: differences of larger ones have no finite squares, and so no interval."""
_SIZES = {Stage.SCREENING: "small"}
_STOPPED = {
    Stop.TIME: "it took longer than {0.seconds:g} s",
    Stop.MEMORY: "it used more than {0.memory_bytes:,} bytes of memory",
    Stop.FILES: "it made more than {0.files:,} files",
    Stop.OUTPUT: "it left more than {0.answer_bytes:,} bytes",
}


class EvaluatorError(Exception):
    """`evaluate.py` fails, whatever the program: nothing of its task can be measured."""


class SyntaxRefusedError(Exception):
    """A proposed program cannot be run at all, in one line that says why."""


@dataclass(frozen=True, slots=True)
class Made:
    """Data of one replicate, as JSON."""

    seed: int
    given: bytes
    held: bytes


@dataclass(slots=True)
class Executor:
    """Executes the programs of one task.

    Attributes:
        run_id: whose seeds they are: each run has data of its own.
        store: what executions came to, by all that could change it.
        slots: how many sandboxes there may be at once.
        container: what they are; None: bubblewrap.
        occasion: of the confirmation; another one has other data.
    """

    folder: TaskFolder
    run_id: str
    store: KeyedStore
    slots: asyncio.Semaphore
    container: Container | None = None
    occasion: str = ""
    _made: dict[tuple[Stage, int], "asyncio.Task[Made]"] = field(default_factory=dict)

    async def execute(
        self, name: str, source: str, stage: Stage, replicate: int, again: int = 0
    ) -> Execution:
        """Run and score one program once; with another seed on the same data where `again` says so.

        Raises:
            EvaluatorError: the data cannot be made.
        """
        made = await self.made(stage, replicate)
        if again:
            made = replace(made, seed=self._seed(f"{stage} program {again}", replicate))
        key = content_hash(
            *("execution", self.folder.content_sha256, source, made.given.decode()),
            *(made.held.decode(), f"{made.seed}"),
        )
        found = await asyncio.to_thread(self.store.get_many, [key])
        told = json_entry(found.get(key))
        if not isinstance(told, dict):
            told = await self._told(source, made)
            await asyncio.to_thread(self.store.put_many, {key: json.dumps(told).encode()})
        reason = told.pop("reason")
        return Execution(
            program_id=name,
            stage=stage,
            replicate=replicate,
            seed=made.seed,
            unscored_reason=reason_named(reason),
            **told,
        )

    async def syntax_tree(self, source: str) -> str:
        """The syntax tree of a program that nobody vouches for, as text. Nothing of it is run.

        Raises:
            SyntaxRefusedError: it is no Python, or has no `solve`.
        """
        ended = await self._sandboxed(["tree"], {"program.py": source.encode()})
        told = _read(ended)
        if not isinstance(told, dict):
            raise SyntaxRefusedError(f"it is no Python: {_why(ended)}")
        if "solve" not in told["functions"]:
            raise SyntaxRefusedError("it has no function `solve` at the left margin")
        return str(told["tree"])

    async def made(self, stage: Stage, replicate: int) -> Made:
        """The data of a replicate, made once. Raises EvaluatorError when they cannot be."""
        task = self._made.get((stage, replicate))
        if task is None:
            task = self._made[stage, replicate] = asyncio.create_task(self._make(stage, replicate))
        return await asyncio.shield(task)

    async def _make(self, stage: Stage, replicate: int) -> Made:
        purpose = f"{stage}{self.occasion}" if stage is Stage.CONFIRMATION else stage.value
        seed = self._seed(purpose, replicate)
        key = content_hash("data", self.folder.content_sha256, stage, f"{seed}")
        found = await asyncio.to_thread(self.store.get_many, [key])
        told = json_entry(found.get(key))
        if not isinstance(told, list):
            told = await self._make_anew(stage, seed)
            await asyncio.to_thread(self.store.put_many, {key: json.dumps(told).encode()})
        # The program's own seed says nothing of the seed that its data are made with.
        return Made(self._seed(f"{purpose} program", replicate), *map(_json, told))

    async def _make_anew(self, stage: Stage, seed: int) -> tuple[Any, Any]:
        ended = await self._evaluator("make", f"{seed}", _SIZES.get(stage, "full"))
        told = _read(ended)
        if not isinstance(told, dict) or told.keys() != {"given", "held"}:
            raise EvaluatorError(f"`make` of evaluate.py fails: {_why(ended)}")
        given = told["given"]
        if stage is Stage.PERMUTED:
            ended = await self._evaluator("permute", f"{seed}", **{"given.json": _json(given)})
            given = _read(ended)
            if given is None:
                raise EvaluatorError(f"`permute` of evaluate.py fails: {_why(ended)}")
        return given, told["held"]

    def _seed(self, purpose: str, replicate: int) -> int:
        """From 0 to 2³¹ - 1; nothing that a program is told gives it away."""
        told = (self.run_id, self.folder.content_sha256, purpose, f"{replicate}")
        return int(content_hash(*told, length=8), 16) >> 1

    async def _told(self, source: str, made: Made) -> dict[str, Any]:
        """Return what an execution came to, as the store keeps it."""
        files = {"program.py": source.encode(), "given.json": made.given}
        ended = await self._sandboxed(["solve", f"{made.seed}"], files)
        told: dict[str, Any] = {
            "value": None,
            "measures": {},
            "wall_seconds": ended.wall_seconds,
            "memory_bytes": ended.memory_bytes,
        }
        if ended.stopped is not None or ended.code != 0:
            reason, said = Reason.PROGRAM_FAILED, _why(ended)
            if ended.stopped is not None:
                reason = Reason.PROGRAM_STOPPED
                said = _STOPPED[ended.stopped].format(self.folder.task.limits)
            return told | {"reason": reason.value, "unscored_detail": said}
        if ended.left is None:
            limit = self.folder.task.limits.answer_bytes
            why = f"its answer is empty or has more than {limit:,} bytes"
            return told | {"reason": Reason.NO_ANSWER.value, "unscored_detail": why}
        files = {"given.json": made.given, "held.json": made.held, "answer.json": ended.left}
        scored = await self._evaluator("score", **files)
        measures = _numbers(_read(scored))
        value = measures.pop(self.folder.task.metric, None)
        if value is None:
            why = (
                f"`score` gives no {self.folder.task.metric!r} within ±{_LARGEST:g}: {_why(scored)}"
            )
            return told | {"reason": Reason.NO_ANSWER.value, "unscored_detail": one_line(why)}
        return told | {"value": value, "measures": measures, "reason": "", "unscored_detail": ""}

    async def _evaluator(self, *asked: str, **files: bytes) -> Ended:
        beside = {f"data/{name}": content for name, content in self.folder.data.items()}
        code = {"evaluate.py": self.folder.evaluate.encode()}
        return await self._sandboxed([*asked], {**beside, **code, **files})

    async def _sandboxed(self, asked: list[str], files: Mapping[str, bytes]) -> Ended:
        child = resources.files("tasks.experiments").joinpath("sandboxed_child.py").read_bytes()
        async with self.slots:
            return await asyncio.to_thread(
                run_sandboxed,
                ["/given/run.py", *asked],
                {**files, "run.py": child},
                "gives.json",
                self.folder.task.limits,
                self.container,
            )


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _read(ended: Ended) -> Any:
    """Return what was left as JSON; None where there is none."""
    try:
        return json.loads(ended.left) if ended.left is not None and ended.code == 0 else None
    except (ValueError, RecursionError):
        return None


def _numbers(told: Any) -> dict[str, float]:
    if not isinstance(told, dict):
        return {}
    return {
        name: float(value)
        for name, value in told.items()
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= _LARGEST  # false of NaN
    }


def _why(ended: Ended) -> str:
    """The last line of its errors, which names the error where Python ended it."""
    lines = ended.errors.strip().splitlines()
    ending = f"it ended with code {ended.code}" if ended.stopped is None else "it was stopped"
    return one_line(lines[-1])[:300] if lines else ending
