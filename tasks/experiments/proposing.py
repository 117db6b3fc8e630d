"""Proposers of programs: their interface, and a search over tunable values without a model."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from schemas.choices import EXTRACTIVE
from schemas.failure import Failure
from schemas.identifiers import content_hash
from schemas.outcome import Provenance
from schemas.works.experiment import Direction, Program, Role, Stage
from tasks.experiments.program import (
    Tunable,
    Value,
    difference,
    tree_hash,
    tunables_of,
    with_settings,
)
from tasks.experiments.record import Record, mean_of
from tasks.experiments.task_folder import PARENT, PROGRAM, TaskFolder

if TYPE_CHECKING:
    import optuna

STARTING_TRIALS = 10
METHOD_VERSION = 1
"""Increased if other programs are proposed, or the same figures are reported differently."""


class Proposer(Protocol):
    """Proposes candidates in rounds, and learns from their results.

    Attributes:
        failures: failed proposals. A transient one ends the search, because later proposals would
            depend on it.
    """

    failures: list[Failure]

    @property
    def provenance(self) -> Provenance:
        """Provenance of the proposals so far."""
        ...

    async def propose(self, names: Sequence[str], record: Record) -> list[Program]:
        """Propose candidates with some of these names; an empty list ends the search.

        Their fate is REFUSED, or not decided yet.
        """
        ...

    async def learn(self, firsts: Mapping[str, str], record: Record, *, more: bool) -> None:
        """Learn from the results of the last proposal.

        Args:
            firsts: for each candidate that was not refused the first one with the same syntax tree,
                usually itself.
            more: whether more proposals follow.
        """
        ...


class TunableProposer:
    """Implements `Proposer` by other values of the parent's tunables.

    Deterministic in the seed and the reported results.
    """

    def __init__(self, folder: TaskFolder, seed: int) -> None:
        import optuna  # late: it takes half a second

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.failures: list[Failure] = []
        self._parent, self._seed = folder.programs[PARENT], seed
        self._tunables = tunables_of(self._parent, PROGRAM)
        is_more_better = folder.task.direction is Direction.MAXIMISE
        # Tree-structured Parzen estimators, which also learn from failures.
        sampler = optuna.samplers.TPESampler(
            seed=seed % 2**32, n_startup_trials=STARTING_TRIALS, constant_liar=True
        )
        self._study = optuna.create_study(
            direction="maximize" if is_more_better else "minimize", sampler=sampler
        )
        self._open: list[optuna.trial.Trial] = []

    @property
    def provenance(self) -> Provenance:
        """Provenance without a model: no prompt, and a version of the method."""
        return Provenance(
            step="search_programs",
            step_version=METHOD_VERSION,
            prompt_sha256=content_hash(""),
            engine=EXTRACTIVE.text,
            model_requested=EXTRACTIVE.text,
            model_answered=EXTRACTIVE.text,
            seed=self._seed,
            created_at=datetime.now(UTC),
        )

    async def propose(self, names: Sequence[str], record: Record) -> list[Program]:
        del record
        if not self._tunables:
            return []
        self._open = [self._study.ask() for _ in names]
        return [
            self._candidate(name, {each.name: _suggest(trial, each) for each in self._tunables})
            for name, trial in zip(names, self._open, strict=True)
        ]

    async def learn(self, firsts: Mapping[str, str], record: Record, *, more: bool) -> None:
        import optuna

        del more
        for trial, first in zip(self._open, firsts.values(), strict=True):
            mean = mean_of(record.values(first, Stage.SCREENING))
            if mean is None:
                self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                self._study.tell(trial, mean)
        self._open = []

    def _candidate(self, name: str, values: Mapping[str, Value]) -> Program:
        source = with_settings(self._parent, self._tunables, values)
        return Program(
            program_id=name,
            role=Role.CANDIDATE,
            parent_program_id=PARENT,
            proposed_by=EXTRACTIVE.text,
            settings={each: repr(value) for each, value in values.items()},
            source=source,
            patch=difference(self._parent, source, name),
            source_sha256=tree_hash(source),
        )


def _suggest(trial: "optuna.trial.Trial", tunable: Tunable) -> Value:
    if tunable.choices:
        choice: Any = trial.suggest_categorical(tunable.name, tunable.choices)
        return choice  # type: ignore[no-any-return]
    if tunable.is_whole:
        low, high = int(tunable.low), int(tunable.high)
        return trial.suggest_int(tunable.name, low, high, log=tunable.is_log)
    return trial.suggest_float(tunable.name, tunable.low, tunable.high, log=tunable.is_log)
