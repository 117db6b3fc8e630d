"""What the user typed for `assay check`, resolved into a `CheckRequest`: every mistake named in one line."""

from collections.abc import Sequence
from pathlib import Path

from flows.request import check_api_base, check_warehouse
from schemas.check_run import CheckRequest, Judge
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.errors import ConfigurationError
from schemas.judging import Effort
from schemas.run import Budget
from schemas.settings import Settings
from tasks.judging.model_access import shared_api_base
from tasks.manuscripts.collect import collect_manuscripts
from tasks.manuscripts.reasons import read_reasons
from warehouse.scrubbing import WHERE_KEYS_BELONG, check_address


def resolve_check(
    papers: Sequence[Path],
    settings: Settings,
    *,
    warehouse: Path,
    engine: EngineChoice = EXTRACTIVE,
    api_base: str | None = None,
    judges: Sequence[str] = (),
    form: str = "auto",
    problems: int = 5,
    attempts: int = 1,
    repetitions: int = 1,
    reasons: Path | None = None,
    seed: int = 42,
    effort: Effort = Effort.MEDIUM,
    workers: int = 2,
    scheduler: str | None = None,
    budget: Budget | None = None,
) -> CheckRequest:
    """Resolve the options of `assay check`.

    Judges without `--judge` are the engine itself, where reasons are given.

    Raises:
        ConfigurationError: an option that cannot be understood or met.
    """
    if not papers:
        raise ConfigurationError(
            "name a manuscript: a PDF, a text file, a LaTeX source, or a folder of them"
        )
    check_warehouse(warehouse)
    check_api_base(api_base, engine)
    if engine.is_baseline and form == "pdf":
        raise ConfigurationError(
            "--form pdf attaches the PDF, and the extractive engine reads text only: use --form auto or text"
        )
    if judges and reasons is None:
        raise ConfigurationError(
            "judges need the authors' own reasons to judge by: add --reasons FILE"
        )
    asked = [_judge(text, engine, api_base) for text in judges]
    if len({judge.engine for judge in asked}) < len(asked):
        raise ConfigurationError(
            "the same judge is named twice: --repetitions asks a judge several times"
        )
    if reasons is not None and not asked:
        asked = [Judge(engine=engine, api_base=api_base)]
    known = read_reasons(reasons) if reasons is not None else None
    return CheckRequest(
        sources=collect_manuscripts(papers, known, maximum_bytes=settings.documents.maximum_bytes),
        warehouse=warehouse.resolve(),
        engine=engine,
        api_base=api_base,
        judges=tuple(asked),
        form=form,
        maximum_problems=problems,
        attempt_count=attempts,
        repetition_count=repetitions,
        seed=seed,
        effort=effort,
        workers=workers,
        scheduler_address=scheduler,
        budget=budget or Budget(),
    )


def _judge(text: str, checker: EngineChoice, api_base: str | None) -> Judge:
    """`litellm:MODEL` or `litellm:MODEL@URL`; without a URL, a judge of the checker's provider is asked where the checker is."""
    name, _, url = text.partition("@http")
    choice = EngineChoice.parse(name)
    if url:
        check_address("--judge", f"http{url}", WHERE_KEYS_BELONG)
        return Judge(engine=choice, api_base=f"http{url}")
    if choice.model is None or checker.model is None:
        return Judge(engine=choice)
    return Judge(engine=choice, api_base=shared_api_base(choice.model, checker.model, api_base))
