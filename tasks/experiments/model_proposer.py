"""Search by a model: changes of diverse good programs, guided by earlier attempts and lessons."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from schemas.base import replace
from schemas.failure import Failure
from schemas.identifiers import content_hash
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.reasons import may_pass
from schemas.works.experiment import Aim, Fate, Program, Role, Stage, Task
from tasks.experiments.executing import Executor, SyntaxRefusedError
from tasks.experiments.program import (
    PatchError,
    apply_changes,
    difference,
    regions_of,
    syntax_tree,
)
from tasks.experiments.record import Entry, Record, elites, least_used, mean_of
from tasks.experiments.steps import (
    LEARN_FROM_RUNS,
    PROPOSE_PROGRAM,
    Attempt,
    LessonsInput,
    ProposalInput,
    ProposalReply,
    ShownProgram,
)
from tasks.experiments.task_folder import PARENT, PROGRAM
from tasks.judging.reply_fields import by_key
from tasks.judging.step import Engine, unasked_provenance
from warehouse.scrubbing import one_line

MOST_TRIES = 40
MOST_LESSONS = 12
_SHOWN_RATIONALE_CHARACTERS = 240
_PATCH_CHARACTERS = 4_000
_SLOW_SHARE = 0.2
"""Share of the time limit from which the run time is shown."""


def _metric_text(task: Task, environment: str) -> str:
    limits = task.limits
    explanation = f" {one_line(task.explanation)}" if task.explanation else ""
    return (
        f"{task.metric}; {task.direction.better}, and a difference of {task.least_difference:g} or"
        f" more is worth having. A run may take {limits.seconds:g} s and"
        f" {limits.memory_bytes >> 20:,} MB."
        f" {environment}.{explanation}"
    )


def _outcome_text(record: Record, name: str) -> str:
    """Describe the screening of a program; other data are never shown."""
    program = record.programs[name]
    if program.fate is Fate.REFUSED:
        return f"could not be applied: {one_line(program.refusal)}"
    if program.fate is Fate.REPEATED:
        return "is a program that was there before, under another name"
    values = record.values(name, Stage.SCREENING)
    mean = mean_of(values)
    if values is None or mean is None:
        return f"failed when it was run: {one_line(record.failure(name))}"
    text = f"mean {record.task.metric} of {len(values)} small runs: {mean:.5g}"
    gain = program.gain or 0.0
    if name != PARENT and gain == 0:
        text += f", as that of {_display_name(PARENT)}"
    elif name != PARENT:
        word = "better" if gain > 0 else "worse"
        text += f", {abs(gain):.3g} {word} than that of {_display_name(PARENT)}"
    seconds = record.seconds(name, Stage.SCREENING)
    limit = record.task.limits.seconds
    if seconds > _SLOW_SHARE * limit:
        text += f"; a run takes {seconds:.0f} of the {limit:g} s it may, and full data are larger"
    return text


def _lessons(record: Record, name: str) -> tuple[str, ...]:
    """Return lessons of a program's ancestors, and of all programs derived from them."""
    line, ancestor_id = {name}, record.programs[name].parent_program_id
    while ancestor_id is not None:
        line.add(ancestor_id)
        ancestor_id = record.programs[ancestor_id].parent_program_id
    lines = [
        f"({each.program_id}) {each.lesson}"
        for each in record.candidates()
        if each.lesson and (each.program_id in line or each.parent_program_id in line)
    ]
    return tuple(lines[-MOST_LESSONS:])


def _is_weak(record: Record, program: Program) -> bool:
    """Return whether it failed or is no better than its parent."""
    if program.fate is Fate.REPEATED:
        return False
    parent = record.programs[program.parent_program_id or PARENT]
    return program.gain is None or program.gain <= (parent.gain or 0.0)


def _display_name(name: str) -> str:
    return "the program that was given" if name == PARENT else name


def _try_line(record: Record, program: Program) -> str:
    rationale = shorten(program.rationale, _SHOWN_RATIONALE_CHARACTERS, placeholder=" …")
    rationale = rationale or "no rationale"
    name, parent = program.program_id, _display_name(program.parent_program_id or PARENT)
    return f"{name}, from {parent}: {rationale} → {_outcome_text(record, name)}"


STAGE = "experiment"
AIMS = (Aim.OTHER_WAY, Aim.KNOWN_METHOD, Aim.REFINE, Aim.COMBINE)
"""Aims of consecutive proposals, in turn."""
_LESSON_CHARACTERS = 300
_RATIONALE_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class _Choice:
    name: str
    aim: Aim
    parent: str
    other: str | None = None


