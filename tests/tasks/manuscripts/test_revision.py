"""A revision of a review: what a person decided, another look, both readings of what is disputed,
and nothing looked up.
"""

import json
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dashboards.views.idea.preferences import preferences_text, write_preferences
from dashboards.views.write_check import CheckPage, check_page
from flows.run.declared_campaign import DeclaredCampaign
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import PaperId, RunId
from schemas.works.check_run import CHECKS, CheckHead, CheckRequest
from schemas.works.manuscripts import Decision, ManuscriptCheck, PooledWork
from tasks.manuscripts.work import CHECK
from tests.support.checks import (
    check_here,
    check_request,
    checked_and_published,
    landed_checks,
)
from tests.support.openai_server import OpenAIServer, Recorded, start_openai_server
from warehouse.units.kind import kind_of
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.units.published_work import published_head, published_units
from warehouse.units.unit_rows import land_unit
from warehouse.warehouse import Warehouse

SHARE = "We found that 12 of 40 (25%) pebbles were round enough."
TEST = "The test was clear, t(28) = 2.20, p = .36, so we stop."
FIRST = "Nobody before us has ever sorted the pebbles of this shore."
TEXT = f"""Pebbles of the shore

Abstract

{FIRST} {SHARE}

1 Introduction

We walked along the shore for a whole day. {TEST} Then we went home again.
"""
RAISED = [
    {"problem": "The share.", "quote": SHARE, "explanation": "It is 30 %.",
     "consequence": "The share.", "confidence_percent": 80},
    {"problem": "The p-value.", "quote": TEST, "explanation": "It is .036.",
     "consequence": "The effect.", "confidence_percent": 60},
    {"problem": "Not the first.", "quote": FIRST, "explanation": "Smith was.",
     "consequence": "The claim.", "confidence_percent": 50},
]  # fmt: skip
WORK = PooledWork(
    paper_id=PaperId("s1"),
    title="Pebbles of this shore sorted",
    year=1990,
    publication_date=None,
    relevance_0_to_5=4,
    retracted=False,
    abstract="Nobody before had sorted the pebbles of the shore: Smith did.",
)


def behaviour(request: Recorded) -> str:
    """Refutes the share about as surely as it was raised, and the first claim far more surely."""
    system, asked = (message["content"] for message in request.messages[:2])
    told: dict[str, Any] = {"candidates": [], "notes": "Pebbles."}
    if "decide whether this one holds" in system:
        share = SHARE in asked[asked.index("<quote>") : asked.index("</quote>")]
        first = FIRST in asked[asked.index("<quote>") : asked.index("</quote>")]
        again = "The person who asks to look again" in asked
        told = {
            "reason": "Counted anew." if again else "Looked at.",
            "verdict": "refuted" if (share or first) and not again else "wrong",
            "confidence_percent": 75 if share else 95,
        }
    elif "You write both" in system:
        told = {"optimistic": "It is rounded.", "sceptical": "12 of 40 are 30 %.",
                "would_decide": "Divide."}  # fmt: skip
    elif "You write the review" in system:
        told = {"summary": "Pebbles were sorted.", "soundness_1_to_5": 2}
    elif "section by section, as a careful reviewer does" in system:
        told["candidates"] = RAISED
    return "text:" + json.dumps(told)


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with start_openai_server() as running:
        running.behaviour = behaviour
        yield running


def request_for(folder: Path, server: OpenAIServer, **options: Any) -> CheckRequest:
    return check_request(
        [folder / "pebbles.md"],
        warehouse=folder / "wh",
        review=True,
        engine="litellm:openai/loopback",
        api_base=server.url,
        **options,
    )


def landed(folder: Path, run_id: str) -> tuple[CheckHead, ManuscriptCheck]:
    with Warehouse(folder / "wh").reader() as connection:
        (check,) = published_units(connection, kind_of(CHECKS), RunId(run_id))
        return published_head(connection, kind_of(CHECKS), RunId(run_id)), check


