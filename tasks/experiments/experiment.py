"""Experiment on one task: proposal, screening, selection and confirmation."""

import asyncio
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from schemas.base import replace
from schemas.reasons import Reason, may_pass
from schemas.works.experiment import (
    Container,
    Experiment,
    Fate,
    Finding,
    Program,
    Role,
    Stage,
    Task,
)
from tasks.experiments.executing import EvaluatorError, Executor
from tasks.experiments.proposing import Proposer
from tasks.experiments.record import Gain, Record, finding, gains, interval, mean_of
from tasks.experiments.sandbox import environment
from tasks.experiments.task_folder import PARENT, PROGRAM, TaskFolder

SIDE_BY_SIDE = 4
"""Candidates proposed at a time; with more of them, each knows less about the others."""

COMPARED_SHARE = 0.2
LEAST_COMPARED = 3


def compared_count(tried_count: int) -> int:
    return max(LEAST_COMPARED, math.ceil(COMPARED_SHARE * tried_count))


class ParentError(Exception):
    """The parent fails on data of a stage."""


async def run_experiment(folder: TaskFolder, executor: Executor, proposer: Proposer) -> Experiment:
    """Run the experiment; calls are added by the caller.

    Programs are screened on small data, the best ones compared on full data, and the best of these
    is confirmed on fresh data. The same folder, run id and proposals give the same candidates and
    executions.
    """
    work = _Work(Record(folder), executor, proposer)
    try:
        return await work.run_all()
    except (EvaluatorError, ParentError) as error:
        return work.unscored(f"{error}")


def failed_experiment(
    folder: TaskFolder, container: Container | None, reason: Reason, detail: str
) -> Experiment:
    return Experiment(
        **_of_task(folder, container),
        proposed_count=0,
        tried_count=0,
        failed_count=0,
        finding=None,
        unscored_reason=reason,
        unscored_detail=detail,
    )


