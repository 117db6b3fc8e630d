"""The arguments and options of `assay check`, resolved: every mistake named in one line."""

from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.profile import Profile
from schemas.settings import Settings
from schemas.work import Judge
from schemas.works.check_run import CheckOptions, CheckParameters, EarlierReview, ManuscriptSource
from tasks.judging.models import shared_api_base
from tasks.manuscripts.collect import collect_manuscripts, read_reasons
from tasks.manuscripts.preferences import with_preferences
from tasks.work.declaration import Resolved
from warehouse.scrubbing import WHERE_KEYS_BELONG, check_address
from warehouse.warehouse import Warehouse

FORMS = ("auto", "pdf", "text", "latex")


def resolve(
    given: tuple[Any, ...], options: CheckOptions, profile: Profile, settings: Settings
) -> Resolved[ManuscriptSource, CheckParameters]:
    """Resolve the manuscripts and how they are checked.

    Judges without `--judge` are the engine itself, where reasons are given. A revision asks as the
    review it revises did: as many problems and attempts, by the same seed.

    Raises:
        ConfigurationError: an option that cannot be understood or met.
    """
    papers: tuple[Path, ...] = tuple(*given)
    if not papers:
        raise ConfigurationError(
            "name a manuscript: a PDF, a text file, a LaTeX source, or a folder of them"
        )
    _check_form(options)
    _check_review(options)
    parameters = CheckParameters(
        form=options.form,
        maximum_problems=options.problems,
        review=options.review,
        attempt_count=options.attempts,
        repetition_count=options.repetitions,
        judges=_judges(options),
    )
    known = read_reasons(options.reasons) if options.reasons is not None else None
    sources = collect_manuscripts(papers, known, maximum_bytes=settings.documents.maximum_bytes)
    judging, seed = profile.judging, options.seed
    if options.effort is not None:
        judging = replace(judging, judgement=replace(judging.judgement, effort=options.effort))
    if options.revise is not None:
        warehouse = Warehouse(options.warehouse.resolve(), settings)
        before, sources = with_preferences(options.revise, sources, warehouse)
        seed = before.seed
        parameters = replace(
            parameters,
            form=before.form,
            maximum_problems=before.maximum_problems,
            attempt_count=before.attempt_count,
            revises=EarlierReview(
                run_id=before.run_id,
                literature=before.literature,
                cutoff_date=before.cutoff_date,
            ),
        )
    return Resolved(sources, parameters, replace(profile, seed=seed, judging=judging))


def _check_form(options: CheckOptions) -> None:
    """Raises ConfigurationError: there is no such form, or the engine cannot read it."""
    if options.form not in FORMS:
        raise ConfigurationError(f"--form {options.form!r}: choose from {', '.join(FORMS)}")
    if options.engine.is_baseline and options.form == "pdf":
        raise ConfigurationError(
            "--form pdf attaches the PDF, and the extractive engine reads text only: use --form"
            " auto or text"
        )


def _judges(options: CheckOptions) -> tuple[Judge, ...]:
    """Who judges. Raises ConfigurationError: nothing to judge by, or one is named twice."""
    if options.judge and options.reasons is None:
        raise ConfigurationError(
            "judges need the authors' own reasons to judge by: add --reasons FILE"
        )
    asked = [_judge(text, options.engine, options.api_base) for text in options.judge]
    if len({judge.engine for judge in asked}) < len(asked):
        raise ConfigurationError(
            "the same judge is named twice: --repetitions asks a judge several times"
        )
    if options.reasons is not None and not asked:
        asked = [Judge(engine=options.engine, api_base=options.api_base)]
    return tuple(asked)


def _check_review(options: CheckOptions) -> None:
    """Raises ConfigurationError: options that go with a review alone, or do not go with one."""
    if options.review and options.form == "pdf":
        raise ConfigurationError(
            "--review reads the text section by section, and --form pdf attaches the file: use"
            " --form auto or text"
        )
    if options.literature is not None and not options.review:
        raise ConfigurationError("--literature looks up related work for a review: add --review")
    if options.cutoff is not None and options.literature is None:
        raise ConfigurationError("--cutoff bounds what is looked up: add --literature")
    if options.revise is None:
        return
    if not options.review:
        raise ConfigurationError("--revise goes on from a review: add --review")
    if options.literature is not None:
        raise ConfigurationError(
            "--revise judges beside what the review looked up, and looks up nothing: leave out"
            " --literature"
        )


def _judge(text: str, checker: EngineChoice, api_base: str | None) -> Judge:
    """`litellm:MODEL` or `litellm:MODEL@URL`; without a URL, a judge of the checker's provider is
    asked where the checker is.
    """
    name, _, url = text.partition("@http")
    choice = EngineChoice.parse(name)
    if url:
        check_address("--judge", f"http{url}", WHERE_KEYS_BELONG)
        return Judge(engine=choice, api_base=f"http{url}")
    if choice.model is None or checker.model is None:
        return Judge(engine=choice)
    return Judge(engine=choice, api_base=shared_api_base(choice.model, checker.model, api_base))
