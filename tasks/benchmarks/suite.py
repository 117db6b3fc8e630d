"""Suite: one benchmark of the literature.

A suite receives a `Trial` and returns its scores.

To add one, write a module in `suites/` with a function `run(trial) -> Sequence[BenchmarkScore]`,
and name it in `registry.SUITES`; `expected.py` counts what it asks for `--dry-run`. Published
figures are read from `published/<suite>.toml` and shown next to the scores.

    def run(trial: Trial) -> Sequence[BenchmarkScore]:
        rows = trial.draw(read_rows(trial.file("gold.jsonl")))  # all, or --limit drawn by the seed
        outcomes = trial.ask(NOVELTY_JUDGEMENT, {row.id: question_of(row) for row in rows})
        trial.record(answer_item(row.id, outcomes[row.id]) for row in rows)  # every answer lands
        return [benchmark_score(macro_f1(labelled, seed=trial.seed), "novelty", "macro_f1", ASSAY)]

`trial.ask` asks one question of one step per item; `trial.each` runs any coroutine per item that
needs more than one call. Both resume after a kill, and ask nothing twice. The `ideas` of a suite
go through the main job first, and `trial.evaluated_run` names the run.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import content_hash
from schemas.judgement.benchmark import (
    BenchmarkParameters,
    BenchmarkRequest,
    BenchmarkScore,
    SubmissionText,
)
from schemas.profile import Profile
from schemas.run import Module
from tasks.benchmarks.full_papers import papers_sha256
from tasks.calibration.applying import load_prior
from tasks.judging.identity import prompts_of
from tasks.judging.step import Step

if TYPE_CHECKING:
    from tasks.benchmarks.trial import SuiteData, Trial

LITERATURE_FILE = "literature.parquet"
"""Papers in the folder of the data sets are the default literature of the benchmarks."""


Conditions = Callable[[Profile, BenchmarkParameters, Path | None], tuple[str, ...]]


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
        ideas: that go through the main job first, where there are modules for them.
        modules: of the main job, unless the request names others.
        searches: whether the suite itself searches the literature of the request.
        optional: patterns of files that it reads where they are there; those count in the name too.
        conditions: what else could change the scores, such as the content of a file that the
            profile names; by profile, parameters and folder of the data.
        labels_public_since: when the first of the right answers could be read by anyone, and so
            enter the training data of a model; None: not known.
    """

    name: str
    question: str
    files: tuple[str, ...]
    run: "Callable[[Trial], Sequence[BenchmarkScore]]"
    steps: tuple[Step[Any, Any], ...] = ()
    ideas: "Callable[[SuiteData], Sequence[Idea]] | None" = None
    modules: tuple[Module, ...] = ()
    searches: Callable[[BenchmarkRequest], bool] = lambda _: False
    optional: tuple[str, ...] = ()
    conditions: Conditions = lambda *_: ()
    labels_public_since: date | None = None

    @property
    def reads_data(self) -> bool:
        """Whether it reads any data set."""
        return bool(self.files or self.optional)

    def modules_of(self, parameters: BenchmarkParameters) -> tuple[Module, ...]:
        """Return the modules of the main job that were named, else the usual ones."""
        return self.modules if parameters.modules is None else parameters.modules

    def evaluates(self, parameters: BenchmarkParameters) -> bool:
        """Whether its ideas go through the main job first."""
        # A suite with usual modules judges evaluations: even those by none are one.
        judges = bool(self.modules or parameters.modules)
        return self.ideas is not None and judges and parameters.evaluated_run is None


def sample_file(name: str) -> Path:
    """Return the path of a file of the bundled sample: `ideas.jsonl` or `papers.jsonl`."""
    return Path(str(resources.files("flows.demo").joinpath(name)))


def submission_conditions(
    profile: Profile, parameters: BenchmarkParameters, data: Path | None
) -> tuple[str, ...]:
    """Return the papers, where ideas are made from them, and the profile's prior."""
    path = profile.ranking.prior
    prior = (f"prior {load_prior(path).sha256}",) if path is not None else ()
    if data is None or parameters.text is SubmissionText.ABSTRACT:
        return prior
    return (*prior, f"papers {papers_sha256(data)}")


_CHUNK_BYTES = 1 << 20


def data_sha256(suite: Suite, data: Path | None) -> str:
    """Return a hash over the suite's data files, the optional ones among them that are there.

    Raises:
        ConfigurationError: a file is missing; the line says which, and what to pass.
    """
    if data is None:
        return content_hash()
    missing = [name for name in suite.files if not (data / name).is_file()]
    if missing:
        raise ConfigurationError(
            f"suite {suite.name} reads {', '.join(missing)}, not found in {data}: pass the folder"
            " with --data DIR"
        )
    there = sorted(
        str(path.relative_to(data))
        for pattern in suite.optional
        for path in data.glob(pattern)
        if path.is_file()
    )
    return content_hash(*(f"{name} {_file_sha256(data / name)}" for name in (*suite.files, *there)))


def _file_sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def prompts_sha256(suite: Suite, modules: Iterable[Module]) -> str:
    """Return a hash over the prompts of every step asked by the suite and by `modules`."""
    steps = [*suite.steps]
    for module in modules:
        steps += resolve_name(f"tasks.{module}.steps:STEPS")
    return content_hash(*sorted(prompts_of(steps)))
