"""Two people, signed in with two browsers, vote on the demo's groups: the ranking follows."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from schemas.base import replace
from schemas.identifiers import RunId
from schemas.people.role import Role
from schemas.people.votes import Choice, HumanVote, Track
from tests.end_to_end.test_accessibility import AXE, BEYOND, FINDINGS
from tests.end_to_end.test_hostile_pages import see_that_nothing_was_touched
from tests.support.assay_command import assay, wait_until
from tests.support.assay_here import assay_here
from tests.support.browser import WAIT_SECONDS, Reader, dashboard, needs_chromium, reader_of
from tests.support.demo_run import DemoRun
from tests.support.evaluations import make_run
from tests.support.report_lake import hostile_evaluation, publish_report_lake
from warehouse.app.accounts import add_account
from warehouse.app.database import ServiceDatabase
from warehouse.app.records import records_of
from warehouse.app.voting import VOTES, contests
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

pytestmark = [pytest.mark.end_to_end, needs_chromium, pytest.mark.timeout(900), pytest.mark.long]

PASSWORD = "correct horse battery"
MARKUP = '<img src=x onerror="window.touched=1"><b id="touched">bold</b> [a](javascript:touched=1)'
PHONE = (390, 844)
PAIRS_EACH = 4
QUESTION = "How well do language models find papers? <b id=touched>Name your model.</b>"
NAMES = ("extractive", "economy", "faithful", "USD", "ask-")


@pytest.fixture(scope="module")
def warehouse(
    demo: DemoRun, bare_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Warehouse:
    """The demo's lake, with accounts for two voters."""
    folder = tmp_path_factory.mktemp("votes") / "warehouse"
    found = Warehouse(Path(shutil.copytree(demo.untouched, folder)))
    for name in ("ada", "bob"):
        command = ("accounts", "add", name, "--role", "voter", "--warehouse", str(found.root))
        done = assay_here(*command, env=bare_env, stdin=f"{PASSWORD}\n")
        assert done.returncode == 0, done.stderr
    return found


@pytest.fixture(scope="module")
def address(warehouse: Warehouse, bare_env: dict[str, str]) -> Iterator[str]:
    env = {**bare_env, "ASSAY_VOTING__CHECK_SHARE": "0"}
    with dashboard(warehouse.root, env, warehouse.root.parent / "log") as running:
        yield running


def enter(reader: Reader, name: str, place: str = "decide/votes") -> None:
    reader.page.goto(f"{reader.base_url}/{place}")
    reader.sign_in(name, PASSWORD)
    expect(reader.page.locator("main#main")).to_be_visible()
    reader.settle()


def cast(warehouse: Warehouse) -> list[HumanVote]:
    with ServiceDatabase(warehouse) as database:
        return list(records_of(database, VOTES, HumanVote))


def preferred(reader: Reader) -> str:
    """The side whose title comes first in the alphabet: the taste of both voters."""
    titles = {side: reader.page.locator(f"#text-{side} h3").first for side in "AB"}
    return min("AB", key=lambda side: titles[side].inner_text())


def counted(warehouse: Warehouse, count: int) -> bool:
    with ServiceDatabase(warehouse) as database:
        return sum(one.vote_count for _, one in contests(database) if one is not None) == count


def ranked(warehouse: Warehouse, env: dict[str, str], *options: str) -> dict[str, object]:
    command = ("rank", "--warehouse", str(warehouse.root), "--json", *options)
    done = assay(*command, env=env)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_two_voters_in_two_browsers_vote_and_the_ranking_changes(
    browser: Browser, address: str, warehouse: Warehouse, bare_env: dict[str, str], tmp_path: Path
) -> None:
    # Elo is there for votes alone; one that finds two ideas alike moves it least.
    rows: Any = ranked(warehouse, bare_env)["rows"]
    one, other = [row["idea_id"] for row in rows if row["group"] == rows[0]["group"]][:2]
    tie = {"first": one, "second": other, "winner": "tie", "voter": "eve", "voted_at": "2026-01-01"}
    (tmp_path / "votes.jsonl").write_text(json.dumps(tie))
    before = ranked(warehouse, bare_env, "--votes", str(tmp_path / "votes.jsonl"))
    with (
        reader_of(browser, address) as ada,
        reader_of(browser, address, width=PHONE[0], height=PHONE[1]) as bob,
    ):
        enter(ada, "ada")
        enter(bob, "bob")
        for number in range(PAIRS_EACH):
            side = preferred(ada)
            ada.page.get_by_role("button", name=f"{side} is better").click()
            wait_until(
                lambda n=number: len(cast(warehouse)) == 2 * n + 1, WAIT_SECONDS, "ada's vote"
            )
            ada.read(f"Answered in the last day: {number + 1} of")

            if number == 0:
                reason = bob.page.get_by_label("Why (optional)")
                reason.fill(MARKUP)
                reason.press("End")
                reason.press("a")  # a letter of the reason, not an answer
                reason.blur()
                bob.settle()
                assert len(cast(warehouse)) == 1
            bob.page.keyboard.press(preferred(bob).lower())
            wait_until(
                lambda n=number: len(cast(warehouse)) == 2 * n + 2, WAIT_SECONDS, "bob's vote"
            )
            bob.read(f"Answered in the last day: {number + 1} of")
        ada.keep("vote")
        bob.keep("vote_on_a_phone")
        sides = [bob.page.locator(f"#text-{side}").bounding_box() for side in "AB"]
        assert sides[0] is not None
        assert sides[1] is not None
        assert sides[0]["y"] + sides[0]["height"] <= sides[1]["y"]
        width = "document.documentElement.scrollWidth"
        assert bob.page.evaluate(width) <= PHONE[0]

        votes = cast(warehouse)
        wait_until(lambda: counted(warehouse, len(votes)), WAIT_SECONDS, "the standings")
        ada.open("decide/standings")
        ada.read("attention checks left out")
        expect(ada.page.locator("#touched")).to_have_count(0)
        assert ada.page.evaluate("window.touched") is None
        assert ada.troubles == bob.troubles == []

    by_voter = {
        voter: [vote for vote in votes if vote.voter == voter] for voter in {v.voter for v in votes}
    }
    assert [len(own) for own in by_voter.values()] == [PAIRS_EACH, PAIRS_EACH]
    for own in by_voter.values():
        assert len({frozenset((vote.first_id, vote.second_id)) for vote in own}) == PAIRS_EACH
    assert {vote.choice for vote in votes} <= {Choice.FIRST, Choice.SECOND}
    assert [vote.reason for vote in votes if vote.reason] == [f"{MARKUP}a"]
    after = ranked(warehouse, bare_env, "--votes", "lake")
    assert strengths(after) != strengths(before)
    winners = {vote.first_id if vote.choice is Choice.FIRST else vote.second_id for vote in votes}
    losers = {vote.first_id if vote.choice is Choice.SECOND else vote.second_id for vote in votes}
    for idea in winners - losers:
        assert strengths(after)[idea] > strengths(before)[idea]


