"""The options of `assay benchmark`, resolved into a `BenchmarkRequest`; ScholarEval's ablations as
profile switches (§4.2 and F.3).
"""

from collections.abc import Mapping
from pathlib import Path

from flows.benchmarks.names import WITHOUT_DATA
from flows.profiles import load_profile
from flows.works.evaluate.request import (
    check_api_base,
    check_warehouse,
    resolve_literature,
    wants_full_text,
)
from schemas.base import replace
from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judgement.benchmark import (
    ANOTHER_IDEAS,
    PROMPT_ONLY,
    PROMPT_WITH_SEARCH,
    BenchmarkRequest,
)
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.profile import Profile
from schemas.settings import Settings
from tasks.calibration.applying import with_prior

ABLATIONS: Mapping[str, tuple[str, str]] = {
    "mre": ("soundness", "extract_methods_and_results"),
    "pa": ("contribution", "augment_papers"),
    "pc": ("contribution", "compare_papers"),
}
"""The part of a profile and the switch in it that each turns off.

mre: passages go to the review as they are, no paper is read. pa: no recommendations, no
references. pc: the review sees the papers themselves, not comparisons with them.
"""


def profile_without(profile: Profile, text: str) -> Profile:
    """`profile` without the parts named in `text`, such as `mre,pa`; its name says what it lacks.

    Raises:
        ConfigurationError: an unknown part.
    """
    names = list(
        dict.fromkeys(name.strip().lower().lstrip("-") for name in text.split(",") if name.strip())
    )
    unknown = [name for name in names if name not in ABLATIONS]
    if unknown:
        raise ConfigurationError(
            f"--without {text!r}: {', '.join(unknown)}; choose from {', '.join(ABLATIONS)}"
        )
    for name in names:
        part, switch = ABLATIONS[name]
        changed = replace(getattr(profile, part), **{switch: False})
        profile = replace(profile, **{part: changed})
    return replace(profile, name="-".join([profile.name, *(["without", *names] if names else [])]))


LITERATURE_FILE = "literature.parquet"
"""Papers that lie beside the data sets are the default literature of the benchmarks."""
BASELINES = (PROMPT_ONLY, PROMPT_WITH_SEARCH, ANOTHER_IDEAS)


def resolve_benchmark(
    suite: str, options: BenchmarkOptions, settings: Settings
) -> BenchmarkRequest:
    """The one place where options become a request.

    Raises:
        ConfigurationError: an option that cannot be met, in one line that says how to mend it.
    """
    folder = _data(suite, options.data, settings)
    check_warehouse(options.warehouse)
    check_api_base(options.api_base, options.engine)
    literature = resolve_literature(options.literature or _beside(folder), settings)
    return BenchmarkRequest(
        suite=suite,
        data=folder,
        warehouse=options.warehouse.resolve(),
        profile=with_prior(profile_without(load_profile(options.profile), options.without)),
        engine=options.engine,
        api_base=options.api_base,
        literature=literature,
        modules=options.modules,
        evaluated_run=RunId(options.run) if options.run is not None else None,
        item_limit=options.limit,
        baselines=_baselines(options.baselines),
        seed=options.seed,
        workers=options.workers,
        scheduler_address=options.scheduler,
        budget=options.budget,
        full_text=wants_full_text(options.full_text, literature),
        text=options.text,
        judge=options.judge,
        training_until=options.training_until,
        check_links=options.check_links,
    )


def _data(suite: str, data: Path | None, settings: Settings) -> Path:
    folder = data if data is not None else settings.data
    if folder is None and suite in WITHOUT_DATA:
        return Path.cwd()
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
            f"--baselines {text!r}: {', '.join(unknown)}; choose from {', '.join(BASELINES)}, or"
            " none"
        )
    return names