class ModelProposer:
    """Implements `Proposer` by a model.

    Args:
        environment: one line on the environment of the executions.
    """

    def __init__(self, engine: Engine, executor: Executor, environment: str) -> None:
        self.failures: list[Failure] = []
        self._engine, self._executor, self._environment = engine, executor, environment
        parent = executor.folder.programs[PARENT]
        self._lengths = {PARENT: len(syntax_tree(parent))}
        self._answered: list[Provenance] = []
        self._asked: tuple[str, ...] = ()

    @property
    def provenance(self) -> Provenance:
        """Provenance of the first successful proposal, with the calls of all."""
        if not self._answered:
            return unasked_provenance(PROPOSE_PROGRAM, self._engine)
        calls = dict.fromkeys(call for each in self._answered for call in each.call_ids)
        return replace(self._answered[0], call_ids=tuple(calls))

    async def propose(self, names: Sequence[str], record: Record) -> list[Program]:
        """See `Proposer.propose`. Transient failures are recorded and give no candidate."""
        choices = self._choices(names, record)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._propose_one(each, record)) for each in choices]
        programs = [program for task in tasks if (program := task.result()) is not None]
        self._asked = tuple(program.program_id for program in programs)
        return programs

    async def learn(self, firsts: Mapping[str, str], record: Record, *, more: bool) -> None:
        """See `Proposer.learn`. Failed and useless changes become lessons for later proposals."""
        del firsts
        programs = (record.programs[name] for name in self._asked)
        attempts = tuple(
            Attempt(
                key=each.program_id,
                rationale=each.rationale,
                patch=each.patch[:_PATCH_CHARACTERS],
                fared=_outcome_text(record, each.program_id),
            )
            for each in programs
            if _is_weak(record, each)
        )
        if not attempts or not more:
            return
        metric_text = _metric_text(record.task, self._environment)
        inputs = LessonsInput(
            question=record.task.question, measured=metric_text, attempts=attempts
        )
        answer = await self._engine.run(LEARN_FROM_RUNS, inputs)
        if isinstance(answer, Unscored):
            self._note_failure("lessons", answer)
            return
        self._answered.append(answer.provenance)
        lesson_of = by_key(answer.value.lessons, (each.key for each in attempts))
        for name, each in lesson_of.items():
            lesson = _line(each.lesson, _LESSON_CHARACTERS)
            record.programs[name] = replace(record.programs[name], lesson=lesson)

    def _choices(self, names: Sequence[str], record: Record) -> list[_Choice]:
        """Choose aims in turn, parents by score, and for another way by difference."""
        scored_names = [each.program_id for each in record.tried() if each.gain is not None]
        entries = [
            Entry(
                name,
                record.programs[name].gain or 0.0,
                self._lengths[name],
                record.seconds(name, Stage.SCREENING),
            )
            for name in (PARENT, *scored_names)
        ]
        candidates = elites(entries, self._lengths[PARENT])
        best, other_candidates = candidates[0], candidates[1:]
        other_ways = (each for each in record.candidates() if each.aim is Aim.OTHER_WAY)
        uses = Counter(each.parent_program_id or PARENT for each in other_ways)
        shown_with_best: Counter[str] = Counter()
        choices = []
        for name in names:
            aim = AIMS[(_number(name) - 1) % len(AIMS)]
            if aim is Aim.COMBINE and other_candidates:
                other = least_used(other_candidates, shown_with_best).name
                shown_with_best[other] += 1
                choices.append(_Choice(name, aim, best.name, other))
            elif aim in (Aim.OTHER_WAY, Aim.COMBINE):
                parent = least_used(other_candidates or candidates, uses).name
                uses[parent] += 1
                choices.append(_Choice(name, Aim.OTHER_WAY, parent))
            else:
                choices.append(_Choice(name, aim, best.name))
        return choices

    async def _propose_one(self, choice: _Choice, record: Record) -> Program | None:
        inputs = self._inputs(choice, record)
        answer: Outcome[ProposalReply] = await self._engine.run(PROPOSE_PROGRAM, inputs)
        fields: dict[str, Any] = {
            "program_id": choice.name,
            "role": Role.CANDIDATE,
            "parent_program_id": choice.parent,
            "proposed_by": self._engine.name,
            "aim": choice.aim,
        }
        if isinstance(answer, Scored):
            self._answered.append(answer.provenance)
            fields["rationale"] = _line(answer.value.rationale, _RATIONALE_CHARACTERS)
            key = (answer.value.borrowed_from or "").strip().strip("[]")
            fields["borrowed_from"] = key if key in {work.key for work in inputs.works} else None
            return await self._program(answer.value, record.programs[choice.parent].source, fields)
        if may_pass(answer.reason):
            self._note_failure(choice.name, answer)
            return None
        return _refuse(fields, f"{answer.reason.sentence}: {answer.detail}")

    def _inputs(self, choice: _Choice, record: Record) -> ProposalInput:
        task, idea = record.task, record.folder.idea

        def shown(name: str) -> ShownProgram:
            source, outcome = record.programs[name].source, _outcome_text(record, name)
            return ShownProgram(name=_display_name(name), fared=outcome, source=source)

        return ProposalInput(
            question=task.question,
            measured=_metric_text(task, self._environment),
            idea=idea.text if idea is not None else "",
            concerns=idea.concerns if idea is not None else (),
            works=idea.works if idea is not None else (),
            aim=choice.aim,
            number=_number(choice.name),
            program=shown(choice.parent),
            regions=regions_of(record.programs[choice.parent].source, PROGRAM),
            other=shown(choice.other) if choice.other is not None else None,
            tries=tuple(_try_line(record, each) for each in record.candidates()[-MOST_TRIES:]),
            lessons=_lessons(record, choice.parent),
        )

    async def _program(self, reply: ProposalReply, parent: str, fields: dict[str, Any]) -> Program:
        try:
            source = apply_changes(parent, reply.changes)
            tree = await self._executor.syntax_tree(source)
        except (PatchError, SyntaxRefusedError) as error:
            return _refuse(fields, f"{error}")
        name = fields["program_id"]
        self._lengths[name] = len(tree)
        patch = difference(parent, source, name)
        sha256 = content_hash(tree, length=64)
        return Program(**fields, source=source, patch=patch, source_sha256=sha256)

    def _note_failure(self, subject: str, answer: Unscored) -> None:
        self.failures.append(
            Failure(stage=STAGE, subject=subject, reason=answer.reason, detail=answer.detail)
        )


def _refuse(fields: dict[str, Any], reason: str) -> Program:
    return Program(
        **fields, fate=Fate.REFUSED, source="", source_sha256="", refusal=one_line(reason)
    )


def _number(name: str) -> int:
    return int(name[1:])


def _line(text: str, length: int) -> str:
    """Return a model's text as one line of bounded length in valid UTF-8."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if len(line) <= length else line[: length - 1] + "…"
