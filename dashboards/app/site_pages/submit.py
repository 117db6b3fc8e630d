"""Submit: give a file or a text, see what was found in it and what it costs, then begin.

What a reader gives is kept as a job that only estimates (a draft), so that no error and no way back
loses it. Nothing is paid before the last button.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, get_args, get_origin
from uuid import uuid4

from markupsafe import Markup
from pydantic.fields import FieldInfo
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from dashboards.app.choosing import Field
from dashboards.app.evaluating.asking import NO_RUNNER
from dashboards.app.site import Shown, Visit, controls, job_path, with_query
from dashboards.app.site_pages.jobs import job_of
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.formats.html import html_body
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.errors import AssayError, ConfigurationError
from schemas.identifiers import content_hash
from schemas.literature.naming import unturned
from schemas.options.commands import DeclaredOptions
from schemas.people.job import OFFERED_PROFILES, SUBMITTED, JobState, check_offered
from schemas.people.uploads import ending_of
from schemas.people.work_job import WebForm, WorkJob
from schemas.settings import DashboardSettings
from warehouse.app.jobs import Job, forget, job_ids, jobs, read_result, runner_at_work, submit
from warehouse.warehouse import Warehouse

DRAFTS_KEPT = timedelta(days=1)
_DRAFT = "draft "
_USUAL_BOUND_USD = 1.0
_NAME_CHARACTERS, _SECONDS_PER_HOUR, _REJECTED_SHOWN = 80, 3600.0, 50
_WORDS = {
    "evaluated": "evaluated before, which cost nothing",
    "not_covered": "outside the fields of the literature",
}
_AS_TEXT = ("", "md", "markdown", "txt", "tex")
_NOTHING = "There is nothing yet: choose a file, or write or paste a text."
_BOTH = "There is a file and a text: empty the text to use the file, or continue with the text."
_CHANGED = "The choices changed: this is what it takes now."


def show(visit: Visit) -> Shown:
    """The form, with what an earlier draft or job was given."""
    if visit.lake.warehouse.objects is not None:
        return Shown("Submit", (pg.text(
            "Jobs are asked for in a warehouse in a folder; in object storage `assay evaluate`"
            " does the same."),))  # fmt: skip
    before = visit.query.get("draft", "")
    if not before:
        return _form(visit)
    request = _request_of(job_of(visit, before))
    name, content = _given(request)
    if ending_of(name) not in _AS_TEXT:
        return _form(visit, kind=_kind_of(request), kept=before)
    return _form(visit, content.decode("utf-8", "replace"), _kind_of(request))


def _form(visit: Visit, text: str = "", kind: str = "", problem: str = "", kept: str = "") -> Shown:
    """Step 1.

    Args:
        kept: the draft whose file is used unless another one, or a text, is given.
    """
    most = visit.lake.warehouse.settings.api.maximum_body_bytes
    above = controls(
        "submit",
        problem=problem,
        text=text,
        kind=kind,
        kinds=[(command, form.label) for command, (_, form) in _forms().items()],
        files=[(form.label, form.files) for _, form in _forms().values() if form.files],
        kept=kept,
        kept_name=unturned(_request_of(job_of(visit, kept)).name) if kept else "",
        submission=visit.word("submission") or uuid4().hex,
        most_bytes=most,
        most=f"{most // 1_000_000:,} MB",
    )
    return Shown("Submit", (), above)


def take(visit: Visit) -> Shown | Response:
    """Keep what was given as a draft, and lead to what was found in it."""
    if visit.lake.warehouse.objects is not None:
        return show(visit)
    assert visit.sent is not None
    text, kind = visit.word("text").replace("\r\n", "\n"), visit.word("kind")
    kept, upload = visit.word("draft"), visit.sent.get("file")
    name, content, before = "", text.encode("utf-8", "replace"), None
    if isinstance(upload, UploadFile) and upload.filename:
        name, content = upload.filename, upload.file.read()
        if text.strip():
            return _form(visit, text, kind, _BOTH, _kept(visit, name, content))
    elif not text.strip():
        if not kept:
            return _form(visit, text, kind, _NOTHING)
        before = job_of(visit, kept)
        name, content = _given(_request_of(before))
    try:
        draft = _draft(visit, kind or _detected(name, content), name, content, before=before)
    except AssayError as error:
        return _form(visit, text, kind, _sentence(error), _kept(visit, name, content))
    return RedirectResponse(f"/submit/{draft}", 303)


def _kept(visit: Visit, name: str, content: bytes) -> str:
    """The draft that keeps a file although something else is wrong; empty where it is no use."""
    try:
        return _draft(visit, _detected(name, content), name, content) if name else ""
    except AssayError:
        return ""


def show_draft(visit: Visit) -> Shown | Response:
    """Step 2: what was found, what it takes, and the button that begins it."""
    return _found(visit, job_of(visit), _CHANGED if visit.query.get("changed") else "")


def _found(visit: Visit, draft: Job, problem: str = "") -> Shown | Response:
    request = _request_of(draft)
    if not request.asks_nothing:
        return RedirectResponse(job_path(draft.job_id), 303)
    done = draft.status.state is JobState.DONE
    found = read_result(draft) if done else {}
    blocks = list(_what(request, found)) if done else []
    if draft.at_work:
        waits = runner_at_work(visit.lake.warehouse) is False
        blocks = [pg.note(NO_RUNNER if waits else "Reading it, and estimating what it takes …")]
    elif not done:
        why = draft.status.last_word or "the estimate was stopped"
        blocks = [pg.note("It cannot be done so: ", why)]
    _, markup = html_body(blocks, str)
    form = SUBMITTED[_kind_of(request)].web_form
    assert form is not None
    already = _begun(visit.lake.warehouse, draft.job_id)
    above = controls(
        "submit_found",
        problem=problem,
        found=Markup(markup),  # noqa: S704 escaped by its writer
        at_work=draft.at_work,
        fields=[] if draft.at_work else list(_fields(visit, request, form)),
        verb=form.verb if done and not already else "",
        already=job_path(already) if already else "",
        here=f"/submit/{draft.job_id}",
        back=with_query("/submit", draft=draft.job_id),
    )
    title = "What was found" if not draft.at_work else wording.shortened(request.name, 80)
    return Shown(title, (), above, live=draft.at_work)


def begin(visit: Visit) -> Shown | Response:
    """Begin what a draft has estimated; other choices than the draft's are estimated first."""
    draft = job_of(visit)
    request = _request_of(draft)
    if not request.asks_nothing:
        return RedirectResponse(job_path(draft.job_id), 303)
    kind = visit.word("kind")
    wanted = request.to_do()
    try:
        if kind not in SUBMITTED:
            raise ConfigurationError("choose what it is from the list")
        job = SUBMITTED[kind]
        same = kind == _kind_of(request)
        options = _options(visit, job) if same else _usual(job)
        begins = visit.word("act") == "begin"
        if not (begins and same and options == wanted.options):
            changed = "?changed=1" if begins else ""
            draft_id = _draft(visit, kind, *_given(request), options, draft)
            return RedirectResponse(f"/submit/{draft_id}{changed}", 303)
        if draft.status.state is not JobState.DONE:
            raise ConfigurationError("wait until it is known what this takes")
        asked = wanted.model_copy(update={"idempotency_key": _key_of(draft.job_id)})
        check_offered(asked, visit.lake.warehouse.settings.dashboard)
        return RedirectResponse(job_path(submit(visit.lake.warehouse, asked)), 303)
    except AssayError as error:
        return _found(visit, draft, _sentence(error))


