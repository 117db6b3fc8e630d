"""Pages of the site: what they say, where they lead, and who sees them."""

import asyncio
import fcntl
import os
import re
import shutil
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dashboards.app import site as site_module
from dashboards.app.access import OPEN_ACTIONS
from dashboards.app.application import pages
from dashboards.app.changes import Changes
from dashboards.app.data import Lake, open_lake
from dashboards.app.fields import default_run
from dashboards.app.site import PAGES, idea_path, paper_path
from dashboards.app.site import Page as SitePage
from schemas.base import replace
from schemas.calls import CallStatus
from schemas.identifiers import RunId
from schemas.people.role import Action, Role
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.literature.gateway.arrival_limiter import ArrivalLimiter, Turn
from tasks.literature.gateway.live_requests import RequestRecord
from tasks.literature.gateway.messages import Attempt, Request
from tasks.web.shared_limits import SharedRateLimit
from tests.support.assessed_evaluations import make_assessed_evaluation
from tests.support.evaluations import START, make_evaluation, make_idea, make_planned, make_run
from tests.support.report_lake import HOSTILE, RUN, UNSCORED, publish_report_lake
from tests.support.site import PASSWORD, Page, opened, signed_in, site_of
from tests.support.work_of_every_kind import WORKS
from warehouse.app.accounts import remove_account, set_role
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.progress import announce
from warehouse.queries import Queries
from warehouse.source_states import RECORD_NAME
from warehouse.stores.budget_file import BudgetFile
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def site(warehouse: Warehouse) -> TestClient:
    return site_of(warehouse)


OF_THE_MENU = ["/", "/ideas", "/why", "/sure", "/work"]
OF_OPERATE = ["", "/cost", "/sources", "/quality", "/sql", "/benchmarks", "/rated"]
PART = "multipart/form-data; boundary=x; charset=unicode_escape"
NO_FORMS = [
    ("multipart/form-data", "x"),
    ("multipart/form-data; boundary=x", "x"),
    (PART, '--x\r\nContent-Disposition: form-data; name="request"\r\n\r\n\\ud800\r\n--x--\r\n'),
    (
        PART,
        '--x\r\nContent-Disposition: form-data; name="file"; filename="\\ud800"\r\n\r\n\r\n--x--',
    ),
]


def test_every_address_without_a_lake_is_answered_with_a_sentence(tmp_path: Path) -> None:
    owner, nobody = signed_in(Warehouse(tmp_path), Role.OWNER), site_of(Warehouse(tmp_path / "x"))
    for page in PAGES:
        if not page.is_post:
            answer = opened(owner, address_of(page))
            assert answer.status in (200, 400, 404), page
            assert answer.words
            continue
        for kind, body in NO_FORMS:
            sent = owner.post(address_of(page), content=body, headers={"content-type": kind})
            assert (sent.status_code, "did not arrive whole" in Page(sent).words) == (400, True)
    for path in (*OF_THE_MENU, *(f"/operate{part}" for part in OF_OPERATE)):
        page = opened(nobody, path)
        assert page.status == 200
        assert "here yet" in page.words or "No run is published yet" in page.words


def test_today_begins_with_what_is_wrong_and_leads_to_figures_and_ideas(site: TestClient) -> None:
    page = opened(site, "/")
    (status,) = page.tree.xpath("//*[@role='status']")
    assert status.text.startswith("Not in order: the budget was spent")
    assert "0 scored, 4 partly scored, 1 unscored, 1 rejected" in page.words
    assert "the text is too short" in page.words
    assert f"/operate/quality?run={RUN}&view=Unscored" in page.links("Figures")
    assert page.words.index("Alarms") < page.words.index("The evidence comes from")
    assert page.links("Idea 3") == [idea_path(RUN, "idea-00003")]
    assert "Rank 1" in page.words
    (row,) = page.table("Partly")
    assert row["State"] == "not in order"
    assert "Label" not in row
    assert page.unsafe == []


