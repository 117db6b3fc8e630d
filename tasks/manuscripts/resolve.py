"""The arguments and options of `assay check`, and what people say of a review (`--revise FILE`):
every mistake named in one line.
"""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.profile import Profile
from schemas.settings import Settings
from schemas.work import Judge
from schemas.works.check_run import (
    CHECKS,
    CheckHead,
    CheckOptions,
    CheckParameters,
    EarlierReview,
    ManuscriptSource,
    Preference,
)
from schemas.works.manuscripts import Decision, ManuscriptCheck
from tasks.judging.models import shared_api_base
from tasks.manuscripts.collect import collect_manuscripts, read_reasons
from tasks.work.declaration import Resolved
from warehouse.scrubbing import WHERE_KEYS_BELONG, check_address
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse

LARGEST_BYTES = 10_000_000
_FIELDS = ("manuscript", "id", "verdict", "remark")


def with_preferences(
    path: Path, sources: Sequence[ManuscriptSource], warehouse: Warehouse
) -> tuple[CheckHead, tuple[ManuscriptSource, ...]]:
    """Return the review that the file names, and `sources` with what both say of each.

    Raises:
        ConfigurationError: the file cannot be read, decides nothing, or does not fit the review or
            the manuscripts.
    """
    run_id, preferences = _read(path)
    with warehouse.reader() as connection:
        head = published_head(connection, kind_of(CHECKS), run_id)
        checks = published_units(connection, kind_of(CHECKS), run_id)
    if not head.review:
        raise ConfigurationError(f"--revise {path}: {run_id} is no review: it was read once")
    known = {check.manuscript_id: check for check in checks}
    for one in preferences:
        _check_finding(path, one, known)
    for source in sources:
        _check_source(path, source, known, run_id)
    named = {source.manuscript_id for source in sources}
    if lost := next((one.manuscript for one in preferences if one.manuscript not in named), None):
        raise ConfigurationError(f"--revise {path} speaks of {lost}: name that paper too")
    return head, tuple(
        replace(
            source,
            earlier=known[source.manuscript_id],
            preferences=tuple(one for one in preferences if one.manuscript == source.manuscript_id),
        )
        for source in sources
    )


def _read(path: Path) -> tuple[RunId, tuple[Preference, ...]]:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise ConfigurationError(f"--revise {path}: exceeds {LARGEST_BYTES:,} bytes")
        told = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"--revise {path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"--revise {path} is no TOML: {error}") from error
    run_id, findings = told.get("check"), told.get("findings")
    if not isinstance(run_id, str) or not isinstance(findings, list):
        raise ConfigurationError(
            f"--revise {path} lacks `check` or [[findings]]: edit the preferences.toml that the"
            " review wrote beside its report"
        )
    preferences = tuple(_preferences(path, findings))
    if not preferences:
        raise ConfigurationError(f"--revise {path} decides nothing: set a verdict to {_choices()}")
    return RunId(run_id), preferences


def _preferences(path: Path, findings: Sequence[Any]) -> Iterator[Preference]:
    """Those with a verdict."""
    seen = set()
    for number, entry in enumerate(findings, start=1):
        where = f"--revise {path}: finding {number}"
        fields = entry if isinstance(entry, dict) else {}
        if odd := next((name for name in fields if name not in _FIELDS), None):
            raise ConfigurationError(f"{where} has {odd!r}: it takes {', '.join(_FIELDS)}")
        told = {name: fields.get(name, "") for name in _FIELDS}
        if not all(isinstance(value, str) for value in told.values()):
            raise ConfigurationError(f"{where}: {', '.join(_FIELDS)} are texts between quotes")
        if not told["manuscript"] or not told["id"]:
            raise ConfigurationError(f"{where} lacks its manuscript or its id")
        if not told["verdict"]:
            continue
        if told["verdict"] not in tuple(Decision):
            raise ConfigurationError(
                f"{where} ({told['id']}): verdict {told['verdict']!r}: choose {_choices()}"
            )
        if (told["manuscript"], told["id"]) in seen:
            raise ConfigurationError(f"{where} gives {told['id']} a second verdict")
        seen.add((told["manuscript"], told["id"]))
        yield Preference(
            manuscript=told["manuscript"],
            finding=told["id"],
            decision=Decision(told["verdict"]),
            remark=told["remark"].strip(),
        )


def _choices() -> str:
    *first, last = Decision
    return f"{', '.join(first)} or {last}"


def _check_finding(path: Path, one: Preference, known: dict[str, ManuscriptCheck]) -> None:
    check = known.get(one.manuscript)
    if check is None:
        raise ConfigurationError(
            f"--revise {path}: the review has no manuscript {one.manuscript!r}; it has"
            f" {', '.join(list(known)[:5])}"
        )
    found = [problem.problem_id for problem in check.problems]
    if one.finding not in found:
        listed = ", ".join(found[:10]) or "none"
        raise ConfigurationError(
            f"--revise {path}: {one.manuscript} has no finding {one.finding!r}; it has {listed}"
        )


def _check_source(
    path: Path, source: ManuscriptSource, known: dict[str, ManuscriptCheck], run_id: RunId
) -> None:
    check = known.get(source.manuscript_id)
    if check is None:
        raise ConfigurationError(
            f"--revise {path}: {run_id} did not review {source.manuscript_id}: leave it out"
        )
    if check.content_sha256 != source.content_sha256:
        raise ConfigurationError(
            f"--revise {path}: {source.path.name} has changed since {run_id}: review it anew"
        )


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
    if options.form not in FORMS:
        raise ConfigurationError(f"--form {options.form!r}: choose from {', '.join(FORMS)}")
    if options.engine.is_baseline and options.form == "pdf":
        raise ConfigurationError(
            "--form pdf attaches the PDF, and the extractive engine reads text only: use --form"
            " auto or text"
        )


def _judges(options: CheckOptions) -> tuple[Judge, ...]:
    """Return who judges. Raises ConfigurationError: nothing to judge by, or one is named twice."""
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