def _key_of(draft_id: str) -> str:
    """However often the button is pressed, a draft becomes one job."""
    return f"submitted {draft_id}"


def _begun(warehouse: Warehouse, draft_id: str) -> str:
    """The job that a draft has become; empty: none yet."""
    key = content_hash(_key_of(draft_id), length=16)
    return next((name for name in job_ids(warehouse) if name.endswith(key)), "")


def _draft(
    visit: Visit,
    kind: str,
    name: str,
    content: bytes,
    options: DeclaredOptions | None = None,
    before: Job | None = None,
) -> str:
    """Have it estimated what a job would take; the name of the draft, once for each submission.

    Args:
        before: the draft or job whose file or text it is.

    Raises:
        ConfigurationError: there is no such kind, it is none of that kind, or is not offered.
    """
    if kind not in SUBMITTED:
        raise ConfigurationError("choose what it is from the list")
    job, warehouse = SUBMITTED[kind], visit.lake.warehouse
    options = options or _usual(job)
    told = job.of_file(name, content)
    words = name or content.decode("utf-8", "replace")
    called = next((line.strip("# \t") for line in words.splitlines() if line.strip("# \t")), name)
    submission = visit.word("submission")
    if before is not None:
        called, submission = _request_of(before).name, before.job_id
    digest = content_hash(content.hex(), name)
    request = job(
        name=wording.shortened(unturned(called), _NAME_CHARACTERS) or job.name_of_command(),
        asked_by="dashboard" if visit.person is None else visit.person.name,
        created_at=datetime.now(UTC),
        idempotency_key=_DRAFT + content_hash(submission, kind, digest, options.model_dump_json()),
        options=options,
        **told,
    ).to_estimate()
    check_offered(request, warehouse.settings.dashboard)
    _clear(warehouse)
    return submit(warehouse, request)