@pytest.fixture(scope="module")
def reviewed(
    tmp_path_factory: pytest.TempPathFactory, server: OpenAIServer
) -> tuple[Path, CheckHead]:
    """A review with three findings, beside a work that was looked up."""
    folder = tmp_path_factory.mktemp("reviewed")
    (folder / "pebbles.md").write_text(TEXT)
    request = request_for(folder, server)
    head = DeclaredCampaign(CHECK, request).plan().head
    check = landed_checks(request, check_here(request, head.run_id), head.run_id)["pebbles"]
    known = replace(check, works=(WORK,), reference_count=0, searched_reference_count=0,
                    unanswered_count=0)  # fmt: skip
    looked_up = replace(head, run_id=RunId("check-looked-up"), literature="snapshot:pebbles")
    warehouse, now = Warehouse(folder / "wh"), datetime.now(UTC)
    land_unit(warehouse, kind_of(CHECKS), looked_up.run_id, known, now, now)
    write_head(warehouse, kind_of(CHECKS), looked_up)
    assert publish(warehouse, kind_of(CHECKS), looked_up).published
    return folder, looked_up


def preferences(folder: Path, head: CheckHead, **verdicts: str) -> Path:
    lines = [f'check = "{head.run_id}"']
    for name, verdict in verdicts.items():
        lines += ["[[findings]]", 'manuscript = "pebbles"', f'id = "{name}"',
                  f'verdict = "{verdict}"', 'remark = "Count the pebbles."']  # fmt: skip
    path = folder / "mine.toml"
    path.write_text("\n".join(lines))
    return path


def test_a_problem_refuted_about_as_surely_as_raised_is_shown_with_both_readings(
    reviewed: tuple[Path, CheckHead],
) -> None:
    folder, head = reviewed
    _, check = landed(folder, head.run_id)
    found = {one.problem: one for one in check.problems}
    share = found["The share."]
    assert share.dispute == "It was raised with 80 % confidence and refuted with 75 %."
    assert (share.optimistic, share.sceptical) == ("It is rounded.", "12 of 40 are 30 %.")
    assert not found["The p-value."].dispute
    assert not found["Not the first."].dispute
    assert found["Not the first."].refuted
    report = check_page(Warehouse(folder / "wh"), head.run_id).html()
    beside = report[report.index("Reviewers disagree; a person decides:") :]
    assert beside.index("For the authors: It is rounded.") < beside.index("Against them: 12 of")


def test_template_names_every_finding_and_never_overwrites_a_verdict(
    reviewed: tuple[Path, CheckHead], tmp_path: Path
) -> None:
    folder, head = reviewed
    checks = (landed(folder, head.run_id)[1],)
    *_, path = CheckPage(head, checks).write(tmp_path)
    told = tomllib.loads(path.read_text())
    assert told["check"] == head.run_id
    assert [one["verdict"] for one in told["findings"]] == ["", "", ""]
    edited = path.read_text().replace('verdict = ""', 'verdict = "reject"', 1)
    path.write_text(edited)
    write_preferences(tmp_path, head, checks)
    assert path.read_text() == edited
    path.write_text(edited.replace('"reject"', '""'))
    write_preferences(tmp_path, head, checks)
    assert path.read_text().startswith("# What you think of the findings")


def test_a_template_stays_toml_whatever_a_finding_holds(reviewed: tuple[Path, CheckHead]) -> None:
    folder, head = reviewed
    _, check = landed(folder, head.run_id)
    odd = replace(check.problems[0], problem='"""\n[x]\x7f\x00 \U0001f600', decision=Decision.ACCEPT,
                  remark='\x7f"\n')  # fmt: skip
    told = preferences_text(head, [replace(check, manuscript_id="a.b\x7f", problems=(odd,))])
    assert tomllib.loads(told)["findings"] == [
        {"manuscript": "a.b\x7f", "id": "a1p1", "verdict": "accept", "remark": '\x7f"\n'}
    ]


