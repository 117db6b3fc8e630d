"""An experiment on one task: programs are proposed, screened on small data, the best of them
compared on full data, and the best of those confirmed on data that chose nothing.
"""

import asyncio
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from schemas.base import replace
from schemas.choices import EXTRACTIVE
from schemas.experiment import Execution, Experiment, Fate, Finding, Program, Role, Stage, Task
from schemas.identifiers import content_hash
from schemas.outcome import Provenance
from schemas.reasons import Reason
from tasks.experiments.executing import EvaluatorError, Executor
from tasks.experiments.gains import Gain, finding, gains, interval
from tasks.experiments.program import Tunable, Value, tree_hash, tunables_of, with_settings
from tasks.experiments.searching import TunableSearch
from tasks.experiments.task_folder import PARENT, PROGRAM, TaskFolder

METHOD_VERSION = 1
"""Raised when other programs are proposed, or other things said of the same figures."""

SIDE_BY_SIDE = 4
"""Candidates proposed at a time: more of them know less of each other."""

COMPARED_SHARE = 0.2
LEAST_COMPARED = 3
_LIBRARIES = ("numpy", "scipy", "scikit-learn")


def compared_count(tried_count: int) -> int:
    """How many of the candidates that were screened come to full data at most."""
    return max(LEAST_COMPARED, math.ceil(COMPARED_SHARE * tried_count))


def environment() -> str:
    """Interpreter, system and libraries of the executions, in a line."""
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return f"Python {platform.python_version()} on {platform.system()} {platform.machine()}; {libraries}"


class ParentError(Exception):
    """The parent fails on data of a stage."""


async def run_experiment(folder: TaskFolder, executor: Executor, seed: int) -> Experiment:
    """Try other values of what the parent declares as tunable; what came of it.

    The same folder, executor's run and seed give the same candidates and the same executions.
    """
    work = _Work(folder, executor, seed)
    try:
        return await work.done()
    except (EvaluatorError, ParentError) as error:
        return work.unscored(f"{error}")


def unmeasured(folder: TaskFolder, reason: Reason, detail: str) -> Experiment:
    """An experiment without a figure."""
    return Experiment(
        **_of_task(folder),
        proposed_count=0,
        tried_count=0,
        failed_count=0,
        finding=None,
        unscored_reason=reason,
        unscored_detail=detail,
    )


