"""The search without a model: other values of what a program declares as tunable, by Optuna's tree
of Parzen estimators, which also tells what to try next from what failed.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schemas.experiment import Direction
from tasks.experiments.program import Tunable, Value

if TYPE_CHECKING:
    import optuna

STARTING_TRIALS = 10


class TunableSearch:
    """Proposes values and is told what they gave; the same seed and answers, the same proposals."""

    def __init__(self, tunables: tuple[Tunable, ...], direction: Direction, seed: int) -> None:
        import optuna  # late: it takes half a second

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._tunables = tunables
        self._study = optuna.create_study(
            direction="maximize" if direction is Direction.MAXIMISE else "minimize",
            sampler=optuna.samplers.TPESampler(
                seed=seed % 2**32, n_startup_trials=STARTING_TRIALS, constant_liar=True
            ),
        )
        self._open: list[optuna.trial.Trial] = []

    def propose(self, count: int) -> list[dict[str, Value]]:
        """Values for each of `count` programs, which are tried side by side."""
        self._open = [self._study.ask() for _ in range(count)]
        return [self._values(trial) for trial in self._open]

    def tell(self, values: Sequence[float | None]) -> None:
        """The metric of what was proposed last, in its order; None: it gave none."""
        import optuna

        for trial, value in zip(self._open, values, strict=True):
            if value is None:
                self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                self._study.tell(trial, value)
        self._open = []

    def _values(self, trial: "optuna.trial.Trial") -> dict[str, Value]:
        return {each.name: _suggested(trial, each) for each in self._tunables}


def _suggested(trial: "optuna.trial.Trial", tunable: Tunable) -> Value:
    if tunable.choices:
        chosen: Any = trial.suggest_categorical(tunable.name, tunable.choices)
        return chosen  # type: ignore[no-any-return]
    if tunable.is_whole:
        low, high = int(tunable.low), int(tunable.high)
        return trial.suggest_int(tunable.name, low, high, log=tunable.is_log)
    return trial.suggest_float(tunable.name, tunable.low, tunable.high, log=tunable.is_log)