def test_a_revision_keeps_to_the_verdicts_and_looks_up_nothing(
    reviewed: tuple[Path, CheckHead], server: OpenAIServer
) -> None:
    folder, head = reviewed
    _, before = landed(folder, head.run_id)
    names = {one.problem: one.problem_id for one in before.problems}
    path = preferences(folder, head, **{
        names["The share."]: "accept", names["The p-value."]: "reject",
        names["Not the first."]: "look again"})  # fmt: skip
    asked_before = len(server.requests)
    revised = checked_and_published(request_for(folder, server, revise=path)).head
    head_after, after = landed(folder, revised.run_id)
    assert {one.problem: one.problem_id for one in after.problems} == names
    assert [(one.problem, one.stands, one.decision) for one in after.problems] == [
        ("The share.", True, Decision.ACCEPT),
        ("Not the first.", True, Decision.LOOK_AGAIN),
        ("The p-value.", False, Decision.REJECT),
    ]
    assert after.attempts[0].problem_count == 2
    assert after.problems[1].second_look == "Counted anew."
    assert (head_after.revises, head_after.literature) == (head.run_id, "snapshot:pebbles")
    assert after.works == (WORK,)
    asked = [
        request.messages[1]["content"]
        for request in server.requests[asked_before:]
        if len(request.messages) > 1 and "<quote>" in request.messages[1]["content"]
    ]
    assert len(asked) == 1, "what is decided is not looked at again, and nothing is read anew"
    assert "Nobody before had sorted the pebbles of the shore: Smith did." in asked[0]
    assert "Count the pebbles." in asked[0]
    with Warehouse(folder / "wh").reader() as connection:
        counted = "select count(*) from {} where run_id = ?"
        calls = {
            table: connection.execute(counted.format(table), [revised.run_id]).fetchone()
            for table in ("api_calls", "llm_calls")
        }
    assert calls == {"api_calls": (0,), "llm_calls": (2,)}
    report = check_page(Warehouse(folder / "wh"), revised.run_id).markdown()
    assert "A person accepted it: Count the pebbles." in report
    assert f"This revises `{head.run_id}`" in report


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ({"a1p9": "accept"}, "pebbles has no finding 'a1p9'; it has a1p1, a1p2, a1p3"),
        ({"a1p1": "aye"}, "verdict 'aye': choose accept, reject or look again"),
        ({"a1p1": ""}, "decides nothing: set a verdict to accept, reject or look again"),
        ({}, "lacks `check` or"),
    ],
)
def test_preferences_that_do_not_fit_are_refused_in_one_line(
    verdicts: dict[str, str],
    told: str,
    reviewed: tuple[Path, CheckHead],
    server: OpenAIServer,
) -> None:
    folder, head = reviewed
    path = preferences(folder, head, **verdicts)
    with pytest.raises(ConfigurationError) as refused:
        request_for(folder, server, revise=path)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_preferences_for_another_text_or_another_review_are_refused(
    reviewed: tuple[Path, CheckHead], server: OpenAIServer, tmp_path: Path
) -> None:
    folder, head = reviewed
    path = preferences(folder, head, a1p1="accept")
    (tmp_path / "pebbles.md").write_text(TEXT.replace("home again", "home"))
    changed = [tmp_path / "pebbles.md"]
    with pytest.raises(ConfigurationError, match=r"pebbles\.md has changed since check-looked-up"):
        check_request(changed, warehouse=folder / "wh", review=True, revise=path)
    with pytest.raises(ConfigurationError, match="check check-none is not published"):
        path.write_text(path.read_text().replace(head.run_id, "check-none"))
        request_for(folder, server, revise=path)
    path.write_text("check = ")
    with pytest.raises(ConfigurationError, match="is no TOML"):
        request_for(folder, server, revise=path)
    with pytest.raises(ConfigurationError, match="leave out --literature"):
        request_for(folder, server, revise=path, literature="live")