def _clear(warehouse: Warehouse) -> None:
    """Delete drafts that nobody went on with."""
    now = datetime.now(UTC)
    for job in jobs(warehouse):
        asked, ended = job.request, job.status.finished_at
        if asked is None or ended is None or not asked.idempotency_key.startswith(_DRAFT):
            continue
        if asked.asks_nothing and now - ended > DRAFTS_KEPT:
            forget(job)


def _request_of(job: Job) -> WorkJob:
    if job.request is None or _kind_of(job.request) not in SUBMITTED:
        raise ConfigurationError("this job was not submitted here: begin with a new file or text")
    return job.request


def _kind_of(request: WorkJob) -> str:
    return str(getattr(request, "of", request.command))


def _given(request: WorkJob) -> tuple[str, bytes]:
    """The file or text that a request was made of, by the name that the reader's file had."""
    name, content = request.as_file
    sent = ending_of(request.name)
    return (request.name if name and sent == ending_of(name) else name), content


def _detected(name: str, content: bytes) -> str:
    """The kind that a file or text is probably meant for; else the first."""
    ending, text = ending_of(name), content.decode("utf-8", "replace")
    return next(
        (command for command, (_, form) in _forms().items() if form.resembles(ending, text)),
        next(iter(SUBMITTED)),
    )


@cache
def _forms() -> dict[str, tuple[type[WorkJob], WebForm]]:
    return {name: (job, job.web_form) for name, job in SUBMITTED.items() if job.web_form}


def _sentence(error: AssayError) -> str:
    told = str(error)
    return f"{told[:1].upper()}{told[1:]}{'' if told.endswith('.') else '.'}"


def _what(request: WorkJob, found: Mapping[str, Any]) -> Iterator[pg.Block]:
    """What was found in it, what would be rejected, and what it takes, as its estimate tells."""
    counts = found.get("counts") or {
        name: found[name] for name in ("ideas", "evaluated", "rejected", "not_covered")
    }
    requests = counts.pop("literature_requests", found.get("literature_requests"))
    told = [_counted(count, name) for name, count in counts.items() if count]
    titles = found.get("titles") or [request.title]
    yield pg.facts(*told)
    more = counts.get("ideas", 0) - len(titles)
    yield from pg.bullets(wording.shortened(str(each), 160) for each in titles)
    if more > 0:
        yield pg.text(f"and {more:,} more")
    rejected = found.get("rejected_entries", ())
    rows = [(each["location"], wording.reason(each["reason"]), each["detail"]) for each in rejected]
    if rows:
        yield pg.heading("Would be rejected")
        columns = ("Where", "Why", "How to mend it")
        yield pg.table(columns, rows[:_REJECTED_SHOWN])
        if len(rows) > _REJECTED_SHOWN:
            yield pg.text(f"and {len(rows) - _REJECTED_SHOWN:,} more")
    if found.get("lost"):
        yield pg.heading("Cannot be read")
        yield from pg.bullets(found["lost"])
    coverage = found.get("field_coverage", {}).get("not_covered", ())
    if coverage:
        yield pg.note(
            "Outside the fields that the literature covers, so that no evidence is bought: ",
            "; ".join(wording.shortened(str(each["title"]), 80) for each in coverage[:5]),
        )
    yield from pg.bullets(found.get("reading_remarks", ()))
    yield pg.heading("What it takes")
    yield pg.table(("", "About:"), _takes(request, found, requests))
    if not request.options.engine.is_baseline and found.get("note"):
        note = str(found["note"])
        yield pg.text(f"{note[:1].upper()}{note[1:]}.")


def _counted(count: int, name: str) -> str:
    """A count by its name in an estimate, which is in the plural: `manuscripts_read`."""
    first, *more = _WORDS.get(name, name.replace("_", " ")).split(" ", 1)
    return " ".join((f"{count:,}", first.removesuffix("s") if count == 1 else first, *more))


def _takes(
    request: WorkJob, found: Mapping[str, Any], requests: int | None
) -> Iterator[tuple[str, str]]:
    cost, hours = found["cost_usd"], found.get("hours")
    price = figures.usd(float(cost)) if isinstance(cost, int | float) else "price unknown"
    yield "Cost", f"{price}, no model is asked" if request.options.engine.is_baseline else price
    yield "Model calls", figures.count(found["model_calls"])
    yield "Tokens", figures.count(found["prompt_tokens"] + found["completion_tokens"])
    if requests is not None:
        yield "Literature requests", figures.count(requests)
    if hours is not None:
        yield "Time", figures.duration(float(hours) * _SECONDS_PER_HOUR)


