"""Suite: one benchmark of the literature.

What a suite is given is a `Trial`; what it gives is its scores.

To add a suite, write a module of this folder with a function `run(trial) ->
Sequence[BenchmarkScore]`, and name it in `registry.SUITES`; what it asks is counted for `--dry-run`
in `expected.py`. Published figures stand in `published/<suite>.toml` and are shown beside the
scores by themselves.

    def run(trial: Trial) -> Sequence[BenchmarkScore]:
        rows = trial.draw(read_rows(trial.file("gold.jsonl")))  # all, or --limit drawn by the seed
        outcomes = trial.ask(NOVELTY_JUDGEMENT, {row.id: question_of(row) for row in rows})
        trial.record(answer_item(row.id, outcomes[row.id]) for row in rows)  # every answer lands
        return [benchmark_score(macro_f1(labelled, seed=trial.seed), "novelty", "macro_f1", ASSAY)]

`trial.ask` puts one question of one step per item; `trial.each` runs any coroutine per item that
needs more than one call; `trial.evaluate` sends ideas through the main job. All three resume after
a kill, and ask nothing twice.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.errors import ConfigurationError
from schemas.identifiers import RunId, content_hash
from schemas.judgement.benchmark import BenchmarkRequest, BenchmarkScore, SubmissionText
from schemas.run import Module
from schemas.settings import Settings
from tasks.benchmarks.full_papers import papers_sha256
from tasks.calibration.applying import load_prior
from tasks.evaluation.modules import MODULES
from tasks.judging.identity import embedding_identity, model_identity, prompts_of
from tasks.judging.step import Step
from tasks.steps import STEPS

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


def submission_conditions(request: BenchmarkRequest) -> tuple[str, ...]:
    """The papers, where ideas are made from them, and the prior, where the profile names one."""
    path, from_papers = request.profile.ranking.prior, request.text is not SubmissionText.ABSTRACT
    prior = (f"prior {load_prior(path).sha256}",) if path is not None else ()
    return (*prior, *((f"papers {papers_sha256(request.data)}",) if from_papers else ()))


_CHUNK_BYTES = 1 << 20


def data_sha256(suite: Suite, data: Path) -> str:
    """Hash over the suite's data files, the optional ones among them that are there.

    Raises:
        ConfigurationError: a file is missing; the line says which, and what to pass.
    """
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


def prompts_sha256(suite: Suite, request: BenchmarkRequest) -> str:
    """Hash over the prompts and versions of every step the suite asks, itself or through the main
    job.
    """
    return content_hash(*sorted(prompts_of(_steps(suite, request))))


def _steps(suite: Suite, request: BenchmarkRequest) -> Iterable[Step[Any, Any]]:
    yield from suite.steps
    modules = suite.modules if request.modules is None else request.modules
    yield from (
        step for step in STEPS if any(MODULES[module].holds(step.package) for module in modules)
    )


def benchmark_id(suite: Suite, request: BenchmarkRequest, settings: Settings, data: str) -> RunId:
    """Over suite, data, engine, profile, prompts, literature, limit and seed; not over workers,
    bounds or addresses' secrets.
    """
    name = content_hash(
        suite.name,
        data,
        prompts_sha256(suite, request),
        *model_identity(request.engine, settings, request.api_base),
        request.profile.model_dump_json(),
        request.literature.text,
        str(request.modules),
        str(request.evaluated_run),
        str(request.item_limit),
        str(request.seed),
        ",".join(request.baselines),
        str((request.full_text, request.check_links, request.training_until, request.text)),
        request.judge,
        embedding_identity(settings),
        metadata.version("assay"),
        *suite.conditions(request),
        length=10,
    )
    return RunId(f"benchmark-{suite.name.replace('_', '-')}-{name}")
