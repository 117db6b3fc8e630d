"""Options of `assay check`, and people's decisions on a review (`--revise FILE`)."""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judging import Wording
from schemas.settings import Settings
from schemas.work import Judge
from schemas.works.check_run import (
    CHECKS,
    CheckHead,
    CheckOptions,
    CheckParameters,
    CheckRequest,
    EarlierReview,
    ManuscriptSource,
    Preference,
)
from schemas.works.manuscripts import Decision
from tasks.judging.models import shared_api_base
from tasks.manuscripts.collect import collect_manuscripts, read_reasons
from tasks.work.declaration import Common
from warehouse.scrubbing import WHERE_KEYS_BELONG, check_address
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse

LARGEST_BYTES = 10_000_000
_FIELDS = ("manuscript", "id", "verdict", "remark")
*_FIRST, _LAST = Decision
_CHOICES = f"{', '.join(_FIRST)} or {_LAST}"


def with_preferences(
    path: Path, sources: Sequence[ManuscriptSource], warehouse: Warehouse
) -> tuple[CheckHead, tuple[ManuscriptSource, ...]]:
    """Return the head of the review that the file names, and `sources` with review and decisions.

    Raises:
        ConfigurationError: the file cannot be read, contains no decision, or does not fit the review
            or the manuscripts.
    """
    run_id, preferences = _read(path)
    with warehouse.reader() as connection:
        head = published_head(connection, kind_of(CHECKS), run_id)
        checks = published_units(connection, kind_of(CHECKS), run_id)
    if not head.review:
        raise ConfigurationError(f"--revise {path}: {run_id} is no review: it was read once")
    check_of = {check.manuscript_id: check for check in checks}
    for one in preferences:
        if one.manuscript not in check_of:
            raise ConfigurationError(
                f"--revise {path}: the review has no manuscript {one.manuscript!r}; it has"
                f" {', '.join(list(check_of)[:5])}"
            )
        problem_ids = [problem.problem_id for problem in check_of[one.manuscript].problems]
        if one.finding not in problem_ids:
            shown_ids = ", ".join(problem_ids[:10]) or "none"
            raise ConfigurationError(
                f"--revise {path}: {one.manuscript} has no finding {one.finding!r}; it has"
                f" {shown_ids}"
            )
    revised_sources = []
    for source in sources:
        check = check_of.get(source.manuscript_id)
        if check is None:
            raise ConfigurationError(
                f"--revise {path}: {run_id} did not review {source.manuscript_id}: leave it out"
            )
        if check.content_sha256 != source.content_sha256:
            raise ConfigurationError(
                f"--revise {path}: {source.path.name} has changed since {run_id}: review it again"
            )
        decisions = tuple(one for one in preferences if one.manuscript == source.manuscript_id)
        revised_sources.append(replace(source, earlier=check, preferences=decisions))
    unnamed_ids = {one.manuscript for one in preferences} - {each.manuscript_id for each in sources}
    if unnamed_ids:
        raise ConfigurationError(
            f"--revise {path} speaks of {min(unnamed_ids)}: name that paper too"
        )
    return head, tuple(revised_sources)


def _read(path: Path) -> tuple[RunId, tuple[Preference, ...]]:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise ConfigurationError(f"--revise {path}: exceeds {LARGEST_BYTES:,} bytes")
        content = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"--revise {path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"--revise {path} is no TOML: {error}") from error
    run_id, findings = content.get("check"), content.get("findings")
    if not isinstance(run_id, str) or not isinstance(findings, list):
        raise ConfigurationError(
            f"--revise {path} lacks `check` or [[findings]]: edit the preferences.toml that the"
            " review wrote next to its report"
        )
    preferences = tuple(_preferences(path, findings))
    if not preferences:
        raise ConfigurationError(f"--revise {path} decides nothing: set a verdict to {_CHOICES}")
    return RunId(run_id), preferences


def _preferences(path: Path, findings: Sequence[Any]) -> Iterator[Preference]:
    """Yield the findings with a verdict."""
    decided_keys = set()
    for number, entry in enumerate(findings, start=1):
        place = f"--revise {path}: finding {number}"
        fields = entry if isinstance(entry, dict) else {}
        if unknown_field := next((name for name in fields if name not in _FIELDS), None):
            raise ConfigurationError(
                f"{place} has {unknown_field!r}: it takes {', '.join(_FIELDS)}"
            )
        values = [fields.get(name, "") for name in _FIELDS]
        if not all(isinstance(value, str) for value in values):
            raise ConfigurationError(f"{place}: {', '.join(_FIELDS)} are texts between quotes")
        manuscript, finding, verdict, remark = values
        if not manuscript or not finding:
            raise ConfigurationError(f"{place} lacks its manuscript or its id")
        if not verdict:
            continue
        if verdict not in tuple(Decision):
            raise ConfigurationError(f"{place} ({finding}): verdict {verdict!r}: choose {_CHOICES}")
        if (manuscript, finding) in decided_keys:
            raise ConfigurationError(f"{place} gives {finding} a second verdict")
        decided_keys.add((manuscript, finding))
        decision, remark = Decision(verdict), remark.strip()
        yield Preference(manuscript=manuscript, finding=finding, decision=decision, remark=remark)


