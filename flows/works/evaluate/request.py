"""Resolves options into a `RunRequest`: fills in defaults and reports mistakes."""

from importlib import resources
from pathlib import Path
from typing import TypeVar

from flows.profiles import load_profile
from flows.works.experiment.experimental_results import check_experiments
from schemas.base import replace
from schemas.choices import BUNDLED_SAMPLE, LIVE, EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.options.commands import RunOptions
from schemas.profile import Profile
from schemas.run import Module
from schemas.settings import Settings
from tasks.judging.batches.option import wants_batches
from warehouse.scrubbing import WHERE_KEYS_BELONG, check_address
from warehouse.warehouse import Warehouse

RunOptionsT = TypeVar("RunOptionsT", bound=RunOptions)


def bundled_file(name: str) -> Path:
    return Path(str(resources.files("flows.demo").joinpath(name)))


def literature_name(literature: LiteratureChoice) -> str:
    """Return the reader's name of a snapshot; empty for other literature."""
    if literature.snapshot is None:
        return ""
    is_bundled = literature.snapshot == bundled_file("papers.jsonl")
    return BUNDLED_SAMPLE if is_bundled else literature.snapshot.name


def check_warehouse(folder: Path) -> None:
    """Raise ConfigurationError if the warehouse path is a file."""
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"--warehouse {folder} is a file; name a folder")


def check_api_base(api_base: str | None, engine: EngineChoice) -> None:
    """Raise ConfigurationError if the address is invalid, has a key, or is not used."""
    if api_base is None:
        return
    check_address("--api-base", api_base, WHERE_KEYS_BELONG)
    if engine.is_baseline:
        raise ConfigurationError(
            f"--api-base {api_base}: the {engine} engine asks no server; add --engine"
            " litellm:openai/MODEL"
        )
    if not api_base.startswith(("http://", "https://")):
        raise ConfigurationError(f"--api-base {api_base!r}: write it as http://host:port/v1")


def resolve_literature(literature: LiteratureChoice | None, settings: Settings) -> LiteratureChoice:
    """Return the literature with an absolute snapshot path.

    The default is live if a key is set, else the bundled snapshot.

    Raises:
        ConfigurationError: the snapshot does not exist, or the address contains a secret.
    """
    if literature is None:
        bundled_papers = LiteratureChoice(bundled_file("papers.jsonl"))
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
    """Check the committee, and make the path of its personas file absolute."""
    from tasks.committee.planning import check_committee

    check_committee(profile.committee)
    if profile.committee.personas_file is None:
        return profile
    return replace(
        profile,
        committee=replace(
            profile.committee, personas_file=str(Path(profile.committee.personas_file).resolve())
        ),
    )


def _with_novelty_files(profile: Profile, engine: EngineChoice) -> Profile:
    """Check calibrator and exemplars, and make their paths absolute."""
    from tasks.novelty.profile_files import check_calibrator, read_exemplars

    novelty = profile.novelty
    if novelty.calibrator is not None:
        check_calibrator(novelty.calibrator, engine.text)
        novelty = replace(novelty, calibrator=str(Path(novelty.calibrator).resolve()))
    if novelty.exemplars is not None:
        read_exemplars(novelty.exemplars)
        novelty = replace(novelty, exemplars=str(Path(novelty.exemplars).resolve()))
    return replace(profile, novelty=novelty)


def check_judging(profile: Profile, engine: EngineChoice) -> None:
    """Check the profile's models per step.

    Raises:
        ConfigurationError: unknown step, several judges for a step without scores, or models for
            some steps and the extractive engine for the others.
    """
    from tasks.steps import STEPS

    steps = {step.name: step for step in STEPS}
    for name, step_judging in profile.judging.steps.items():
        if name not in steps:
            raise ConfigurationError(
                f"profile {profile.name}: no step {name!r} to assign a model to; choose from"
                f" {', '.join(steps)}"
            )
        if step_judging.judges is not None:
            from tasks.judging.panel import gives_scores

            if not gives_scores(steps[name].output_model):
                raise ConfigurationError(
                    f"profile {profile.name}: step {name} gives no score, so several judges have no"
                    " median; name one `model` for it"
                )
    if profile.judging.models and engine.is_baseline:
        raise ConfigurationError(
            f"profile {profile.name} assigns models to steps: name the model of the other steps "
            "too, as in --engine litellm:openai/gpt-5-mini"
        )


def with_assessment(
    profile: Profile, modules: tuple[Module, ...], engine: EngineChoice
) -> tuple[Profile, tuple[Module, ...]]:
    """Add the assessment unless engine or profile have none.

    It replaces the summary of soundness.

    Raises:
        ConfigurationError: it is requested by name and not available.
    """
    has_assessment = profile.assessment.repetitions > 0 and not engine.is_baseline
    others = tuple(module for module in modules if module is not Module.ASSESSMENT)
    if len(others) < len(modules) and not has_assessment:
        raise ConfigurationError(
            f"--modules assessment: the {engine} engine assesses no plan; add --engine"
            " litellm:MODEL"
            if engine.is_baseline
            else f"--modules assessment: profile {profile.name} asks for none; set"
            " assessment.repetitions in it, or take --profile economy"
        )
    if not has_assessment:
        return profile, modules
    soundness = replace(profile.soundness, summarise=False)
    return replace(profile, soundness=soundness), (*others, Module.ASSESSMENT)


def resolve_evaluation(
    options: RunOptionsT, settings: Settings
) -> tuple[RunOptionsT, LiteratureChoice, Profile]:
    """Resolve the options that evaluation uses, and load literature and profile.

    Raises:
        ConfigurationError: an option cannot be met; one line with the remedy.
    """
    check_warehouse(options.warehouse)
    check_api_base(options.api_base, options.engine)
    warehouse = options.warehouse.resolve()
    literature = resolve_literature(options.literature, settings)
    profile = load_profile(options.profile)
    check_judging(profile, options.engine)
    profile, modules = with_assessment(profile, options.modules, options.engine)
    if Module.COMMITTEE in options.modules:
        profile = _with_committee(profile)
    if Module.NOVELTY in options.modules:
        profile = _with_novelty_files(profile, options.engine)
    experiments = check_experiments(options.experiment, Warehouse(warehouse, settings))
    resolved_options = replace(
        options,
        warehouse=warehouse,
        literature=literature,
        modules=modules,
        experiment=tuple(experiments),
        full_text=wants_full_text(options.full_text, literature),
        batch=_in_batches(options, profile),
    )
    return resolved_options, literature, profile


def _in_batches(options: RunOptions, profile: Profile) -> bool:
    batch = wants_batches(options.batch, profile, options.engine)
    if batch and options.survey:
        raise ConfigurationError(
            "--survey judges papers layer by layer, and each layer would wait for a batch of its"
            " own: leave out --survey, or add --no-batch"
        )
    return batch


def wants_full_text(option: bool | None, literature: LiteratureChoice) -> bool:
    """Return the option, or by default whether papers have to be downloaded.

    Papers of a snapshot are not downloaded by default.
    """
    return option if option is not None else literature.snapshot is None
