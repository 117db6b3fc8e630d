"""Submit and the pages of jobs: what is given, what is found, what is asked of the job runner."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from pydantic import ValidationError
from starlette.testclient import TestClient

from dashboards.app.site import job_path
from dashboards.app.site_pages import jobs as job_page
from dashboards.app.site_pages.jobs import NO_RUNNER, estimates_of
from flows.works.evaluate.request import bundled_file
from schemas.errors import ConfigurationError, UpstreamError
from schemas.options.commands import EvaluateOptions
from schemas.people.job import EvaluateJob, JobRequest, JobState, JobStatus
from schemas.people.role import Role
from schemas.run import Module
from schemas.settings import ModelChoice
from schemas.works.check_run import CheckJob
from schemas.works.survey_run import AskJob, SurveyJob
from tasks.ideas.read import read_ideas
from tests.support.evaluations import make_planned
from tests.support.jobs import TEXT, evaluate_job, known, plan_job, run_to_the_end
from tests.support.report_lake import HOSTILE_TEXT
from tests.support.site import Page, opened, pressed, signed_in, site_of
from warehouse.app.jobs import job_ids, runner_lock, submit, write_status
from warehouse.parquet import write_bytes
from warehouse.progress import announce
from warehouse.warehouse import Warehouse

MODELS = {"Small": {"model": "openai/small", "api_base": "http://127.0.0.1:9/v1"}}
PDF = b"%PDF-1.4\n%made for a test\n"


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    found = Warehouse(tmp_path / "warehouse")
    found.root.mkdir()
    return found


def asked_of(warehouse: Warehouse) -> list[JobRequest]:
    """Jobs that do something, without the drafts."""
    found = [known(warehouse, job_id).request for job_id in job_ids(warehouse)]
    return [each for each in found if each is not None and not each.asks_nothing]


def given(site: TestClient, text: str = "", **fields: str) -> Any:
    return site.post("/submit", data={"submission": "one", "text": text, **fields})


def sent(site: TestClient, name: str, content: bytes, **fields: str) -> Any:
    told = {"submission": "one", "text": "", **fields}
    return site.post("/submit", data=told, files={"file": (name, content)})


def draft_of(warehouse: Warehouse, answer: Any) -> str:
    """The draft that a reader is led to, as if its estimate had been made."""
    assert answer.status_code == 303, Page(answer).words
    job_id = str(answer.headers["location"].rpartition("/")[2].partition("?")[0])
    estimate(warehouse, job_id)
    return job_id


def estimate(warehouse: Warehouse, job_id: str) -> None:
    job = known(warehouse, job_id)
    found = (
        b'{"ideas": 7, "evaluated": 0, "rejected": 1, "not_covered": 0, "titles": ["<b>One</b>"],'
        b' "rejected_entries": [{"location": "line 9", "reason": "too_short", "detail":'
        b' "the text has fewer than 5 words"}], "cost_usd": 0.25, "model_calls": 12,'
        b' "prompt_tokens": 900, "completion_tokens": 100, "hours": 0.5,'
        b' "literature_requests": 40}'
    )
    write_bytes(job.result, found)
    write_status(job, JobStatus(state=JobState.DONE, finished_at=datetime.now(UTC)))


def begun(site: TestClient, draft: str, **changes: Any) -> Any:
    page = opened(site, f"/submit/{draft}")
    return pressed(site, page, "Estimate again", act="begin", **changes)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("", b"", "choose a file, or write or paste a text"),
        ("", b"Three words only", "at least 5 words"),
        ("ideas.docx", b"PK\x03\x04", "ends in none of"),
        ("ideas.csv", b"\xff\xfe", "no UTF-8 text"),
        ("ideas.txt", b"a\x00b", "no UTF-8 text"),
        ("paper.pdf", b"no such thing", "no PDF"),
        ("ideas.parquet", b"PK\x03\x04", "no parquet file"),
    ],
)
def test_what_is_too_little_or_none_is_refused_at_once_and_what_was_written_stays(
    name: str, content: bytes, told: str, warehouse: Warehouse
) -> None:
    site = site_of(warehouse)
    page = Page(sent(site, name, content) if name else given(site, content.decode()))
    assert told in page.words
    assert page.tree.findtext(".//textarea").strip() == ("" if name else content.decode())
    assert job_ids(warehouse) == []


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("ideas.csv", b"title,text\na,b\n", EvaluateJob),
        ("ideas.yml", b"- text: an idea\n", EvaluateJob),
        ("ideas.xlsx", b"PK\x03\x04rest", EvaluateJob),
        ("Bats & moths.pdf", PDF, CheckJob),
        ("paper.tex", rb"\documentclass{article}", CheckJob),
        ("paper.md", b"A long paper. " * 2_000, CheckJob),
        ("", b"How do moths evade bats?", AskJob),
        ("", TEXT.encode(), EvaluateJob),
    ],
)
def test_what_is_given_is_recognized(
    name: str, content: bytes, kind: type[Any], warehouse: Warehouse
) -> None:
    site = site_of(warehouse)
    answer = sent(site, name, content) if name else given(site, content.decode())
    begun(site, draft_of(warehouse, answer))
    (request,) = asked_of(warehouse)
    assert type(request) is kind
    assert request.as_file[1] == content
    if name.endswith(".pdf"):
        (manuscript,) = request.manuscripts
        assert manuscript.text == b64encode(content).decode()
        assert manuscript.file == ("Bats-moths.pdf", content)


def test_a_reader_says_that_a_text_is_something_else(warehouse: Warehouse) -> None:
    site = site_of(warehouse)
    draft = draft_of(warehouse, given(site, "bats and their sonar", kind="survey"))
    begun(site, draft)
    changed = draft_of(warehouse, begun(site, draft, kind="ask"))
    assert changed != draft
    begun(site, changed)
    assert [type(each) for each in asked_of(warehouse)] == [SurveyJob, AskJob]


def test_what_was_filled_in_is_what_is_asked_for(warehouse: Warehouse) -> None:
    site = site_of(warehouse, models=MODELS)
    text = "# --profile; rm -rf / $(id) 'quoted'\nand some more words of it"
    draft = draft_of(warehouse, given(site, text))
    changed = begun(site, draft, engine="Small", modules=["soundness"], max_cost_usd="2.5")
    assert "changed=1" in changed.headers["location"], "the price of a model was not shown yet"
    assert asked_of(warehouse) == []
    begun(site, draft_of(warehouse, changed))
    (request,) = asked_of(warehouse)
    assert request.name == "--profile; rm -rf / $(id) 'quoted'"
    assert request.asked_by == "dashboard"
    assert request.as_file == ("ideas.md", text.encode())
    assert request.options == EvaluateOptions(
        engine="litellm:openai/small",
        api_base="http://127.0.0.1:9/v1",
        modules=(Module.SOUNDNESS,),
        max_cost_usd=2.5,
    )
    # Options that the form does not have reach no job.
    other = draft_of(warehouse, given(site, TEXT, submission="two"))
    begun(site, other, warehouse="/tmp", api_base="https://evil.example", scheduler="tcp://x:1")
    assert EvaluateOptions(max_cost_usd=1.0) in [each.options for each in asked_of(warehouse)]


def test_whatever_is_pressed_twice_makes_one_job(warehouse: Warehouse) -> None:
    site = site_of(warehouse)
    drafts = {draft_of(warehouse, given(site, TEXT)) for _ in range(2)}
    (draft,) = drafts
    places = {begun(site, draft).headers["location"] for _ in range(2)}
    assert len(asked_of(warehouse)) == len(places) == 1
    page = opened(site, f"/submit/{draft}")
    assert page.links("It was begun: its job") == list(places)
    draft_of(warehouse, given(site, TEXT, submission="another"))
    assert len(job_ids(warehouse)) == 3, "the same text of another visit is another draft"


def test_nothing_begins_before_it_is_known_what_it_takes(warehouse: Warehouse) -> None:
    site = site_of(warehouse)
    answer = given(site, TEXT)
    page = opened(site, answer.headers["location"])
    assert NO_RUNNER in page.words
    assert page.tree.xpath("//main[@data-live]")
    fields = {"kind": "evaluate", "profile": "economy", "modules": ["soundness", "contribution"],
              "max_cost_usd": "1", "act": "begin"}  # fmt: skip
    told = Page(site.post(answer.headers["location"], data=fields))
    assert "Wait until it is known what this takes" in told.words
    assert asked_of(warehouse) == []


def test_what_was_found_stands_with_rejections_and_what_it_takes(warehouse: Warehouse) -> None:
    site = site_of(warehouse)
    page = opened(site, f"/submit/{draft_of(warehouse, given(site, TEXT))}")
    for told in ("7 ideas", "<b>One</b>", "and 6 more", "the text is too short",
                 "fewer than 5 words", "$0.25", "30 min", "no model is asked"):  # fmt: skip
        assert told.replace("$0.25", "0.25") in page.words
    assert page.unsafe == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("engine", "litellm:openai/gpt-4.1"),
        ("literature", "https://evil.example"),
        ("profile", "/etc/passwd"),
        ("modules", "https://evil.example"),
        ("max_cost_usd", "nan"),
        ("kind", "experiment"),
        ("cutoff", "yesterday"),
    ],
)
def test_a_choice_that_a_browser_made_up_begins_nothing_and_loses_nothing(
    field: str, value: str, warehouse: Warehouse
) -> None:
    site = site_of(warehouse)
    draft = draft_of(warehouse, sent(site, "ideas.csv", b"title,text\na,b\n"))
    page = Page(begun(site, draft, **{field: value}))
    assert page.tree.xpath("//main//*[@role='alert']")
    assert job_ids(warehouse) == [draft]
    back = opened(site, page.links("Back to the file or text")[0])
    assert "ideas.csv is kept" in back.words


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"text": "And this idea beside the file."}, "a file and a text"),
        ({"kind": "ask"}, "write the question as text"),
        ({"kind": "check"}, "a manuscript ends in one of"),
        ({"kind": "no such kind"}, "choose what it is"),
    ],
)
def test_an_error_keeps_the_file(fields: dict[str, str], told: str, warehouse: Warehouse) -> None:
    site = site_of(warehouse)
    page = Page(sent(site, "night.csv", b"title,text\na,b\n", **fields))
    assert told.lower() in page.words.lower()
    assert "night.csv is kept" in page.words
    assert page.tree.findtext(".//textarea").strip() == fields.get("text", "")
    again = given(site, draft=page.form("Continue")[1]["draft"])
    begun(site, draft_of(warehouse, again))
    (request,) = asked_of(warehouse)
    assert request.as_file == ("ideas.csv", b"title,text\na,b\n")


def test_going_back_finds_the_text_again(warehouse: Warehouse) -> None:
    site = site_of(warehouse)
    draft = draft_of(warehouse, given(site, HOSTILE_TEXT))
    page = opened(site, "/submit", {"draft": draft})
    assert page.tree.findtext(".//textarea").strip() == HOSTILE_TEXT.strip()
    assert page.unsafe == []
    draft = draft_of(warehouse, sent(site, "plan.md", TEXT.encode()))
    page = opened(site, "/submit", {"draft": draft})
    assert page.tree.findtext(".//textarea").strip() == TEXT


def test_an_estimate_that_failed_says_why_and_offers_other_choices(warehouse: Warehouse) -> None:
    site = site_of(warehouse)
    draft = draft_of(warehouse, given(site, TEXT))
    failed = JobStatus(state=JobState.FAILED, exit_code=2, last_word="no such snapshot")
    write_status(known(warehouse, draft), failed)
    page = opened(site, f"/submit/{draft}")
    assert "It cannot be done so: no such snapshot" in page.words
    buttons = [each.text_content() for each in page.tree.xpath("//main//button")]
    assert buttons == ["Estimate again"]


def test_drafts_that_nobody_went_on_with_are_deleted_after_a_day(warehouse: Warehouse) -> None:
    site = site_of(warehouse)
    old = draft_of(warehouse, given(site, TEXT))
    late = JobStatus(state=JobState.DONE, finished_at=datetime.now(UTC) - timedelta(days=2))
    write_status(known(warehouse, old), late)
    of_a_program = submit(warehouse, plan_job())
    write_status(known(warehouse, of_a_program), late)
    draft_of(warehouse, given(site, f"{TEXT} And more."))
    assert old not in job_ids(warehouse)
    assert of_a_program in job_ids(warehouse)


HOSTILE_NAME = '<script>alert(1)</script> "onload=x \u202egpj.csv'


def test_hostile_names_and_texts_stay_text(warehouse: Warehouse) -> None:
    site = site_of(warehouse)
    draft = draft_of(warehouse, sent(site, HOSTILE_NAME, b"title,text\na,b\n"))
    begun(site, draft)
    begun(site, draft_of(warehouse, given(site, HOSTILE_TEXT)))
    for job_id in job_ids(warehouse):
        job = known(warehouse, job_id)
        job.log.write_text("<b>said</b> <script>alert(1)</script>\n")
        assert opened(site, job_path(job_id)).unsafe == []
        assert opened(site, "/submit", {"draft": job_id}).unsafe == []
    for path in ("/", "/work", f"/submit/{draft}"):
        page = opened(site, path)
        assert page.unsafe == []
        assert "\u202e" not in page.words


def test_only_names_of_the_settings_are_offered(warehouse: Warehouse) -> None:
    site = site_of(
        warehouse, models=MODELS, literatures={"Of 2025": "snapshot:/data/papers.parquet"}
    )
    page = opened(site, f"/submit/{draft_of(warehouse, given(site, TEXT))}")
    assert page.tree.xpath("//select[@name='engine']/option/@value") == ["", "Small"]
    assert page.tree.xpath("//select[@name='literature']/option/@value") == ["", "Of 2025"]
    assert page.tree.xpath("//main//input[@type='text' or @type='url']") == []
    for hidden in ("openai/small", "127.0.0.1:9", "/data/papers"):
        assert hidden not in page.answer.text


@pytest.mark.parametrize(
    "address", ["ftp://x", "https://user:password@x/v1", "https://x/v1 --help"]
)
def test_an_address_that_is_none_or_holds_a_password_is_not_offered(address: str) -> None:
    with pytest.raises(ValidationError):
        ModelChoice(model="openai/x", api_base=address)


def status_of(page: Page) -> str:
    (status,) = page.tree.xpath("//main//*[@role='status']")
    return str(status.text)


def test_a_job_tells_how_far_it_is_and_without_a_runner_how_to_start_one(
    warehouse: Warehouse,
) -> None:
    job_id = submit(warehouse, evaluate_job())
    site, job = site_of(warehouse), known(warehouse, job_id)
    page = opened(site, job_path(job_id))
    assert status_of(page) == "Waiting for its turn."
    assert NO_RUNNER in page.words
    with FileLock(runner_lock(warehouse)):
        assert NO_RUNNER not in opened(site, job_path(job_id)).words
    write_status(job, JobStatus(state=JobState.RUNNING, started_at=datetime.now(UTC)))
    assert status_of(opened(site, job_path(job_id))).startswith("At work for")
    announce(warehouse, make_planned("run-1", ideas_path=str(job.ideas.resolve())))
    announce(warehouse, make_planned("run-2"))
    page = opened(site, job_path(job_id))
    assert "0 of 1 idea, 0 failed, 0.00 USD of 5.00 USD." in status_of(page)
    assert page.tree.xpath("//main[@data-live]")


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (JobStatus(state=JobState.FAILED, exit_code=2, last_word="no such model; name another"),
         "Could not be done as asked: no such model; name another."),
        (JobStatus(state=JobState.DONE, exit_code=1, last_word="3 ideas: quota exceeded"),
         "Ended with failures: 3 ideas: quota exceeded."),
        (JobStatus(state=JobState.DONE, exit_code=3),
         "Ended early because the budget was spent."),
        (JobStatus(state=JobState.STOPPED), "Stopped before its end."),
        (JobStatus(state=JobState.WAITING, last_word="2 requests wait"),
         "Waiting for decisions: 2 requests wait."),
    ],
)  # fmt: skip
def test_a_job_says_in_one_sentence_how_it_stands(
    status: JobStatus, told: str, warehouse: Warehouse
) -> None:
    job_id = submit(warehouse, evaluate_job())
    write_status(known(warehouse, job_id), status)
    assert status_of(opened(site_of(warehouse), job_path(job_id))) == told


def test_a_job_is_in_the_name_of_who_asks_and_another_neither_sees_nor_stops_it(
    warehouse: Warehouse,
) -> None:
    site = signed_in(warehouse, Role.SUBMITTER)
    other = signed_in(warehouse, Role.SUBMITTER, "other")
    draft = draft_of(warehouse, given(site, TEXT))
    place = begun(site, draft).headers["location"]
    (request,) = asked_of(warehouse)
    assert request.asked_by == "submitter"
    for path in (place, f"/submit/{draft}", f"/submit?draft={draft}"):
        page = opened(other, path)
        assert page.status == 404
        assert "of yours" in page.words
        assert TEXT[:20] not in page.answer.text
    assert other.post(f"{place}/stop").status_code == 404
    assert other.post(f"/submit/{draft}", data={"act": "begin"}).status_code == 404
    assert TEXT[:20] not in opened(other, "/work").words + opened(other, "/").words
    job_id = place.rpartition("/")[2]
    assert not known(warehouse, job_id).stop_requested
    owner = signed_in(warehouse, Role.OWNER)
    for path in ("/", "/work"):
        assert place in opened(owner, path).links(TEXT[:20])
        assert place in opened(site, path).links(TEXT[:20])
    assert owner.post(f"{place}/stop").headers["location"] == place
    assert known(warehouse, job_id).stop_requested
    assert status_of(opened(site, place)).startswith("Stopping")


def test_an_estimate_beyond_the_offer_or_that_nobody_makes_is_called_off(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = {"engine": "litellm:openai/gpt-4.1", "api_base": "https://evil.example/v1"}
    with pytest.raises(ConfigurationError, match="is not offered here"):
        estimates_of(warehouse, (plan_job(**foreign),))
    assert job_ids(warehouse) == []
    monkeypatch.setattr(job_page, "PLAN_SECONDS", 0.0)
    with pytest.raises(UpstreamError, match="No job runner is at work"):
        estimates_of(warehouse, (plan_job(),))
    (job_id,) = job_ids(warehouse)
    assert known(warehouse, job_id).stop_requested


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine that runs the tests reaches a job."""
    for name in ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))


