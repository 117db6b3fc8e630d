"""Resolves options into a `RunRequest`: fills in defaults and reports mistakes."""

from importlib import resources
from pathlib import Path
from typing import TypeVar

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


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).resolve())


def check_judging(profile: Profile, engine: EngineChoice) -> None:
    """Check the profile's models per step.

    Raises:
        ConfigurationError: unknown step, several judges for a step without scores or findings, or models for
            some steps and the extractive engine for the others.
    """
    from tasks.judging.panel import takes_judges  # late: slow, and most commands fail before
    from tasks.steps import STEPS

    steps = {step.name: step for step in STEPS}
    for name, step_judging in profile.judging.steps.items():
        if name not in steps:
            raise ConfigurationError(
                f"profile {profile.name}: no step {name!r} to assign a model to; choose from"
                f" {', '.join(steps)}"
            )
        if step_judging.judges is not None and not takes_judges(steps[name].output_model):
            raise ConfigurationError(
                f"profile {profile.name}: step {name} gives no score and no findings, so the"
                " replies of several judges cannot be settled; name one `model` for it"
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
    other_modules = tuple(module for module in modules if module is not Module.ASSESSMENT)
    if len(other_modules) < len(modules) and not has_assessment:
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
    return replace(profile, soundness=soundness), (*other_modules, Module.ASSESSMENT)


def resolve_evaluation(
    options: RunOptionsT, profile: Profile, settings: Settings
) -> tuple[RunOptionsT, Profile]:
    """Resolve the options that evaluation uses; files of the profile become absolute.

    Raises:
        ConfigurationError: an option cannot be met; one line with the remedy.
    """
    assert options.literature is not None
    profile, modules = with_assessment(profile, options.modules, options.engine)
    if Module.COMMITTEE in options.modules:
        from tasks.committee.planning import check_committee

        committee = profile.committee
        check_committee(committee)
        files = {"personas_file": _absolute(committee.personas_file)}
        profile = replace(profile, committee=replace(committee, **files))
    if Module.NOVELTY in options.modules:
        from tasks.novelty.profile_files import check_calibrator, read_exemplars

        novelty = profile.novelty
        if novelty.calibrator is not None:
            check_calibrator(novelty.calibrator, options.engine.text)
        if novelty.exemplars is not None:
            read_exemplars(novelty.exemplars)
        files = {name: _absolute(getattr(novelty, name)) for name in ("calibrator", "exemplars")}
        profile = replace(profile, novelty=replace(novelty, **files))
    batch = wants_batches(options.batch, profile, options.engine)
    if batch and options.survey:
        raise ConfigurationError(
            "--survey judges papers layer by layer, and each layer would wait for a batch of its"
            " own: leave out --survey, or add --no-batch"
        )
    resolved_options = replace(
        options,
        modules=modules,
        experiment=check_experiments(options.experiment, Warehouse(options.warehouse, settings)),
        full_text=wants_full_text(options.full_text, options.literature),
        batch=batch,
    )
    return resolved_options, profile


def wants_full_text(option: bool | None, literature: LiteratureChoice) -> bool:
    """Return the option, or by default whether papers have to be downloaded.

    Papers of a snapshot are not downloaded by default.
    """
    return option if option is not None else literature.snapshot is None
