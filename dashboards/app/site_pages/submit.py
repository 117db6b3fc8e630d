"""Page “Submit”: upload a file or text, see the estimate, start the job.

The input is stored as a draft, a job that only estimates, so that neither an error nor the back
button loses it. Nothing is paid before the last button.
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

from dashboards.app.fields import Field
from dashboards.app.site import PageContent, Visit, controls, job_path, with_query
from dashboards.app.site_pages.jobs import NO_RUNNER, job_of
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
_CHANGED_NOTE = "The choices changed: this is what it takes now."


def show(visit: Visit) -> PageContent:
    """Show the form, filled with the input of an earlier draft or job."""
    if visit.lake.warehouse.objects is not None:
        return PageContent("Submit", (pg.text(
            "Jobs are asked for in a warehouse in a folder; in object storage `assay evaluate`"
            " does the same."),))  # fmt: skip
    draft_id = visit.query.get("draft", "")
    if not draft_id:
        return _form(visit)
    request = _request_of(job_of(visit, draft_id))
    name, content = _file_of(request)
    if ending_of(name) not in _AS_TEXT:
        return _form(visit, kind=_kind_of(request), draft_id=draft_id)
    return _form(visit, content.decode("utf-8", "replace"), _kind_of(request))


def _form(
    visit: Visit, text: str = "", kind: str = "", problem: str = "", draft_id: str = ""
) -> PageContent:
    """Return step 1, the form.

    Args:
        draft_id: the draft whose file is used unless another file or a text is given.
    """
    maximum_bytes = visit.lake.warehouse.settings.api.maximum_body_bytes
    form_markup = controls(
        "submit",
        problem=problem,
        text=text,
        kind=kind,
        kinds=[(command, form.label) for command, (_, form) in _forms().items()],
        files=[(form.label, form.files) for _, form in _forms().values() if form.files],
        draft_id=draft_id,
        draft_name=unturned(_request_of(job_of(visit, draft_id)).name) if draft_id else "",
        submission=visit.form_text("submission") or uuid4().hex,
        most_bytes=maximum_bytes,
        most=f"{maximum_bytes // 1_000_000:,} MB",
    )
    return PageContent("Submit", (), form_markup)


def take(visit: Visit) -> PageContent | Response:
    """Store the input as a draft and redirect to its estimate."""
    if visit.lake.warehouse.objects is not None:
        return show(visit)
    assert visit.form is not None
    text, kind = visit.form_text("text").replace("\r\n", "\n"), visit.form_text("kind")
    draft_id, upload = visit.form_text("draft"), visit.form.get("file")
    name, content, earlier_job = "", text.encode("utf-8", "replace"), None
    if isinstance(upload, UploadFile) and upload.filename:
        name, content = upload.filename, upload.file.read()
        if text.strip():
            return _form(visit, text, kind, _BOTH, _keep_file(visit, name, content))
    elif not text.strip():
        if not draft_id:
            return _form(visit, text, kind, _NOTHING)
        earlier_job = job_of(visit, draft_id)
        name, content = _file_of(_request_of(earlier_job))
    try:
        draft = _draft(
            visit, kind or _detect_kind(name, content), name, content, earlier_job=earlier_job
        )
    except AssayError as error:
        return _form(visit, text, kind, _sentence(error), _keep_file(visit, name, content))
    return RedirectResponse(f"/submit/{draft}", 303)


def _keep_file(visit: Visit, name: str, content: bytes) -> str:
    """Store a file as a draft despite another error; empty if it is unusable."""
    try:
        return _draft(visit, _detect_kind(name, content), name, content) if name else ""
    except AssayError:
        return ""


def show_draft(visit: Visit) -> PageContent | Response:
    """Show step 2: the entries, their estimate, and the start button."""
    return _draft_page(visit, job_of(visit), _CHANGED_NOTE if visit.query.get("changed") else "")


def _draft_page(visit: Visit, draft: Job, problem: str = "") -> PageContent | Response:
    request = _request_of(draft)
    if not request.asks_nothing:
        return RedirectResponse(job_path(draft.job_id), 303)
    is_done = draft.status.state is JobState.DONE
    estimate = read_result(draft) if is_done else {}
    blocks = list(_estimate_blocks(request, estimate)) if is_done else []
    if draft.at_work:
        is_waiting = runner_at_work(visit.lake.warehouse) is False
        blocks = [
            pg.note(NO_RUNNER if is_waiting else "Reading it, and estimating what it takes …")
        ]
    elif not is_done:
        reason = draft.status.last_word or "the estimate was stopped"
        blocks = [pg.note("It cannot be done so: ", reason)]
    _, markup = html_body(blocks, str)
    form = SUBMITTED[_kind_of(request)].web_form
    assert form is not None
    key = content_hash(_key_of(draft.job_id), length=16)
    job_id = next((name for name in job_ids(visit.lake.warehouse) if name.endswith(key)), "")
    draft_markup = controls(
        "submit_found",
        problem=problem,
        findings=Markup(markup),  # noqa: S704 escaped by its writer
        at_work=draft.at_work,
        fields=[] if draft.at_work else list(_fields(visit, request, form)),
        verb=form.verb if is_done and not job_id else "",
        already=job_path(job_id) if job_id else "",
        here=f"/submit/{draft.job_id}",
        back=with_query("/submit", draft=draft.job_id),
    )
    title = "What was found" if not draft.at_work else wording.shorten(request.name, 80)
    return PageContent(title, (), draft_markup, live=draft.at_work)


def begin(visit: Visit) -> PageContent | Response:
    """Start an estimated draft; estimate again if the choices changed."""
    draft = job_of(visit)
    request = _request_of(draft)
    if not request.asks_nothing:
        return RedirectResponse(job_path(draft.job_id), 303)
    kind = visit.form_text("kind")
    to_submit = request.to_do()
    try:
        if kind not in SUBMITTED:
            raise ConfigurationError("choose what it is from the list")
        job = SUBMITTED[kind]
        is_same_kind = kind == _kind_of(request)
        options = _options(visit, job) if is_same_kind else _default_options(job)
        is_start = visit.form_text("act") == "begin"
        if not (is_start and is_same_kind and options == to_submit.options):
            query = "?changed=1" if is_start else ""
            draft_id = _draft(visit, kind, *_file_of(request), options, draft)
            return RedirectResponse(f"/submit/{draft_id}{query}", 303)
        if draft.status.state is not JobState.DONE:
            raise ConfigurationError("wait until it is known what this takes")
        job_request = to_submit.model_copy(update={"idempotency_key": _key_of(draft.job_id)})
        check_offered(job_request, visit.lake.warehouse.settings.dashboard)
        return RedirectResponse(job_path(submit(visit.lake.warehouse, job_request)), 303)
    except AssayError as error:
        return _draft_page(visit, draft, _sentence(error))


def _key_of(draft_id: str) -> str:
    """Return the idempotency key that makes a draft at most one job."""
    return f"submitted {draft_id}"


def _draft(
    visit: Visit,
    kind: str,
    name: str,
    content: bytes,
    options: DeclaredOptions | None = None,
    earlier_job: Job | None = None,
) -> str:
    """Start the estimate of a job; return the draft's name, one per submission.

    Args:
        earlier_job: the draft or job whose file or text is reused.

    Raises:
        ConfigurationError: the kind is unknown or not offered, or does not fit the content.
    """
    if kind not in SUBMITTED:
        raise ConfigurationError("choose what it is from the list")
    job, warehouse = SUBMITTED[kind], visit.lake.warehouse
    options = options or _default_options(job)
    content_fields = job.of_file(name, content)
    words = name or content.decode("utf-8", "replace")
    title = next((line.strip("# \t") for line in words.splitlines() if line.strip("# \t")), name)
    submission = visit.form_text("submission")
    if earlier_job is not None:
        title, submission = _request_of(earlier_job).name, earlier_job.job_id
    digest = content_hash(content.hex(), name)
    request = job(
        name=wording.shorten(unturned(title), _NAME_CHARACTERS) or job.name_of_command(),
        asked_by="dashboard" if visit.person is None else visit.person.name,
        created_at=datetime.now(UTC),
        idempotency_key=_DRAFT + content_hash(submission, kind, digest, options.model_dump_json()),
        options=options,
        **content_fields,
    ).to_estimate()
    check_offered(request, warehouse.settings.dashboard)
    _delete_old_drafts(warehouse)
    return submit(warehouse, request)


def _delete_old_drafts(warehouse: Warehouse) -> None:
    """Delete drafts older than `DRAFTS_KEPT` that became no job."""
    now = datetime.now(UTC)
    for job in jobs(warehouse):
        request, finished_at = job.request, job.status.finished_at
        if request is None or finished_at is None or not request.idempotency_key.startswith(_DRAFT):
            continue
        if request.asks_nothing and now - finished_at > DRAFTS_KEPT:
            forget(job)


def _request_of(job: Job) -> WorkJob:
    if job.request is None or _kind_of(job.request) not in SUBMITTED:
        raise ConfigurationError("this job was not submitted here: begin with a new file or text")
    return job.request


def _kind_of(request: WorkJob) -> str:
    return str(getattr(request, "of", request.command))


def _file_of(request: WorkJob) -> tuple[str, bytes]:
    """Return name and content of a request's file, under the reader's name."""
    name, content = request.as_file
    ending = ending_of(request.name)
    return (request.name if name and ending == ending_of(name) else name), content


def _detect_kind(name: str, content: bytes) -> str:
    """Return the likeliest kind of a file or text; else the first."""
    ending, text = ending_of(name), content.decode("utf-8", "replace")
    return next(
        (command for command, (_, form) in _forms().items() if form.resembles(ending, text)),
        next(iter(SUBMITTED)),
    )


@cache
def _forms() -> dict[str, tuple[type[WorkJob], WebForm]]:
    return {name: (job, job.web_form) for name, job in SUBMITTED.items() if job.web_form}


def _sentence(error: AssayError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _estimate_blocks(request: WorkJob, estimate: Mapping[str, Any]) -> Iterator[pg.Block]:
    counts = estimate.get("counts") or {
        name: estimate[name] for name in ("ideas", "evaluated", "rejected", "not_covered")
    }
    requests = counts.pop("literature_requests", estimate.get("literature_requests"))
    counts_in_words = [_count_in_words(count, name) for name, count in counts.items() if count]
    titles = estimate.get("titles") or [request.title]
    yield pg.facts(*counts_in_words)
    more_count = counts.get("ideas", 0) - len(titles)
    yield from pg.bullets(wording.shorten(str(each), 160) for each in titles)
    if more_count > 0:
        yield pg.text(f"and {more_count:,} more")
    if note := estimate.get("note"):
        yield pg.text(f"{note[:1].upper()}{note[1:]}.")
    rejected_entries = estimate.get("rejected_entries", ())
    rows = [
        (each["location"], wording.reason(each["reason"]), each["detail"])
        for each in rejected_entries
    ]
    if rows:
        yield pg.heading("Would be rejected")
        columns = ("Where", "Why", "How to mend it")
        yield pg.table(columns, rows[:_REJECTED_SHOWN])
        if len(rows) > _REJECTED_SHOWN:
            yield pg.text(f"and {len(rows) - _REJECTED_SHOWN:,} more")
    if estimate.get("lost"):
        yield pg.heading("Cannot be read")
        yield from pg.bullets(estimate["lost"])
    coverage = estimate.get("field_coverage", {}).get("not_covered", ())
    if coverage:
        yield pg.note(
            "Outside the fields that the literature covers, so that no evidence is bought: ",
            "; ".join(wording.shorten(str(each["title"]), 80) for each in coverage[:5]),
        )
    yield from pg.bullets(estimate.get("reading_remarks", ()))
    yield pg.heading("What it takes")
    yield pg.table(("", "About:"), _cost_rows(request, estimate, requests))
    if not request.options.engine.is_baseline and estimate.get("note"):
        note = str(estimate["note"])
        yield pg.text(f"{note[:1].upper()}{note[1:]}.")


def _count_in_words(count: int, name: str) -> str:
    """Format a count under its plural name in an estimate (`manuscripts_read`)."""
    first, *more = _WORDS.get(name, name.replace("_", " ")).split(" ", 1)
    return " ".join((f"{count:,}", first.removesuffix("s") if count == 1 else first, *more))


def _cost_rows(
    request: WorkJob, estimate: Mapping[str, Any], requests: int | None
) -> Iterator[tuple[str, str]]:
    cost, hours = estimate["cost_usd"], estimate.get("hours")
    price = figures.usd(float(cost)) if isinstance(cost, int | float) else "price unknown"
    yield "Cost", f"{price}, no model is asked" if request.options.engine.is_baseline else price
    yield "Model calls", figures.count(estimate["model_calls"])
    yield "Tokens", figures.count(estimate["prompt_tokens"] + estimate["completion_tokens"])
    if requests is not None:
        yield "Literature requests", figures.count(requests)
    if hours is not None:
        yield "Time", figures.duration(float(hours) * _SECONDS_PER_HOUR)


def _fields(visit: Visit, request: WorkJob, form: WebForm) -> Iterator[Field]:
    """Yield the choices; models and literatures appear by their names in the settings."""
    settings, options = visit.lake.warehouse.settings.dashboard, request.options
    kinds = [(command, each.label) for command, (_, each) in _forms().items()]
    yield Field("kind", "What it is", _kind_of(request), options=kinds)
    engine = next(
        (
            name
            for name, each in settings.models.items()
            if (EngineChoice(each.model), each.api_base) == (options.engine, options.api_base)
        ),
        "",
    )
    models = [("", "extractive (offline baseline)"), *((name, name) for name in settings.models)]
    yield Field("engine", "Engine", engine, options=models)
    if "literature" in type(options).model_fields:
        current_literature: Any = getattr(options, "literature", None)
        literature = next(
            (n for n, each in settings.literatures.items() if each == current_literature), ""
        )
        optional = SUBMITTED[_kind_of(request)].model_fields["options"].annotation
        none = "none" if getattr(optional, "literature_is_optional", False) else "as configured"
        places = [("", none), *((name, name) for name in settings.literatures)]
        yield Field("literature", "Literature", literature, options=places)
    profiles = [(name, name) for name in OFFERED_PROFILES]
    yield Field("profile", "Profile", options.profile, options=profiles)
    for name in form.options:
        yield _control(name, type(options).model_fields[name], getattr(options, name))
    cost_field = type(options).model_fields["max_cost_usd"]
    yield _control("max_cost_usd", cost_field, options.max_cost_usd, "End at this cost (USD)")


def _control(name: str, field: FieldInfo, value: Any, label: str = "") -> Field:
    words = label or name.replace("_", " ").capitalize()
    inner = get_args(field.annotation) or (field.annotation,)
    help_text = (field.description or "").replace("--", "")  # not flags in a form
    if get_origin(field.annotation) is tuple:
        options = [(str(each), str(each)) for each in inner[0]]
        return Field(name, words, [str(each) for each in value], "", options, "checks")
    if bool in inner:
        return Field(name, words, bool(value), kind="check", help=help_text)
    text = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    if date in inner:
        return Field(name, words, text, kind="date", help=help_text)
    minimum = next((each.ge for each in field.metadata if hasattr(each, "ge")), None)
    maximum = next((each.le for each in field.metadata if hasattr(each, "le")), None)
    bounds = {"min": minimum, "max": maximum, "step": "any"}
    return Field(name, words, text, kind="number", help=help_text, attributes=bounds)


def _default_options(job: type[WorkJob]) -> DeclaredOptions:
    options: type[DeclaredOptions] = job.model_fields["options"].annotation  # type: ignore[assignment]
    return options(max_cost_usd=_USUAL_BOUND_USD)


def _options(visit: Visit, job: type[WorkJob]) -> DeclaredOptions:
    """Return the submitted options; raise ConfigurationError if one is not offered."""
    assert visit.form is not None and job.web_form is not None
    kind: type[DeclaredOptions] = job.model_fields["options"].annotation  # type: ignore[assignment]
    settings = visit.lake.warehouse.settings.dashboard
    values: dict[str, Any] = {"profile": visit.form_text("profile"), **_engine(visit, settings)}
    literature = visit.form_text("literature")
    if literature:
        if literature not in settings.literatures or "literature" not in kind.model_fields:
            raise ConfigurationError("choose a literature of the list")
        values["literature"] = settings.literatures[literature]
    for name in (*job.web_form.options, "max_cost_usd"):
        control = _control(name, kind.model_fields[name], kind.model_fields[name].default)
        if control.kind == "checks":
            values[name] = ",".join(str(each) for each in visit.form.getlist(name))
        elif control.kind == "check":
            values[name] = name in visit.form
        elif visit.form_text(name).strip():
            values[name] = visit.form_text(name).strip()
    return kind(**values)


def _engine(visit: Visit, settings: DashboardSettings) -> dict[str, Any]:
    name = visit.form_text("engine")
    if not name:
        return {"engine": EXTRACTIVE, "api_base": None}
    if name not in settings.models:
        raise ConfigurationError("choose an engine of the list")
    model = settings.models[name]
    return {"engine": EngineChoice(model.model), "api_base": model.api_base}
