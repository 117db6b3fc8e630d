"""Options of `assay benchmark`."""

from datetime import date
from pathlib import Path
from typing import Annotated

from schemas.choices import EngineChoice
from schemas.judgement.benchmark import SubmissionText
from schemas.judging import Wording
from schemas.options.commands import DeclaredOptions, IdeaOptions
from schemas.options.values import (
    MODULES,
    from_text,
    option,
    parse_cutoff,
    parse_modules,
)
from schemas.run import Module


def _parse_suite_modules(text: str) -> tuple[Module, ...]:
    return () if text.strip() == "none" else parse_modules(text)


def _parse_judge(text: str) -> Wording | EngineChoice:
    """Parse a wording or an engine.

    Raises:
        ConfigurationError: `text` is neither.
    """
    name = text.strip()
    return Wording(name) if name in set(Wording) else EngineChoice.parse(name)


class BenchmarkOptions(IdeaOptions, DeclaredOptions):
    """Options of `assay benchmark`."""

    data: Path | None = option(
        None, "DIR", "Folder of the data sets. Default: the setting ASSAY_DATA."
    )
    modules: Annotated[
        tuple[Module, ...] | None,
        from_text(_parse_suite_modules),
        option(..., "LIST", f"{MODULES} Or `none`: judge by the text. Default: the suite's."),
    ] = None
    run: str | None = option(
        None,
        "RUN",
        "A published run to judge instead of evaluating the ideas.",
    )
    limit: int | None = option(
        None,
        "N",
        "Only N items of each set, drawn by the seed. Default: the whole set, or the suite's "
        "sample.",
        ge=1,
    )
    without: str = option(
        "", "LIST", "Parts of the method left out: mre, pa, pc (ScholarEval's ablations)."
    )
    baselines: str = option(
        "prompt_only,prompt_with_search,another_ideas_review",
        "LIST",
        "Baseline systems: prompt_only, prompt_with_search, another_ideas_review; or none.",
    )
    check_links: bool = option(
        False, "", "Ask every cited address whether it exists (reference invalidity)."
    )
    seed: int = option(0, "N", "Seed of random draws and bootstrap intervals.", ge=0)
    compare: tuple[str, ...] = option(
        (), "ID", "A published benchmark to compare with; may be repeated."
    )
    calibrate: Path | None = option(
        None,
        "OUT",
        "Suite novelty: write the calibrator it fits to this file, for a profile to name.",
    )
    text: SubmissionText = option(
        SubmissionText.ABSTRACT,
        "|".join(SubmissionText),
        "Suites decisions, pairs, groups: ideas from title and abstract, or from the full papers "
        "in DIR/papers.",
    )
    judge: Annotated[
        Wording | EngineChoice,
        from_text(_parse_judge),
        option(
            ...,
            f"{'|'.join(Wording)}|ENGINE",
            "Model that grades what --engine wrote; or the wording of questions that have a published "
            "form (coverage, critical_problems, novelty): Assay's own, or the published one, for "
            "figures that compare.",
        ),
    ] = Wording.OWN
    training_until: Annotated[
        date | None,
        from_text(parse_cutoff),
        option(..., "DATE", "How far the judge's training data reach. Default: as its maker says."),
    ] = None