def _fields(visit: Visit, request: WorkJob, form: WebForm) -> Iterator[Field]:
    """What may be chosen: models, servers and literatures by the names of the settings alone."""
    offered, options = visit.lake.warehouse.settings.dashboard, request.options
    kinds = [(command, each.label) for command, (_, each) in _forms().items()]
    yield Field("kind", "What it is", _kind_of(request), options=kinds)
    engine = next(
        (
            name
            for name, each in offered.models.items()
            if (EngineChoice(each.model), each.api_base) == (options.engine, options.api_base)
        ),
        "",
    )
    models = [("", "extractive (offline baseline)"), *((name, name) for name in offered.models)]
    yield Field("engine", "Engine", engine, options=models)
    if "literature" in type(options).model_fields:
        chosen: Any = getattr(options, "literature", None)
        literature = next((n for n, each in offered.literatures.items() if each == chosen), "")
        optional = SUBMITTED[_kind_of(request)].model_fields["options"].annotation
        none = "none" if getattr(optional, "literature_is_optional", False) else "as configured"
        places = [("", none), *((name, name) for name in offered.literatures)]
        yield Field("literature", "Literature", literature, options=places)
    profiles = [(name, name) for name in OFFERED_PROFILES]
    yield Field("profile", "Profile", options.profile, options=profiles)
    for name in form.options:
        yield _control(name, type(options).model_fields[name], getattr(options, name))
    bound = type(options).model_fields["max_cost_usd"]
    yield _control("max_cost_usd", bound, options.max_cost_usd, "End at this cost (USD)")


def _control(name: str, field: FieldInfo, value: Any, label: str = "") -> Field:
    """The control of an option, by its type."""
    words = label or name.replace("_", " ").capitalize()
    inner = get_args(field.annotation) or (field.annotation,)
    help_text = (field.description or "").replace("--", "")  # here they are no flags
    if get_origin(field.annotation) is tuple:
        options = [(str(each), str(each)) for each in inner[0]]
        return Field(name, words, [str(each) for each in value], "", options, "checks")
    if bool in inner:
        return Field(name, words, bool(value), kind="check", help=help_text)
    shown = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    if date in inner:
        return Field(name, words, shown, kind="date", help=help_text)
    least = next((each.ge for each in field.metadata if hasattr(each, "ge")), None)
    most = next((each.le for each in field.metadata if hasattr(each, "le")), None)
    bounds = {"min": least, "max": most, "step": "any"}
    return Field(name, words, shown, kind="number", help=help_text, attributes=bounds)


def _usual(job: type[WorkJob]) -> DeclaredOptions:
    """The options that nobody changed; a bound, so that no model is paid without one."""
    options: type[DeclaredOptions] = job.model_fields["options"].annotation  # type: ignore[assignment]
    return options(max_cost_usd=_USUAL_BOUND_USD)


def _options(visit: Visit, job: type[WorkJob]) -> DeclaredOptions:
    """The options of the form that was sent.

    Raises:
        ConfigurationError: one that is not offered, or cannot be meant.
    """
    assert visit.sent is not None and job.web_form is not None
    kind: type[DeclaredOptions] = job.model_fields["options"].annotation  # type: ignore[assignment]
    offered = visit.lake.warehouse.settings.dashboard
    told: dict[str, Any] = {"profile": visit.word("profile"), **_engine(visit, offered)}
    literature = visit.word("literature")
    if literature:
        if literature not in offered.literatures or "literature" not in kind.model_fields:
            raise ConfigurationError("choose a literature of the list")
        told["literature"] = offered.literatures[literature]
    for name in (*job.web_form.options, "max_cost_usd"):
        control = _control(name, kind.model_fields[name], kind.model_fields[name].default)
        if control.kind == "checks":
            told[name] = ",".join(str(each) for each in visit.sent.getlist(name))
        elif control.kind == "check":
            told[name] = name in visit.sent
        elif visit.word(name).strip():
            told[name] = visit.word(name).strip()
    return kind(**told)


def _engine(visit: Visit, offered: DashboardSettings) -> dict[str, Any]:
    name = visit.word("engine")
    if not name:
        return {"engine": EXTRACTIVE, "api_base": None}
    if name not in offered.models:
        raise ConfigurationError("choose an engine of the list")
    model = offered.models[name]
    return {"engine": EngineChoice(model.model), "api_base": model.api_base}