def test_an_idea_tried_by_hand_is_not_the_night(own: Warehouse) -> None:
    land(own, make_evaluation(40, run_id="run-trial", idea=make_idea(40)))
    later = START + timedelta(days=3)
    publish(own, RUNS, make_run("run-trial", started_at=later, finished_at=later))
    with own.queries() as queries:
        newest, *_ = runs = queries.list_runs()
    assert newest.run_id == "run-trial"
    assert default_run(runs).run_id == RUN
    page = opened(site_of(own), "/")
    (chosen,) = page.tree.xpath("//select[@name='run']/option[@selected]")
    assert chosen.get("value") == RUN


def test_matches_lead_where_they_rank_the_ideas(ranked: Warehouse) -> None:
    """Idea 3 has the higher score, and idea 0 beat it."""
    page = opened(site_of(ranked), "/")
    first, second, *_ = page.tree.xpath("//main//li[p/a]")
    assert "Won 2 of 2 overall verdicts" in first.text_content()
    assert idea_path(RUN, "idea-00003") not in first.xpath(".//@href")
    ranks = [each.text_content().partition("Rank ")[2][0] for each in (first, second)]
    assert ranks == sorted(ranks)
    assert "Ranks rest on matches and lead" in page.words


def test_an_address_of_nothing_is_answered_with_404_and_a_sentence(site: TestClient) -> None:
    told = ("no-such", "no ranking by matches", "nothing has such a name")
    for path in (
        *(f"{path}?run=no-such" for path in OF_THE_MENU[:4]),
        *(f"/operate{part}?run=no-such" for part in OF_OPERATE[:4]),
        *("/runs/no-such", idea_path(RUN, "no-such"), paper_path(RUN, "no-such")),
        *(f"/runs/{RUN}/ranking", "/idea?run=%00&idea=no-such"),
    ):
        page = opened(site, path)
        assert page.status == 404, path
        assert any(each in page.words for each in told), path


def test_an_address_without_a_page_is_answered_in_the_frame_of_every_page(site: TestClient) -> None:
    page = opened(site, "/<b>home")
    assert page.status == 404
    assert "nothing is at /<b>home" in page.words
    assert "Ideas" in page.menu
    assert page.unsafe == []


def test_a_run_that_is_published_while_today_is_made_does_not_break_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = publish_report_lake(tmp_path / "warehouse")
    before = open_lake(Settings(dashboard={"warehouse": warehouse.root})).runs()  # type: ignore[arg-type]
    land(warehouse, make_evaluation(0, run_id="run-new"))
    assert publish(warehouse, RUNS, make_run("run-new", ideas=1)).published
    monkeypatch.setattr(Lake, "runs", lambda _: before)
    page = opened(site_of(warehouse), "/")
    assert page.status == 200
    assert [row["Run"] for row in page.table("Partly")] == [str(RUN)]


def test_ideas_say_what_is_missing_and_a_range_in_one_format(ranked: Warehouse) -> None:
    rows = {row["Idea"]: row for row in opened(site_of(ranked), "/ideas").table("Missing")}
    assert rows["Idea 0"]["Its range"] == "−0.50 to 2.50"
    assert rows["Idea 0"]["Missing"] == "no relevant evidence was found"
    assert rows["Nothing scored"]["Soundness"] == "–"
    told = "soundness, contribution (the budget was spent)"
    assert rows["Nothing scored"]["Missing"] == told


