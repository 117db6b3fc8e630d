"""Names of benchmarks: a hash over all that could change their scores, so that the same command
finds what it began.
"""

import hashlib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from flows.benchmarks.suite import Suite
from schemas.benchmark import BenchmarkRequest
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId, content_hash
from schemas.settings import Settings
from tasks.evaluation.modules import MODULES
from tasks.judging.step import Step
from tasks.steps import STEPS
from warehouse.scrubbing import without_secrets

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
    return content_hash(
        *sorted(
            f"{step.name}:{step.version}:{step.prompt_sha256}" for step in _steps(suite, request)
        )
    )


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
        request.engine.text,
        without_secrets(request.api_base) if request.api_base else "",
        request.profile.model_dump_json(),
        request.literature.text,
        str(request.modules),
        str(request.evaluated_run),
        str(request.item_limit),
        str(request.seed),
        ",".join(request.baselines),
        str((request.full_text, request.check_links, request.training_until)),
        f"{settings.embeddings.model} {settings.embeddings.maximum_tokens}",
        metadata.version("assay"),
        *suite.conditions(request),
        length=10,
    )
    return RunId(f"benchmark-{suite.name.replace('_', '-')}-{name}")