@dataclass(slots=True)
class _Work:
    """The experiment under way: every program and execution so far."""

    folder: TaskFolder
    executor: Executor
    seed: int
    programs: dict[str, Program] = field(default_factory=dict)
    executions: list[Execution] = field(default_factory=list)

    @property
    def task(self) -> Task:
        return self.folder.task

    async def done(self) -> Experiment:
        trials = self.task.trials
        for name, source in self.folder.programs.items():
            role = Role.PARENT if name == PARENT else Role.BASELINE
            self.programs[name] = _program(name, role, source)
        await self.run([PARENT], Stage.SCREENING, trials.screening)
        self.check_parent(Stage.SCREENING)
        await self.search()
        chosen = self.best_screened()
        if not chosen:
            return self.concluded(None, None, None)
        await self.run([PARENT, *chosen], Stage.SELECTION, trials.selection)
        self.check_parent(Stage.SELECTION)
        selected = self.judged(chosen, Stage.SELECTION, Fate.COMPARED, len(self.tried()))
        if not selected:
            return self.concluded(None, None, None)
        best = max(selected, key=lambda name: selected[name].mean)
        baselines = [name for name in self.folder.programs if name != PARENT]
        await self.run([PARENT, *baselines, best], Stage.CONFIRMATION, trials.confirmation)
        self.check_parent(Stage.CONFIRMATION)
        self.judged(baselines, Stage.CONFIRMATION, None, 1)
        confirmed = self.judged([best], Stage.CONFIRMATION, Fate.CONFIRMED, 1).get(best)
        if self.folder.can_permute:
            await self.run([best], Stage.PERMUTED, trials.selection)
        return self.concluded(best, selected[best], confirmed)

    async def search(self) -> None:
        """Propose and screen candidates, a few side by side."""
        parent = self.folder.programs[PARENT]
        tunables = tunables_of(parent, PROGRAM)
        search = TunableSearch(tunables, self.task.direction, self.seed)
        known = {self.programs[PARENT].source_sha256: PARENT}
        while tunables and (done := len(self.candidates())) < self.task.trials.candidates:
            count = min(SIDE_BY_SIDE, self.task.trials.candidates - done)
            names, fresh = [], []
            for number, values in enumerate(search.propose(count), start=done + 1):
                program = _candidate(f"c{number:03d}", parent, tunables, values)
                first = known.setdefault(program.source_sha256, program.program_id)
                is_new = first == program.program_id
                self.programs[program.program_id] = replace(
                    program, fate=Fate.SCREENED_OUT if is_new else Fate.REPEATED
                )
                names.append(first)
                fresh += [first] if is_new else []
            await self.run(fresh, Stage.SCREENING, self.task.trials.screening)
            self.judged(fresh, Stage.SCREENING, Fate.SCREENED_OUT, 1)
            search.tell([_mean(self.values(name, Stage.SCREENING)) for name in names])

    def candidates(self) -> list[Program]:
        return [each for each in self.programs.values() if each.role is Role.CANDIDATE]

    def tried(self) -> list[Program]:
        return [each for each in self.candidates() if each.fate is not Fate.REPEATED]

    def best_screened(self) -> list[str]:
        """Names of those that come to full data, the best first: at least one, if any was scored."""
        scored = [each for each in self.tried() if each.gain is not None]
        scored.sort(key=lambda each: (-(each.gain or 0.0), each.program_id))
        better = [each for each in scored if (each.gain or 0.0) > 0]
        kept = better[: compared_count(len(self.tried()))] or scored[:1]
        return [each.program_id for each in kept]

    async def run(self, names: Iterable[str], stage: Stage, replicates: int) -> None:
        """Execute the programs on every replicate of a stage."""
        wanted = [(name, replicate) for replicate in range(replicates) for name in names]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(
                        self.executor.execute(name, self.programs[name].source, stage, replicate)
                    )
                    for name, replicate in wanted
                ]
        except* EvaluatorError as errors:
            raise _first(errors) from errors
        self.executions += [task.result() for task in tasks]

    def values(self, name: str, stage: Stage) -> list[float] | None:
        """The metric on every replicate; None: some execution gave none, or there was none."""
        values = [
            each.value for each in self.executions if (each.program_id, each.stage) == (name, stage)
        ]
        return (
            [each for each in values if each is not None] if values and None not in values else None
        )

    def judged(
        self, names: Sequence[str], stage: Stage, fate: Fate | None, compared_with: int
    ) -> dict[str, Gain]:
        """Note how each fared beside the parent, and give the gains of those that were scored."""
        theirs, found = self.values(PARENT, stage), {}
        for name in names:
            ours = self.values(name, stage)
            if ours is None or theirs is None:
                failed = Fate.FAILED if fate is not None else None
                self.programs[name] = replace(
                    self.programs[name], fate=failed, **dict.fromkeys(_FIGURES), run_count=0
                )
                continue
            pairs = gains(ours, theirs, self.task.direction)
            changes = {"fate": fate, "mean": _mean(ours), "run_count": len(ours)}
            if stage is Stage.SCREENING:
                changes["gain"] = _mean(pairs)
            else:
                gain = found[name] = interval(pairs, compared_with)
                changes |= {"gain": gain.mean, "gain_low": gain.low, "gain_high": gain.high}
                changes["compared_with"] = compared_with
            self.programs[name] = replace(self.programs[name], **changes)
        return found

    def check_parent(self, stage: Stage) -> None:
        """Raises ParentError when it gave no score: there is nothing to be better than."""
        if self.values(PARENT, stage) is None:
            lost = (each for each in self.executions if each.value is None)
            said = next(each.unscored_detail for each in lost if each.program_id == PARENT)
            raise ParentError(f"{PROGRAM} fails: {said}")

    def concluded(
        self, best: str | None, selected: Gain | None, confirmed: Gain | None
    ) -> Experiment:
        parent = self.values(PARENT, Stage.CONFIRMATION)
        if parent is not None:
            figures = {"mean": _mean(parent), "run_count": len(parent)}
            self.programs[PARENT] = replace(self.programs[PARENT], **figures)
        permuted = self.values(best, Stage.PERMUTED) if best is not None else None
        if selected is None or confirmed is None:
            found, because = Finding.UNDECIDED, "no candidate gave a score in all its runs"
        else:
            found, because = finding(
                selected, confirmed, self.task.least_difference, self._beyond_chance(permuted)
            )
        return Experiment(
            **self._counts(),
            best_program_id=best,
            selected_gain=selected.mean if selected else None,
            selected_low=selected.low if selected else None,
            selected_high=selected.high if selected else None,
            **self._beside_baselines(best),
            permuted_mean=_mean(permuted),
            finding=found,
            because=because,
        )

    def _beside_baselines(self, best: str | None) -> dict[str, Any]:
        """How far the best candidate is beyond the best baseline on fresh data."""
        ours = self.values(best, Stage.CONFIRMATION) if best is not None else None
        known = [
            each
            for each in self.programs.values()
            if each.role is Role.BASELINE and each.gain is not None
        ]
        if ours is None or not known:
            return {}
        strongest = max(known, key=lambda each: each.gain or 0.0).program_id
        theirs = self.values(strongest, Stage.CONFIRMATION)
        assert theirs is not None
        gain = interval(gains(ours, theirs, self.task.direction))
        return {
            "baseline_id": strongest,
            "baseline_gain": gain.mean,
            "baseline_low": gain.low,
            "baseline_high": gain.high,
        }

    def _beyond_chance(self, permuted: list[float] | None) -> Gain | None:
        chance = self.task.chance
        if permuted is None or chance is None:
            return None
        return interval(gains(permuted, [chance] * len(permuted), self.task.direction))

    def unscored(self, detail: str) -> Experiment:
        return Experiment(
            **self._counts(),
            finding=None,
            unscored_reason=Reason.PROGRAM_FAILED,
            unscored_detail=detail,
        )

    def _counts(self) -> dict[str, Any]:
        tried = self.tried()
        return {
            **_of_task(self.folder),
            "proposed_count": len(self.candidates()),
            "tried_count": len(tried),
            "failed_count": sum(each.fate is Fate.FAILED for each in tried),
            "provenance": _searched(self.seed),
            "programs": tuple(self.programs.values()),
            "executions": tuple(self.executions),
        }