def test_a_run_under_way_is_shown_with_its_cost_and_asks_for_a_reload(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    planned = make_planned("run-now", 4, engine="<script>alert(1)</script>")
    announce(warehouse, planned)
    land(warehouse, make_evaluation(0, run_id="run-now", calls=2))
    settings = Settings(home=tmp_path / "home", dashboard={"warehouse": tmp_path})  # type: ignore[arg-type]
    now = datetime.now(UTC)
    (call,) = make_evaluation(1, run_id="run-now", calls=1).llm_calls
    call = replace(
        call, model_requested="m", status=CallStatus.RATE_LIMITED, error="quota", created_at=now
    )
    with closing(BudgetFile(warehouse.budgets, planned.run_id, planned.budget)) as journal:
        for name in ("one", "two"):
            journal.send(name, call.idea_id, "unit", call.model_dump_json(), 0.1, 9)
        journal.settle("one", call.idea_id, 0.0, 0, call.model_dump_json())
    SharedRateLimit(warehouse.state / "limits", "m requests", 60).penalise(900)
    record = RequestRecord(warehouse.cache / RECORD_NAME, "api.semanticscholar.org", 2)
    for number in range(3):
        sent = Request("GET", "/graph/v1/paper/search", ()), 1, Turn(ArrivalLimiter(2), 0, 0)
        record.add(str(number), *sent, now.timestamp())
        record.complete(Attempt(str(number), 403, Reason.FORBIDDEN, 0, 1, 1, now.timestamp()))
    record.close()
    lock_path = warehouse.planned_run(planned.run_id).with_name("lock")
    with lock_path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        site = TestClient(pages(settings), base_url="http://127.0.0.1")
        page, operate = opened(site, "/"), opened(site, "/operate")
    (row,) = page.table("Landed")
    assert (row["State"], row["Landed"]) == ("running", "1 of 4 ideas, 0 failed")
    assert row["Cost"] == "0.0020 USD of 5.00 USD"
    assert page.tree.xpath("//main[@data-live]")
    assert page.unsafe == operate.unsafe == []
    states = {row["Source or model"]: row for row in operate.table("In its own words")}
    assert (states["m"]["State"], states["m"]["Waiting"]) == ("limited", "1")
    days = tuple(f"{now + timedelta(seconds=each):%Y-%m-%d}" for each in (0, 900))
    assert states["m"]["Until"].startswith(days)
    gateway = states["semantic scholar"]
    assert (gateway["State"], gateway["In its own words"]) == ("refuses for good", "HTTP 403")
    assert "sent 3 requests to api.semanticscholar.org, of 7,200 that" in operate.words
    assert f"process {os.getpid()} on" in operate.words
    stopped = opened(site_of(warehouse), "/")
    assert "continues where it stopped" in stopped.words


def test_ideas_are_found_by_words_and_hostile_titles_stay_text(site: TestClient) -> None:
    page = opened(site, "/ideas")
    assert page.unsafe == []
    assert idea_path(RUN, HOSTILE) in page.links("<script>")
    (row,) = opened(site, "/ideas", {"search": "IDEA-00003"}).table("Idea")
    assert row["Score"] == "unscored" or float(row["Score"]) > 0
    assert "No idea has these words" in opened(site, "/ideas", {"search": "no such"}).words


def test_assessed_ideas_have_a_verdict_in_the_list_and_on_their_page(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    land(warehouse, make_assessed_evaluation())
    assert publish(warehouse, RUNS, make_run(modules="assessment")).published
    site = site_of(warehouse)
    (row,) = opened(site, "/ideas").table("Verdict")
    review = opened(site, opened(site, "/ideas").links(row["Idea"])[0])
    assert review.words.lower().count(row["Verdict"].lower())


@pytest.mark.parametrize("idea_id", [HOSTILE, UNSCORED, "idea-00000", "idea-00003"])
def test_an_idea_is_shown_whole_and_hostile_text_stays_text(idea_id: str, site: TestClient) -> None:
    page = opened(site, idea_path(RUN, idea_id))
    assert page.status == 200
    assert page.unsafe == []
    places = [page.words.index(each) for each in ("Closest prior work", "Concerns worth most")]
    assert places == sorted(places)
    assert "Who judged what" in page.words


def test_every_judgement_names_step_prompt_and_model_and_its_calls(site: TestClient) -> None:
    page = opened(site, idea_path(RUN, "idea-00003"))
    rows = page.table("Prompt (SHA-256)")
    steps = {f"{step}, version 1" for step in ("comparison", "dimensions", "soundness review")}
    assert steps <= {row["Step"] for row in rows}
    assert {row["Model"] for row in rows} == {"small-2026-01"}
    calls = page.table("Latency")
    assert len(calls) == 6
    called = opened(site, page.links(calls[0]["Step"])[0])
    assert "No transcript was kept" in called.words


def test_a_paper_says_what_was_read_of_it_and_which_ideas_cite_it(site: TestClient) -> None:
    review = opened(site, idea_path(RUN, "idea-00000"))
    link = review.links("passages and citing ideas")[0]
    page = opened(site, link)
    assert "What was read of it" in page.words
    assert idea_path(RUN, "idea-00000") in page.links("")


def test_work_of_every_kind_is_listed_and_its_report_opens(tmp_path: Path) -> None:
    works = {work.kind.word: work for work in WORKS if work.kind is not RANKINGS}
    for word, work in works.items():
        warehouse = Warehouse(tmp_path / word)
        for number in range(2):
            work.land(warehouse, number, f"call-{number}")
        assert publish(warehouse, work.kind, work.head(warehouse)).published
        site = site_of(warehouse)
        listed = opened(site, "/work")
        (row,) = listed.table("Kind")
        assert row["Kind"] == word
        page = opened(site, listed.links(row["Name"])[0])
        assert (page.status, page.unsafe) == (200, [])
        assert site.get(f"/runs/{row['Name']}/file?format=md").status_code == 200


def test_reports_are_sent_as_files(site: TestClient) -> None:
    answer = site.get(f"/runs/{RUN}/file", params={"format": "json", "idea": "idea-00003"})
    assert answer.headers["content-disposition"] == 'attachment; filename="idea-00003.json"'
    assert answer.json()[0]["review"]
    refused = opened(site, f"/runs/{RUN}/file", {"format": "exe"})
    assert (refused.status, "choose one of" in refused.words) == (400, True)


def test_an_unchanged_page_is_not_sent_again_and_nothing_comes_from_elsewhere(
    site: TestClient,
) -> None:
    first = site.get("/ideas")
    again = site.get("/ideas", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["content-encoding"] == "gzip"
    policy = first.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    page = opened(site, "/ideas")
    loaded = page.tree.xpath("//script/@src | //link/@href")
    assert loaded
    for address in map(str, loaded):
        asset = site.get(address)
        assert asset.status_code == 200
        assert "immutable" in asset.headers["cache-control"]


def address_of(page: SitePage) -> str:
    return re.sub(r"{\w+}", "no-such", page.path)


@pytest.mark.parametrize("role", [*Role, None])
def test_who_may_not_finds_no_page_in_the_menu_and_is_refused_it_in_a_sentence(
    role: Role | None, own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None: nobody signs in."""
    monkeypatch.setattr(site_module, "read_form", None)  # no form of theirs is read
    site = site_of(own) if role is None else signed_in(own, role)
    allowed = OPEN_ACTIONS if role is None else set(filter(role.may, Action))
    for page in PAGES:
        if allowed.isdisjoint(page.needs):
            answer = site.request(page.method, address_of(page))
            if page.path == "/":
                assert answer.headers["location"] == "/decide"
                continue
            refused = Page(answer)
            told = f"may not {page.needs[0]}" if role else f"to {page.needs[0]}, sign in"
            assert (refused.status, told in refused.words) == (403, True), page
            assert refused.buttons == []
        elif not page.is_post:
            assert site.get(address_of(page)).status_code != 403, page
    if role is Role.VOTER:
        assert site.get("/decide").headers["location"] == "/decide/votes"
    found = opened(site, "/decide/standings").menu
    assert found == [page.label for page in PAGES if page.label and allowed & set(page.needs)]


def test_forms_of_other_sites_and_of_strangers_are_refused(own: Warehouse) -> None:
    site, stranger = signed_in(own, Role.OWNER), site_of(own)
    for page in PAGES:
        if page.is_post:
            refused = site.post(address_of(page), headers={"origin": "http://evil.example"})
            assert (refused.status_code, "other sites" in refused.text) == (403, True)
            assert stranger.post(address_of(page)).status_code == 403


def test_a_reader_signs_in_reads_and_signs_out(own: Warehouse) -> None:
    site, stranger = signed_in(own, Role.READER), site_of(own)
    assert stranger.get("/ideas?run=a").headers["location"] == "/sign-in?next=%2Fideas%3Frun%3Da"
    page = opened(site, "/")
    assert page.status == 200
    assert "reader, reader" in page.tree.text_content()
    kept = dict(site.cookies)
    assert site.post("/sign-out", headers={"origin": "http://evil.example"}).status_code == 403
    assert site.post("/sign-out").status_code == 303
    assert site_of(own).get("/", cookies=kept).status_code == 303


def test_one_password_for_all_opens_the_pages_until_the_sign_out(warehouse: Warehouse) -> None:
    site = site_of(warehouse, password="open sesame")
    assert site.get("/").status_code == 303
    wrong = site.post("/sign-in", data={"password": "wrong"})
    assert wrong.status_code == 403
    assert "Wrong password." in wrong.text
    assert 'name="name"' not in wrong.text
    assert site.post("/sign-in", data={"password": "open sesame"}).status_code == 303
    assert site.get("/").status_code == 200
    assert site.post("/sign-out").status_code == 303
    assert site.get("/").status_code == 303


def test_a_database_that_cannot_be_read_shows_nothing_but_that(own: Warehouse) -> None:
    own.state.mkdir(exist_ok=True)
    services_file(own).write_bytes(b"no database, however long one looks at it" * 100)
    answer = site_of(own).get("/ideas")
    assert answer.status_code == 503
    assert "is damaged" in answer.text
    assert "idea-0" not in answer.text
    told = site_of(own).post("/sign-in", data={"name": "owner", "password": PASSWORD})
    assert (told.status_code, "is damaged" in told.text) == (503, True)


def test_accounts_that_are_gone_open_the_pages_to_nobody(own: Warehouse) -> None:
    site = signed_in(own, Role.OWNER)
    assert site.get("/ideas").status_code == 200
    shutil.rmtree(own.root)
    for path in ("/ideas", "/sign-in"):
        answer = site.get(path)
        assert (answer.status_code, "is gone" in answer.text) == (503, True)


def test_a_page_names_the_file_of_the_lake_that_is_missing(own: Warehouse) -> None:
    site = site_of(own)
    assert opened(site, "/ideas").status == 200
    for file in own.root.rglob("lake/**/*.parquet"):
        file.unlink()
    page = opened(site, f"/runs/{RUN}")
    assert page.status == 400
    assert "cannot be opened: bring it back from a copy" in page.words


def test_two_questions_about_one_run_are_cached_apart(warehouse: Warehouse) -> None:
    lake = Lake(warehouse)
    for question in (Queries.ranking, Queries.rejections, Queries.step_costs):
        with lake.queries() as queries:
            assert lake.ask(question, RunId(RUN)) == question(queries, RunId(RUN))


def test_a_role_or_an_account_that_was_taken_away_is_gone_at_once(own: Warehouse) -> None:
    site = signed_in(own, Role.OWNER)
    assert opened(site, "/submit").status == 200
    with ServiceDatabase(own) as database:
        set_role(database, "owner", Role.READER)
        refused = opened(site, "/submit")
        assert (refused.status, "may not submit ideas" in refused.words) == (403, True)
        assert site.post("/submit", data={"text": "x"}).status_code == 403
        remove_account(database, "owner")
    assert site.get("/").status_code == 303


def test_what_changes_is_told_once_for_all_open_pages(own: Warehouse) -> None:
    changes = Changes(open_lake(Settings(dashboard={"warehouse": own.root})))  # type: ignore[arg-type]

    async def told() -> list[str]:
        versions = changes.versions()
        found = [await anext(versions)]
        land(own, make_evaluation(41, run_id="run-next", idea=make_idea(41)))
        assert publish(own, RUNS, make_run("run-next")).published
        return [*found, await anext(versions)]

    before, after = asyncio.run(told())
    assert before != after
