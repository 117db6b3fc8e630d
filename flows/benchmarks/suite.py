"""Suite: one benchmark of the literature.

What a suite is given is a `Trial`; what it gives is its scores.

To add a suite, write a module of this folder with a function `run(trial) ->
Sequence[BenchmarkScore]`, and name it in `registry.SUITES`; what it asks is counted for `--dry-run`
in `expected.py`. Published figures stand in `published/<suite>.toml` and are shown beside the
scores by themselves.

    def run(trial: Trial) -> Sequence[BenchmarkScore]:
        rows = trial.draw(read_rows(trial.file("rinobench/gold.jsonl"))) # all, or --limit drawn by
        the seed
        outcomes = trial.ask(NOVELTY_JUDGEMENT, {row.id: question_of(row) for row in rows})
        trial.record(answer_item(row.id, ASSAY, outcomes[row.id], …) for row in rows) # every answer
        lands
        return [benchmark_score(macro_f1(labelled, seed=trial.seed), "novelty", "macro_f1", ASSAY)]

`trial.ask` puts one question of one step per item; `trial.each` runs any coroutine per item that
needs more than one call; `trial.evaluate` sends ideas through the main job. All three resume after
a kill, and ask nothing twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from schemas.benchmark import BenchmarkRequest, BenchmarkScore
from schemas.run import Module
from tasks.judging.step import Step

if TYPE_CHECKING:
    from flows.benchmarks.trial import Trial


@dataclass(frozen=True, slots=True)
class Suite:
    """One benchmark.

    Attributes:
        name: as on the command line; that of its file of published figures too.
        question: what its scores answer, one line.
        files: the data it reads, below `--data`; their content is part of the benchmark's name.
        run: asks and scores. Data that do not fit are a ConfigurationError; answers that could not
            be had are counted as unscored.
        steps: asked by the suite itself; their prompts are part of the benchmark's name.
        modules: of the main job, where ideas go through it.
        optional: patterns of files that it reads where they are there; those count in the name too.
        conditions: what else of a request could change the scores, such as the content of a file
            that the profile names.
        labels_public_since: when the first of the right answers could be read by anyone, and so
            enter the training data of a model; None: not known.
    """

    name: str
    question: str
    files: tuple[str, ...]
    run: "Callable[[Trial], Sequence[BenchmarkScore]]"
    steps: tuple[Step[Any, Any], ...] = ()
    modules: tuple[Module, ...] = ()
    optional: tuple[str, ...] = ()
    conditions: Callable[[BenchmarkRequest], tuple[str, ...]] = lambda _: ()
    labels_public_since: date | None = None