_FIGURES = ("mean", "gain", "gain_low", "gain_high")


def _program(name: str, role: Role, source: str) -> Program:
    return Program(program_id=name, role=role, source=source, source_sha256=tree_hash(source))


def _candidate(
    name: str, parent: str, tunables: tuple[Tunable, ...], values: Mapping[str, Value]
) -> Program:
    source = with_settings(parent, tunables, values)
    settings = {each: repr(value) for each, value in values.items()}
    program = _program(name, Role.CANDIDATE, source)
    return replace(program, parent_program_id=PARENT, settings=settings)


def _of_task(folder: TaskFolder) -> dict[str, Any]:
    task = folder.task
    return {
        "task_id": folder.name,
        "content_sha256": folder.content_sha256,
        "environment": environment(),
        "question": task.question,
        "metric": task.metric,
        "direction": task.direction,
        "least_difference": task.least_difference,
    }


def _searched(seed: int) -> Provenance:
    """A search asks no model: there is no prompt, and a version stands for the method."""
    return Provenance(
        step="search_programs",
        step_version=METHOD_VERSION,
        prompt_sha256=content_hash(""),
        engine=EXTRACTIVE.text,
        model_requested=EXTRACTIVE.text,
        model_answered=EXTRACTIVE.text,
        seed=seed,
        created_at=datetime.now(UTC),
    )


def _mean(values: Sequence[float] | None) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _first(errors: BaseExceptionGroup[EvaluatorError]) -> EvaluatorError:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