@pytest.mark.usefixtures("alone")
@pytest.mark.long
@pytest.mark.end_to_end
def test_an_idea_a_manuscript_and_a_question_are_estimated_done_and_read(
    warehouse: Warehouse,
) -> None:
    # The bundled sample covers the fields of the bundled ideas alone.
    covered = read_ideas(bundled_file("ideas.jsonl"), default_cutoff=None).ideas[0]
    paper = r"\documentclass{article}\title{Bats hear moths}\begin{document}\maketitle " + (
        "We find that bats hear moths at night in nine of ten trials. " * 20
    )
    question = "How do language models judge ideas?"
    site = site_of(warehouse)
    answers = (
        given(site, covered.text),
        sent(site, "bats paper.tex", (paper + r"\end{document}").encode()),
        given(site, question),
    )
    places = [answer.headers["location"] for answer in answers]
    run_to_the_end(warehouse)
    for place, told in zip(places, ("1 idea", "Bats hear moths", question), strict=True):
        assert told in opened(site, place).words
    jobs = [begun(site, place.rpartition("/")[2]).headers["location"] for place in places]
    run_to_the_end(warehouse)
    for job in jobs:
        page = opened(site, job)
        assert status_of(page).startswith("Done after"), page.words
        assert opened(site, page.links("Report of")[0]).status == 200
    review = next(each for each in opened(site, jobs[0]).links("") if each.startswith("/idea?"))
    assert opened(site, review).status == 200