FORMS = ("auto", "pdf", "text", "latex")


def resolve(
    arguments: tuple[Any, ...], options: CheckOptions, common: Common, settings: Settings
) -> CheckRequest:
    """Resolve the manuscripts and the parameters of their check.

    With `--reasons` but without `--judge`, the engine itself judges. A revision has the problem
    limit, attempts and seed of its review.

    Raises:
        ConfigurationError: an option is invalid or does not fit the others.
    """
    papers: tuple[Path, ...] = tuple(*arguments)
    if not papers:
        raise ConfigurationError(
            "name a manuscript: a PDF, a text file, a LaTeX source, or a folder of them"
        )
    for is_wrong, message in _conflicts(options):
        if is_wrong:
            raise ConfigurationError(message)
    parameters = CheckParameters(
        form=options.form,
        maximum_problems=options.problems,
        wording=options.wording,
        review=options.review,
        attempt_count=options.attempts,
        repetition_count=options.repetitions,
        judges=_judges(options),
    )
    reasons = read_reasons(options.reasons) if options.reasons is not None else None
    sources = collect_manuscripts(papers, reasons, maximum_bytes=settings.documents.maximum_bytes)
    profile, seed = common["profile"], options.seed
    judging = profile.judging
    if options.effort is not None:
        judging = replace(judging, judgement=replace(judging.judgement, effort=options.effort))
    if options.revise is not None:
        warehouse = Warehouse(options.warehouse.resolve(), settings)
        earlier_head, sources = with_preferences(options.revise, sources, warehouse)
        seed = earlier_head.seed
        parameters = replace(
            parameters,
            form=earlier_head.form,
            maximum_problems=earlier_head.maximum_problems,
            attempt_count=earlier_head.attempt_count,
            revises=EarlierReview(
                run_id=earlier_head.run_id,
                literature=earlier_head.literature,
                cutoff_date=earlier_head.cutoff_date,
            ),
        )
    changed = {**common, "profile": replace(profile, seed=seed, judging=judging)}
    return CheckRequest(units=sources, parameters=parameters, **changed)


def _conflicts(options: CheckOptions) -> Iterator[tuple[bool, str]]:
    """Yield whether options conflict, and the message."""
    form, looks_up = options.form, options.literature is not None
    yield form not in FORMS, f"--form {form!r}: choose from {', '.join(FORMS)}"
    yield (
        options.engine.is_baseline and form == "pdf",
        "--form pdf attaches the PDF, and the extractive engine reads text only: use --form auto"
        " or text",
    )
    yield (
        options.review and form == "pdf",
        "--review reads the text section by section, and --form pdf attaches the file: use --form"
        " auto or text",
    )
    yield (
        options.review and options.wording is Wording.PUBLISHED,
        "--wording published asks the published question, in one reading: leave out --review",
    )
    yield (
        looks_up and not options.review,
        "--literature looks up related work for a review: add --review",
    )
    yield (
        options.cutoff is not None and not looks_up,
        "--cutoff bounds what is looked up: add --literature",
    )
    if options.revise is not None:
        yield not options.review, "--revise goes on from a review: add --review"
        message = "--revise uses the look-ups of its review and makes none: leave out --literature"
        yield looks_up, message


def _judges(options: CheckOptions) -> tuple[Judge, ...]:
    """Return the judges. Raises ConfigurationError without reasons, or for a repeated judge."""
    if options.judge and options.reasons is None:
        raise ConfigurationError(
            "judges need the authors' own reasons to judge by: add --reasons FILE"
        )
    judges = [_judge(text, options.engine, options.api_base) for text in options.judge]
    if len({judge.engine for judge in judges}) < len(judges):
        raise ConfigurationError(
            "the same judge is named twice: --repetitions asks a judge several times"
        )
    if options.reasons is not None and not judges:
        judges = [Judge(engine=options.engine, api_base=options.api_base)]
    return tuple(judges)


def _judge(text: str, checker: EngineChoice, api_base: str | None) -> Judge:
    """Parse `litellm:MODEL` or `litellm:MODEL@URL`.

    Without a URL, a judge of the checker's provider uses the checker's address.
    """
    name, _, url = text.partition("@http")
    choice = EngineChoice.parse(name)
    if url:
        check_address("--judge", f"http{url}", WHERE_KEYS_BELONG)
        return Judge(engine=choice, api_base=f"http{url}")
    if choice.model is None or checker.model is None:
        return Judge(engine=choice)
    return Judge(engine=choice, api_base=shared_api_base(choice.model, checker.model, api_base))
