"""Executions: a program runs on data, and is scored where it cannot interfere."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import resources
from typing import Any

from schemas.identifiers import content_hash
from schemas.reasons import Reason, reason_named
from schemas.works.experiment import Container, Execution, Stage
from tasks.experiments.sandbox import RunResult, Stop, run_sandboxed
from tasks.experiments.task_folder import TaskFolder
from warehouse.scrubbing import one_line
from warehouse.stores.keyed_store import KeyedStore, json_entry

_LARGEST = 1e150
"""Largest score: squares of larger differences overflow, so they have no interval."""
_REASON_BY_STOP = {
    Stop.TIME: "it took longer than {0.seconds:g} s",
    Stop.MEMORY: "it used more than {0.memory_bytes:,} bytes of memory",
    Stop.FILES: "it made more than {0.files:,} files",
    Stop.OUTPUT: "it left more than {0.answer_bytes:,} bytes",
}


class EvaluatorError(Exception):
    """`evaluate.py` fails regardless of the program, so nothing of its task can be measured."""


class SyntaxRefusedError(Exception):
    """A proposed program cannot be run; the message is one line."""


@dataclass(frozen=True, slots=True)
class ReplicateData:
    """Data of one replicate as JSON: `given` to the program, `held` back for the score."""

    seed: int
    given: bytes
    held: bytes


@dataclass(slots=True)
class Executor:
    """Executor of the programs of one task.

    Attributes:
        run_id: seeds depend on it, so that each run has its own data.
        store: results of executions by a hash of their inputs.
        slots: limit of concurrent sandboxes.
        container: the sandbox; None for bubblewrap.
        occasion: makes the data of another confirmation differ.
    """

    folder: TaskFolder
    run_id: str
    store: KeyedStore
    slots: asyncio.Semaphore
    container: Container | None = None
    occasion: str = ""
    _made: dict[tuple[Stage, int], "asyncio.Task[ReplicateData]"] = field(default_factory=dict)

    async def execute(
        self, name: str, source: str, stage: Stage, replicate: int, again: int = 0
    ) -> Execution:
        """Run and score one program; `again` selects another seed on the same data.

        Raises:
            EvaluatorError: the data cannot be made.
        """
        # Each replicate of a stage has one set of data, made once.
        making = self._made.get((stage, replicate))
        if making is None:
            making = asyncio.create_task(self._make(stage, replicate))
            self._made[stage, replicate] = making
        data = await asyncio.shield(making)
        if again:
            data = replace(data, seed=self._seed(f"{stage} program {again}", replicate))
        key = content_hash(
            *("execution", self.folder.content_sha256, source, data.given.decode()),
            *(data.held.decode(), f"{data.seed}"),
        )
        entry = await self._stored(key, dict, partial(self._run_and_score, source, data))
        reason = entry.pop("reason")
        return Execution(
            program_id=name,
            stage=stage,
            replicate=replicate,
            seed=data.seed,
            unscored_reason=reason_named(reason),
            **entry,
        )

    async def syntax_tree(self, source: str) -> str:
        """Return the syntax tree of an untrusted program as text, without running it.

        Raises:
            SyntaxRefusedError: it is no Python, or has no `solve`.
        """
        run_result = await self._run_in_sandbox(["tree"], {"program.py": source.encode()})
        reply = _read(run_result)
        if not isinstance(reply, dict):
            raise SyntaxRefusedError(f"it is no Python: {_why(run_result)}")
        if "solve" not in reply["functions"]:
            raise SyntaxRefusedError("it has no function `solve` at the left margin")
        return str(reply["tree"])

    async def _stored(self, key: str, kind: type[Any], make: Callable[[], Awaitable[Any]]) -> Any:
        """Return the stored entry of a key, a hash of all that could change it; else make it."""
        stored_entries = await asyncio.to_thread(self.store.get_many, [key])
        entry = json_entry(stored_entries.get(key))
        if not isinstance(entry, kind):
            entry = await make()
            await asyncio.to_thread(self.store.put_many, {key: json.dumps(entry).encode()})
        return entry

    async def _make(self, stage: Stage, replicate: int) -> ReplicateData:
        purpose = f"{stage}{self.occasion}" if stage is Stage.CONFIRMATION else stage.value
        seed = self._seed(purpose, replicate)
        key = content_hash("data", self.folder.content_sha256, stage, f"{seed}")
        entry = await self._stored(key, list, partial(self._make_data, stage, seed))
        # The program's seed reveals nothing about the seed of its data.
        return ReplicateData(self._seed(f"{purpose} program", replicate), *map(_json, entry))

    async def _make_data(self, stage: Stage, seed: int) -> tuple[Any, Any]:
        size = "small" if stage is Stage.SCREENING else "full"
        run_result = await self._evaluator("make", f"{seed}", size)
        reply = _read(run_result)
        if not isinstance(reply, dict) or reply.keys() != {"given", "held"}:
            raise EvaluatorError(f"`make` of evaluate.py fails: {_why(run_result)}")
        given_data = reply["given"]
        if stage is Stage.PERMUTED:
            run_result = await self._evaluator(
                "permute", f"{seed}", **{"given.json": _json(given_data)}
            )
            given_data = _read(run_result)
            if given_data is None:
                raise EvaluatorError(f"`permute` of evaluate.py fails: {_why(run_result)}")
        return given_data, reply["held"]

    def _seed(self, purpose: str, replicate: int) -> int:
        """Return a seed from 0 to 2³¹ - 1 that no input of a program reveals."""
        parts = (self.run_id, self.folder.content_sha256, purpose, f"{replicate}")
        return int(content_hash(*parts, length=8), 16) >> 1

    async def _run_and_score(self, source: str, data: ReplicateData) -> dict[str, Any]:
        """Run and score a program; return the entry for the store."""
        task = self.folder.task
        files = {"program.py": source.encode(), "given.json": data.given}
        run_result = await self._run_in_sandbox(["solve", f"{data.seed}"], files)
        measures: dict[str, float] = {}
        value: float | None = None
        reason = detail = ""
        if run_result.stopped is not None:
            reason, detail = (
                Reason.PROGRAM_STOPPED,
                _REASON_BY_STOP[run_result.stopped].format(task.limits),
            )
        elif run_result.code != 0:
            reason, detail = Reason.PROGRAM_FAILED, _why(run_result)
        elif run_result.left is None:
            reason = Reason.NO_ANSWER
            detail = f"its answer is empty or has more than {task.limits.answer_bytes:,} bytes"
        else:
            answer = {"held.json": data.held, "answer.json": run_result.left}
            evaluation = await self._evaluator("score", **{"given.json": data.given}, **answer)
            measures = _numbers(_read(evaluation))
            value = measures.pop(task.metric, None)
            if value is None:
                measures, reason = {}, Reason.NO_ANSWER
                why = f"`score` gives no {task.metric!r} within ±{_LARGEST:g}: {_why(evaluation)}"
                detail = one_line(why)
        return {
            "value": value,
            "measures": measures,
            "wall_seconds": run_result.wall_seconds,
            "memory_bytes": run_result.memory_bytes,
            "reason": f"{reason}",
            "unscored_detail": detail,
        }

    async def _evaluator(self, *arguments: str, **files: bytes) -> RunResult:
        data_files = {f"data/{name}": content for name, content in self.folder.data.items()}
        code = {"evaluate.py": self.folder.evaluate.encode()}
        return await self._run_in_sandbox([*arguments], {**data_files, **code, **files})

    async def _run_in_sandbox(self, arguments: list[str], files: Mapping[str, bytes]) -> RunResult:
        child = resources.files("tasks.experiments").joinpath("sandboxed_child.py").read_bytes()
        async with self.slots:
            return await asyncio.to_thread(
                run_sandboxed,
                ["/given/run.py", *arguments],
                {**files, "run.py": child},
                self.folder.task.limits,
                self.container,
            )


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _read(result: RunResult) -> Any:
    """Return the file left as JSON; None if there is none."""
    try:
        return json.loads(result.left) if result.left is not None and result.code == 0 else None
    except (ValueError, RecursionError):
        return None


def _numbers(scores: Any) -> dict[str, float]:
    if not isinstance(scores, dict):
        return {}
    return {
        name: float(value)
        for name, value in scores.items()
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= _LARGEST  # false for NaN
    }


def _why(result: RunResult) -> str:
    """Return the last line of the errors, where Python names the exception."""
    lines = result.errors.strip().splitlines()
    ending = f"it ended with code {result.code}" if result.stopped is None else "it was stopped"
    return one_line(lines[-1])[:300] if lines else ending
