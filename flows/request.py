"""What the user typed, resolved into a `RunRequest`: defaults filled in, every mistake named in one line."""

from datetime import date
from importlib import resources
from pathlib import Path

from flows.profiles import load_profile
from schemas.base import replace
from schemas.choices import EXTRACTIVE, LIVE, EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.profile import Profile
from schemas.run import Budget, Module, RunRequest
from schemas.settings import Settings
from warehouse.scrubbing import WHERE_KEYS_BELONG, check_address

DEFAULT_PROFILE = "economy"
DEFAULT_WAREHOUSE = Path("assay-warehouse")


def bundled(name: str) -> Path:
    """Path of a file of the bundled sample: `ideas.jsonl` or `papers.jsonl`."""
    return Path(str(resources.files("flows.demo").joinpath(name)))


def parse_modules(text: str) -> tuple[Module, ...]:
    """`soundness,contribution` → modules, in order and once each.

    Raises:
        ConfigurationError: an unknown or empty list.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in set(Module)]
    if unknown or not names:
        raise ConfigurationError(
            f"--modules {text!r}: {', '.join(unknown) or 'nothing named'}; choose from {', '.join(Module)}"
        )
    return tuple(Module(name) for name in dict.fromkeys(names))


def check_warehouse(folder: Path) -> None:
    """Raises ConfigurationError when the warehouse would have to be where a file is."""
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"--warehouse {folder} is a file; name a folder")


def check_api_base(api_base: str | None, engine: EngineChoice) -> None:
    """Raises ConfigurationError when the engine asks no server, the address is none, or it carries a key."""
    if api_base is None:
        return
    check_address("--api-base", api_base, WHERE_KEYS_BELONG)
    if engine.is_baseline:
        raise ConfigurationError(
            f"--api-base {api_base}: the {engine} engine asks no server; add --engine litellm:openai/MODEL"
        )
    if not api_base.startswith(("http://", "https://")):
        raise ConfigurationError(f"--api-base {api_base!r}: write it as http://host:port/v1")


def parse_cutoff(text: str | None) -> date | None:
    """Raises ConfigurationError when `text` is no YYYY-MM-DD date."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ConfigurationError(f"--cutoff {text!r} is no date; write it as YYYY-MM-DD") from error


def resolve_literature(literature: LiteratureChoice | None, settings: Settings) -> LiteratureChoice:
    """The literature with the whole path of its snapshot.

    Without a wish: live when a key is set, else the bundled snapshot.

    Raises:
        ConfigurationError: a snapshot that does not exist, or an address with a secret in it.
    """
    if literature is None:
        bundled_papers = LiteratureChoice(bundled("papers.jsonl"))
        return LIVE if settings.semantic_scholar_api_key else bundled_papers
    if literature.url is not None:
        check_address("--literature", literature.url, "a gateway asks for none of them")
    if literature.snapshot is None:
        return literature
    path = literature.snapshot.expanduser()
    if not path.exists():
        raise ConfigurationError(
            f"--literature {literature.text!r}: {path} does not exist; name a Parquet file or an "
            "index made by `assay literature build`"
        )
    return literature.at(path.resolve())


def _with_committee(profile: Profile) -> Profile:
    """`profile`, its committee checked, and its personas file named so that workers find it from any folder."""
    from tasks.committee.conditions import check_committee

    check_committee(profile.committee)
    if profile.committee.personas_file is None:
        return profile
    return replace(
        profile,
        committee=replace(
            profile.committee, personas_file=str(Path(profile.committee.personas_file).resolve())
        ),
    )


def _with_calibrator(profile: Profile, engine: EngineChoice) -> Profile:
    """`profile`, its calibrator checked before anything is paid for, and named so that workers find it from any folder."""
    from tasks.novelty.calibration.applying import check_calibrator

    if profile.novelty.calibrator is None:
        return profile
    check_calibrator(profile.novelty.calibrator, engine.text)
    return replace(
        profile,
        novelty=replace(
            profile.novelty, calibrator=str(Path(profile.novelty.calibrator).resolve())
        ),
    )


def check_judging(profile: Profile, engine: EngineChoice) -> None:
    """Hold what the profile says of models against the steps there are.

    Raises:
        ConfigurationError: a step that does not exist, several judges for a step without scores,
            or models for some steps and the extractive engine for the others.
    """
    from tasks.judging.panel import gives_scores
    from tasks.steps import STEPS

    known = {step.name: step for step in STEPS}
    for name, asked in profile.judging.steps.items():
        if name not in known:
            raise ConfigurationError(
                f"profile {profile.name}: no step {name!r} to assign a model to; choose from {', '.join(known)}"
            )
        if asked.judges is not None and not gives_scores(known[name].output_model):
            raise ConfigurationError(
                f"profile {profile.name}: step {name} gives no score, so several judges have no median; name one `model` for it"
            )
    if profile.judging.models and engine.is_baseline:
        raise ConfigurationError(
            f"profile {profile.name} assigns models to steps: name the model of the other steps "
            "too, as in --engine litellm:openai/gpt-5-mini"
        )


def resolve_request(
    ideas: Path,
    settings: Settings,
    *,
    warehouse: Path = DEFAULT_WAREHOUSE,
    profile: str = DEFAULT_PROFILE,
    engine: EngineChoice = EXTRACTIVE,
    api_base: str | None = None,
    literature: LiteratureChoice | None = None,
    modules: str = "soundness,contribution",
    cutoff: str | None = None,
    workers: int = 2,
    scheduler: str | None = None,
    max_cost_usd: float | None = None,
    max_cost_usd_per_idea: float | None = None,
    max_tokens: int | None = None,
    max_requests: int | None = None,
    full_text: bool | None = None,
    label: str = "",
) -> RunRequest:
    """The one place where options become a request; the command line and the flows both call it.

    Raises:
        ConfigurationError: an option that cannot be understood, in one line that says how to mend it.
    """
    if not ideas.exists():
        raise ConfigurationError(
            f"{ideas} does not exist; name a JSONL, CSV or Parquet file, or a folder of .txt and .md files"
        )
    check_warehouse(warehouse)
    if workers < 1:
        raise ConfigurationError(f"--workers {workers}: at least one is needed")
    check_api_base(api_base, engine)
    resolved_literature = resolve_literature(literature, settings)
    wanted, chosen_profile = parse_modules(modules), load_profile(profile)
    check_judging(chosen_profile, engine)
    if Module.COMMITTEE in wanted:
        chosen_profile = _with_committee(chosen_profile)
    if Module.NOVELTY in wanted:
        chosen_profile = _with_calibrator(chosen_profile, engine)
    return RunRequest(
        ideas_path=ideas.resolve(),
        warehouse=warehouse.resolve(),
        profile=chosen_profile,
        engine=engine,
        api_base=api_base,
        literature=resolved_literature,
        modules=wanted,
        cutoff_date=parse_cutoff(cutoff),
        workers=workers,
        scheduler_address=scheduler,
        budget=Budget(
            maximum_cost_usd=max_cost_usd,
            maximum_tokens=max_tokens,
            maximum_requests=max_requests,
            maximum_cost_usd_per_idea=max_cost_usd_per_idea,
        ),
        full_text=full_text if full_text is not None else resolved_literature.snapshot is None,
        label=label,
    )