@dataclass(slots=True)
class _Work:
    record: Record
    executor: Executor
    proposer: Proposer

    @property
    def task(self) -> Task:
        return self.record.task

    async def run_all(self) -> Experiment:
        trials, record = self.task.trials, self.record
        await self.run([PARENT], Stage.SCREENING, trials.screening)
        self.check_parent(Stage.SCREENING)
        await self.search()
        finalists = self.best_screened()
        selected_gains: dict[str, Gain] = {}
        if finalists:
            await self.run([PARENT, *finalists], Stage.SELECTION, trials.selection)
            self.check_parent(Stage.SELECTION)
            selected_gains = record.note_gains(
                finalists, Stage.SELECTION, Fate.COMPARED, len(record.tried())
            )
        elif self.ended_early:
            first = next(each for each in self.proposer.failures if may_pass(each.reason))
            return self.unscored(first.detail, first.reason)
        if not selected_gains:
            return self.conclude(None, None, None)
        best = max(selected_gains, key=lambda name: selected_gains[name].mean)
        baselines = [name for name in record.folder.programs if name != PARENT]
        await self.run([PARENT, *baselines, best], Stage.CONFIRMATION, trials.confirmation)
        self.check_parent(Stage.CONFIRMATION)
        record.note_gains(baselines, Stage.CONFIRMATION, None, 1)
        confirmed_gain = record.note_gains([best], Stage.CONFIRMATION, Fate.CONFIRMED, 1).get(best)
        if record.folder.can_permute:
            await self.run([best], Stage.PERMUTED, trials.selection)
        return self.conclude(best, selected_gains[best], confirmed_gain)

    async def search(self) -> None:
        record, proposed_count, maximum_count = self.record, 0, self.task.trials.candidates
        name_of_tree = {record.programs[PARENT].source_sha256: PARENT}
        while proposed_count < maximum_count:
            count = min(SIDE_BY_SIDE, maximum_count - proposed_count)
            names = [
                f"c{number:03d}" for number in range(proposed_count + 1, proposed_count + count + 1)
            ]
            proposals = await self.proposer.propose(names, record)
            proposed_count += count
            firsts = self.note(proposals, name_of_tree)
            fresh = [name for name, first in firsts.items() if name == first]
            await self.run(fresh, Stage.SCREENING, self.task.trials.screening)
            record.note_gains(fresh, Stage.SCREENING, Fate.SCREENED_OUT, 1)
            if not proposals or self.ended_early:
                break
            await self.proposer.learn(firsts, record, more=proposed_count < maximum_count)
            if self.ended_early:
                break
        if self.ended_early:
            # A resumed search confirms on data that this confirmation has not used.
            self.executor.occasion = f" after {len(record.candidates())}"

    @property
    def ended_early(self) -> bool:
        """Return whether a transient failure ended the search."""
        return any(may_pass(failure.reason) for failure in self.proposer.failures)

    def note(self, proposals: Iterable[Program], name_of_tree: dict[str, str]) -> dict[str, str]:
        """Store proposals; return the first program with the same syntax tree for each."""
        firsts: dict[str, str] = {}
        for program in proposals:
            name, fate = program.program_id, program.fate
            if fate is not Fate.REFUSED:
                firsts[name] = name_of_tree.setdefault(program.source_sha256, name)
                fate = Fate.SCREENED_OUT if firsts[name] == name else Fate.REPEATED
            self.record.programs[name] = replace(program, fate=fate)
        return firsts

    def best_screened(self) -> list[str]:
        """Return the candidates for full data, best first; at least one if any was scored."""
        candidates = [each for each in self.record.tried() if each.gain is not None]
        candidates.sort(key=lambda each: (-(each.gain or 0.0), each.program_id))
        better = [each for each in candidates if (each.gain or 0.0) > 0]
        best = better[: compared_count(len(self.record.tried()))] or candidates[:1]
        return [each.program_id for each in best]

    async def run(self, names: Iterable[str], stage: Stage, replicates: int) -> None:
        sources = {name: self.record.programs[name].source for name in names}
        executions = [(name, replicate) for replicate in range(replicates) for name in sources]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self.executor.execute(name, sources[name], stage, replicate))
                    for name, replicate in executions
                ]
        except* EvaluatorError as errors:
            raise errors.exceptions[0] from errors
        self.record.executions += [task.result() for task in tasks]

    def check_parent(self, stage: Stage) -> None:
        """Raise ParentError without a score of the parent: nothing could be better than it."""
        if self.record.values(PARENT, stage) is None:
            raise ParentError(f"{PROGRAM} fails: {self.record.failure(PARENT)}")

    def conclude(
        self, best: str | None, selection_gain: Gain | None, fresh_gain: Gain | None
    ) -> Experiment:
        parent = self.record.values(PARENT, Stage.CONFIRMATION)
        if parent is not None:
            figures = {"mean": mean_of(parent), "run_count": len(parent)}
            self.record.programs[PARENT] = replace(self.record.programs[PARENT], **figures)
        permuted_values = self.record.values(best, Stage.PERMUTED) if best is not None else None
        chance, beyond_chance = self.task.chance, None
        if permuted_values is not None and chance is not None:
            beyond_chance = interval(
                gains(permuted_values, [chance] * len(permuted_values), self.task.direction)
            )
        result, reason = Finding.UNDECIDED, "no candidate gave a score in all its runs"
        if selection_gain is not None and fresh_gain is not None:
            worth = self.task.least_difference
            result, reason = finding(selection_gain, fresh_gain, worth, beyond_chance)
        return Experiment(
            **self._counts(),
            best_program_id=best,
            selected_gain=selection_gain.mean if selection_gain else None,
            selected_low=selection_gain.low if selection_gain else None,
            selected_high=selection_gain.high if selection_gain else None,
            **self._baseline_figures(best),
            permuted_mean=mean_of(permuted_values),
            finding=result,
            because=reason,
        )

    def _baseline_figures(self, best: str | None) -> dict[str, Any]:
        candidate_values = (
            self.record.values(best, Stage.CONFIRMATION) if best is not None else None
        )
        baselines = [
            each
            for each in self.record.programs.values()
            if each.role is Role.BASELINE and each.gain is not None
        ]
        if candidate_values is None or not baselines:
            return {}
        strongest = max(baselines, key=lambda each: each.gain or 0.0).program_id
        baseline_values = self.record.values(strongest, Stage.CONFIRMATION)
        assert baseline_values is not None
        gain = interval(gains(candidate_values, baseline_values, self.task.direction))
        return {
            "baseline_id": strongest,
            "baseline_gain": gain.mean,
            "baseline_low": gain.low,
            "baseline_high": gain.high,
        }

    def unscored(self, detail: str, reason: Reason = Reason.PROGRAM_FAILED) -> Experiment:
        return Experiment(
            **self._counts(),
            finding=None,
            unscored_reason=reason,
            unscored_detail=detail,
        )

    def _counts(self) -> dict[str, Any]:
        candidates = self.record.tried()
        return {
            **_of_task(self.record.folder, self.executor.container),
            "proposed_count": len(self.record.candidates()),
            "tried_count": len(candidates),
            "failed_count": sum(each.fate is Fate.FAILED for each in candidates),
            "provenance": self.proposer.provenance,
            "programs": tuple(self.record.programs.values()),
            "executions": tuple(self.record.executions),
            "failures": tuple(self.proposer.failures),
        }


def _of_task(folder: TaskFolder, container: Container | None) -> dict[str, Any]:
    columns = {"question", "metric", "direction", "explanation", "least_difference"}
    idea = folder.idea
    return {
        "idea_id": idea.idea_id if idea is not None else None,
        "idea_text": idea.text if idea is not None else "",
        "idea_concerns": idea.concerns if idea is not None else (),
        "task_id": folder.name,
        "content_sha256": folder.content_sha256,
        "environment": environment(container),
        **folder.task.model_dump(include=columns),
    }
