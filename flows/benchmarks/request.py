"""What the user typed, resolved into a `BenchmarkRequest`."""

from pathlib import Path

from flows.benchmarks.ablations import profile_without
from flows.profiles import load_profile
from flows.request import (
    DEFAULT_PROFILE,
    DEFAULT_WAREHOUSE,
    check_api_base,
    check_warehouse,
    parse_modules,
    resolve_literature,
)
from schemas.benchmark import BenchmarkRequest
from schemas.choices import EXTRACTIVE, EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.run import Budget, Module
from schemas.settings import Settings

LITERATURE_FILE = "literature.parquet"
"""Papers that lie beside the data sets are the default literature of the benchmarks."""
BASELINES = ("prompt_only", "prompt_with_search")


def resolve_benchmark(
    suite: str,
    settings: Settings,
    *,
    data: Path | None = None,
    warehouse: Path = DEFAULT_WAREHOUSE,
    profile: str = DEFAULT_PROFILE,
    engine: EngineChoice = EXTRACTIVE,
    api_base: str | None = None,
    literature: LiteratureChoice | None = None,
    modules: str | None = None,
    run: str | None = None,
    limit: int | None = None,
    without: str = "",
    baselines: str = "",
    check_links: bool = False,
    full_text: bool | None = None,
    seed: int = 0,
    workers: int = 2,
    scheduler: str | None = None,
    max_cost_usd: float | None = None,
    max_cost_usd_per_idea: float | None = None,
    max_tokens: int | None = None,
    max_requests: int | None = None,
) -> BenchmarkRequest:
    """The one place where options become a request.

    Raises:
        ConfigurationError: an option that cannot be understood, in one line that says how to mend it.
    """
    folder = _data(data, settings)
    check_warehouse(warehouse)
    check_api_base(api_base, engine)
    papers = resolve_literature(literature or _beside(folder), settings)
    return BenchmarkRequest(
        suite=suite,
        data=folder,
        warehouse=warehouse.resolve(),
        profile=profile_without(load_profile(profile), without),
        engine=engine,
        api_base=api_base,
        literature=papers,
        modules=_modules(modules),
        evaluated_run=RunId(run) if run is not None else None,
        item_limit=limit,
        baselines=_baselines(baselines),
        seed=seed,
        workers=workers,
        scheduler_address=scheduler,
        budget=Budget(
            maximum_cost_usd=max_cost_usd,
            maximum_tokens=max_tokens,
            maximum_requests=max_requests,
            maximum_cost_usd_per_idea=max_cost_usd_per_idea,
        ),
        full_text=full_text if full_text is not None else papers.snapshot is None,
        check_links=check_links,
    )


def _modules(text: str | None) -> tuple[Module, ...] | None:
    if text is None:
        return None
    return () if text.strip() == "none" else parse_modules(text)


def _data(data: Path | None, settings: Settings) -> Path:
    folder = data if data is not None else settings.data
    if folder is None:
        raise ConfigurationError(
            "the suites read data sets: pass their folder with --data DIR, or set ASSAY_DATA"
        )
    if not folder.is_dir():
        raise ConfigurationError(
            f"--data {folder} is no folder; name the one that holds the data sets"
        )
    return folder.resolve()


def _beside(folder: Path) -> LiteratureChoice | None:
    path = folder / LITERATURE_FILE
    return LiteratureChoice(path) if path.exists() else None


def _baselines(text: str) -> tuple[str, ...]:
    names = tuple(
        dict.fromkeys(
            name.strip() for name in text.split(",") if name.strip() and name.strip() != "none"
        )
    )
    unknown = [name for name in names if name not in BASELINES]
    if unknown:
        raise ConfigurationError(
            f"--baselines {text!r}: {', '.join(unknown)}; choose from {', '.join(BASELINES)}, or none"
        )
    return names