def test_two_people_ask_at_once_and_vote_on_answers_without_names(
    browser: Browser, address: str, warehouse: Warehouse
) -> None:
    before = len(cast(warehouse))
    with (
        reader_of(browser, address) as ada,
        reader_of(browser, address, width=PHONE[0], height=PHONE[1]) as bob,
    ):
        for reader, name in ((ada, "ada"), (bob, "bob")):
            enter(reader, name, "decide/ask")
            reader.page.get_by_label("Your question").fill(QUESTION)
            reader.page.get_by_role("button", name="See what it takes").click()
            reader.read("nothing is paid")
            reader.keep(f"question_of_{name}")
            reader.page.get_by_role("button", name="Ask", exact=True).click()
        for reader in (ada, bob):
            reader.read("A is better")
            said = reader.page.locator("main").inner_text()
            assert QUESTION in said
            assert not [name for name in NAMES if name in said]
            expect(reader.page.locator("#touched")).to_have_count(0)
        ada.keep("answers_to_a_question")
        bob.keep("answers_to_a_question_on_a_phone")
        assert bob.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        bob.page.evaluate(AXE)
        assert bob.page.evaluate(FINDINGS) == []
        ada.open("decide/ask")  # the same question, in another window
        ada.page.get_by_role("button", name="A is better").click()
        ada.read("Two engines or profiles answer it")
        bob.page.keyboard.press("g")
        bob.read("Two engines or profiles answer it")
        assert ada.troubles == bob.troubles == []
    found = cast(warehouse)[before:]
    assert [(vote.track, vote.group) for vote in found] == [(Track.SURVEYS, QUESTION)] * 2
    assert len({vote.voter for vote in found}) == 2
    assert len({vote.run_id for vote in found} | {vote.second_run_id for vote in found}) == 2


def strengths(answer: dict[str, object]) -> dict[str, float]:
    rows = answer["rows"]
    assert isinstance(rows, list)
    return {row["idea_id"]: row["strength"] for row in rows}


@pytest.mark.parametrize("width", [390, 1440])
def test_hostile_reviews_are_voted_on_and_run_nothing(
    browser: Browser, width: int, tmp_path: Path, bare_env: dict[str, str]
) -> None:
    warehouse = publish_report_lake(tmp_path / "lake")
    again = replace(hostile_evaluation(), run_id=RunId("run-b"), evaluation_key="e" * 64)
    land(warehouse, again)
    assert publish(warehouse, RUNS, make_run("run-b", evaluated_count=1)).published
    with ServiceDatabase(warehouse) as database:
        add_account(database, "ada", Role.VOTER, PASSWORD)
    env = {**bare_env, "ASSAY_VOTING__CHECK_SHARE": "0.5"}
    with (
        dashboard(warehouse.root, env, tmp_path / "log") as address,
        reader_of(browser, address, width=width) as ada,
    ):
        enter(ada, "ada", "decide/votes?track=reviews")
        see_that_nothing_was_touched(ada)
        ada.page.evaluate(AXE)
        assert ada.page.evaluate(FINDINGS) == []
        assert ada.page.evaluate(BEYOND) == []
        ada.page.get_by_role("button", name="Both are bad").click()
        ada.read("You have seen every pair")
        see_that_nothing_was_touched(ada)
    (vote,) = cast(warehouse)
    assert (vote.choice, {vote.run_id, vote.second_run_id}) == (
        Choice.BOTH_BAD,
        {"run-a", "run-b"},
    )
