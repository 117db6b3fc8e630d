"""Decisions: by those who are asked, once, about what was asked; names and reasons lie apart."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from pydantic import ValidationError

from schemas.base import replace
from schemas.errors import ConfigurationError, ConflictError, NotAllowedError, UnknownNameError
from schemas.identifiers import RunId
from schemas.people.decisions import LONGEST_REASON, Decision, GivenAnswer, Request, Verdict
from schemas.people.ledger import Participant, ParticipantKind
from tests.support.evaluations import make_evaluation, make_run, with_other_words
from tests.support.votes import make_vote
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.app.decisions import decide, decisions, open_requests, request_all
from warehouse.app.people import (
    add_participant,
    forget,
    participant_with,
    participants,
    pseudonym_of,
    reason_of,
)
from warehouse.app.records import fold_into_lake, record
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.lake import rows_in
from warehouse.ledger import ledger_of_run, parts_of
from warehouse.units.publish import publish
from warehouse.verify.verify_ledger import verify_ledger
from warehouse.warehouse import Warehouse

RUN, IDEA = RunId("run-a"), "idea-00000"
SECRET = "Grace Hopper told me that the founder is ill"


@pytest.fixture
def warehouse(two_ideas: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(two_ideas.root, tmp_path / "w"))


@dataclass(frozen=True)
class Desk:
    """A participant, and what is asked of them and answered."""

    warehouse: Warehouse
    database: ServiceDatabase
    ada: Participant

    def ask(self) -> Request:
        with self.warehouse.reader() as connection:
            request = Request(
                request_id="r1",
                run_id=RUN,
                unit_id=IDEA,
                stage=None,
                parts=parts_of(connection, RUN, IDEA),
                asked_by=None,
                asked_of=(self.ada.participant_id,),
                requested_at=datetime(2026, 3, 1, tzinfo=UTC),
            )
        request_all(self.database, [request])
        return request

    def answer(
        self,
        verdict: Verdict = Verdict.APPROVED,
        request: str = "r1",
        who: Participant | None = None,
        **more: object,
    ) -> Decision:
        told, by = GivenAnswer(verdict=verdict, **more), (who or self.ada).participant_id
        with self.warehouse.reader() as connection:
            return decide(self.database, connection, request, by, told)

    def change_services(self, *statements: str) -> None:
        with closing(sqlite3.connect(services_file(self.warehouse), isolation_level=None)) as file:
            for sql in statements:
                file.execute(sql)


@pytest.fixture
def desk(warehouse: Warehouse, database: ServiceDatabase) -> Desk:
    return Desk(warehouse, database, add_participant(database, "Ada Lovelace", key="ada"))


def evaluate_anew(warehouse: Warehouse) -> None:
    land(warehouse, with_other_words(make_evaluation(0)))
    publish(warehouse, RUNS, make_run(ideas=2))


def test_a_request_waits_until_it_is_answered(desk: Desk) -> None:
    request = desk.ask()
    assert list(open_requests(desk.database)) == [request]
    assert list(open_requests(desk.database, "p-other")) == []
    decision = desk.answer(reason="sound")
    assert list(open_requests(desk.database)) == []
    assert decisions(desk.database) == {"r1": decision}
    assert (decision.role, decision.version_sha256) == ("validation", request.version_sha256)
    assert reason_of(desk.database, decision.reason_sha256) == "sound"


def test_a_comment_ends_nothing(desk: Desk) -> None:
    desk.ask()
    for _ in range(2):
        desk.answer(Verdict.COMMENTED, reason="which data?")
    assert len(list(open_requests(desk.database))) == 1


def test_a_decision_is_in_lake_and_ledger_without_name_and_reason(desk: Desk) -> None:
    desk.ask()
    desk.answer(Verdict.REJECTED, reason=SECRET)
    assert fold_into_lake(desk.warehouse) == {"requests": 1, "decisions": 1}
    with desk.warehouse.reader() as connection:
        rows = rows_in(connection, "from decisions")
        requested, rejected = ledger_of_run(connection, RUN)[-2:]
    assert (requested.action, rejected.action) == ("requested", "rejected")
    assert (rejected.participant_id, rejected.unit_id) == (desk.ada.participant_id, IDEA)
    assert rejected.reason_sha256 == rows[0]["reason_sha256"]
    assert verify_ledger(desk.warehouse).sound
    written = b"".join(
        path.read_bytes() for path in desk.warehouse.lake.rglob("*") if path.is_file()
    )
    assert b"Lovelace" not in written
    assert SECRET.encode() not in written


def test_a_choice_names_one_of_the_alternatives_or_sends_them_back(desk: Desk) -> None:
    request = desk.ask()
    choices = ("two reactors", "one reactor")
    for name in ("r2", "r3"):
        request_all(desk.database, [replace(request, request_id=name, options=choices)])
    for verdict, choice in (
        (Verdict.APPROVED, None),
        (Verdict.CHOSEN, None),
        (Verdict.CHOSEN, 0),
        (Verdict.CHOSEN, 3),
        (Verdict.SENT_BACK, 1),
    ):
        with pytest.raises(ConfigurationError):
            desk.answer(verdict, "r2", choice=choice)
    with pytest.raises(ConfigurationError, match="by its number, 1 to 2"):
        desk.answer(Verdict.CHOSEN, "r2")
    assert desk.answer(Verdict.CHOSEN, "r2", choice=2).choice == 2
    sent = desk.answer(Verdict.SENT_BACK, "r3", reason="neither is cheap")
    assert reason_of(desk.database, sent.reason_sha256) == "neither is cheap"
    with pytest.raises(ConfigurationError, match="approve or reject"):
        desk.answer(Verdict.CHOSEN, choice=1)


def test_a_decision_on_what_has_changed_is_refused_with_what_changed(desk: Desk) -> None:
    desk.ask()
    evaluate_anew(desk.warehouse)
    with pytest.raises(ConflictError, match="changed since it was asked: soundness_reviews"):
        desk.answer()
    assert decisions(desk.database) == {}


def test_an_approval_of_another_version_than_was_looked_at_is_refused(desk: Desk) -> None:
    request = desk.ask()
    for other in ("abc", "", request.version_sha256[:6], "0" * 12):
        with pytest.raises(ConflictError, match=f"not about {other}$"):
            desk.answer(version_sha256=other)
    # An inbox prints less of it.
    assert desk.answer(version_sha256=request.version_shown)


class TestAnAttacker:
    """Gets nowhere."""

    def test_who_replays_a_decision_is_refused(self, desk: Desk) -> None:
        desk.ask()
        first = desk.answer(Verdict.REJECTED)
        for verdict in (Verdict.REJECTED, Verdict.APPROVED):
            with pytest.raises(ConflictError, match="answered before"):
                desk.answer(verdict, reason="again")
        assert decisions(desk.database) == {"r1": first}
        assert desk.database.rows("people", "key")
        with desk.database.transaction() as work:
            assert not work.remove("reasons", participant_id="nobody")

    def test_who_answers_the_request_of_another_is_refused(self, desk: Desk) -> None:
        desk.ask()
        other = add_participant(desk.database, "Mallory")
        for verdict in Verdict:
            with pytest.raises(NotAllowedError):
                desk.answer(verdict, who=other)

    def test_who_is_unknown_or_forgotten_is_refused(self, desk: Desk) -> None:
        desk.ask()
        forget(desk.warehouse, desk.ada.participant_id)
        with pytest.raises(UnknownNameError):
            desk.answer()
        with pytest.raises(UnknownNameError):
            desk.answer(request="r1' or 1=1 --")

    def test_who_makes_a_second_participant_of_an_account_is_refused(self, desk: Desk) -> None:
        with pytest.raises(ConflictError):
            add_participant(desk.database, "Mallory", key="ada")
        assert participant_with(desk.database, "ada") == desk.ada

    def test_a_model_gets_no_role_of_a_person(self, desk: Desk) -> None:
        assert add_participant(desk.database, "gpt", ParticipantKind.MODEL).role == "tool"

    def test_a_reason_without_end_is_refused_and_markup_stays_text(self, desk: Desk) -> None:
        desk.ask()
        with pytest.raises(ValidationError, match="at most"):
            desk.answer(reason="x" * (LONGEST_REASON + 1))
        markup = "<script>alert(1)</script>'; drop table decisions; --"
        decision = desk.answer(reason=markup)
        assert reason_of(desk.database, decision.reason_sha256) == markup


@pytest.mark.parametrize(
    "sql",
    [
        "update reasons set reason = 'unsound'",
        pytest.param("update reasons set salt = ''", marks=pytest.mark.long),
        pytest.param("delete from reasons", marks=pytest.mark.long),
    ],
)
def test_a_reason_that_is_not_the_one_whose_hash_was_recorded_is_named(
    sql: str, desk: Desk
) -> None:
    desk.ask()
    desk.answer(reason="sound")
    fold_into_lake(desk.warehouse)
    desk.change_services(sql)
    (problem,) = verify_ledger(desk.warehouse).problems
    assert problem.startswith("decisions: the reason of r1 ")


def test_a_reason_that_is_gone_with_its_person_is_noticed_unless_the_ledger_says_so(
    desk: Desk,
) -> None:
    desk.ask()
    desk.answer(reason="sound")
    fold_into_lake(desk.warehouse)
    desk.change_services("delete from reasons", "delete from people")
    report = verify_ledger(desk.warehouse)
    assert report.sound
    (notice,) = report.notices
    assert "1 people who gave reasons of decisions are gone" in notice


def test_who_is_forgotten_leaves_neither_name_nor_reason_while_counts_and_chain_stay(
    desk: Desk,
) -> None:
    desk.ask()
    decision = desk.answer(Verdict.REJECTED, reason=SECRET)
    fold_into_lake(desk.warehouse)
    desk.database.close()
    forget(desk.warehouse, desk.ada.participant_id)
    report = verify_ledger(desk.warehouse)
    assert (report.problems, report.notices) == ((), ())
    assert participants(desk.database) == ()
    assert reason_of(desk.database, decision.reason_sha256) is None
    with desk.warehouse.reader() as connection:
        counted = rows_in(connection, "select count(*) as n from ledger where action = 'rejected'")
        (last,) = rows_in(connection, "from ledger order by sequence desc limit 1")
    assert counted == [{"n": 1}]
    assert (last["action"], last["participant_id"]) == ("forgotten", desk.ada.participant_id)
    files = services_file(desk.warehouse).parent.glob("services.sqlite*")
    left = b"".join(path.read_bytes() for path in files)
    assert b"Lovelace" not in left
    assert SECRET.encode() not in left
    assert desk.ada.participant_id.encode() in left


def test_the_reasons_of_votes_go_with_the_name_and_the_votes_stay(desk: Desk) -> None:
    mine = replace(make_vote("v1"), voter=desk.ada.participant_id, reason=SECRET)
    other = replace(make_vote("v2"), voter="p-other", reason="clearer")
    with desk.database.transaction() as work:
        for vote in (mine, other):
            record(work, "human_votes", vote)
    fold_into_lake(desk.warehouse)
    forget(desk.warehouse, desk.ada.participant_id)
    with desk.warehouse.reader() as connection:
        held = rows_in(connection, "select vote_id, voter, reason from human_votes order by 1")
        voted = rows_in(connection, "select participant_id from ledger where action = 'voted'")
    assert [row["reason"] for row in held] == [None, "clearer"]
    assert [row["participant_id"] for row in voted] == [desk.ada.participant_id, "p-other"]
    assert verify_ledger(desk.warehouse).sound


def test_the_same_reason_has_another_hash_each_time_so_that_it_cannot_be_guessed(
    desk: Desk,
) -> None:
    desk.ask()
    first, second = (desk.answer(Verdict.COMMENTED, reason="no").reason_sha256 for _ in range(2))
    assert first != second


def test_an_account_keeps_its_pseudonym_until_it_is_forgotten(desk: Desk) -> None:
    first = pseudonym_of(desk.database, "grace@example.org")
    assert pseudonym_of(desk.database, "grace@example.org") == first
    assert "grace" not in first
    forget(desk.warehouse, first)
    assert pseudonym_of(desk.database, "grace@example.org") != first


def test_a_request_shows_what_it_is_about(desk: Desk) -> None:
    request = desk.ask()
    names = {part.rpartition("=")[0] for part in request.parts}
    assert {"idea", "soundness_reviews soundness_review"} <= names
    assert orjson.loads(request.model_dump_json())["parts"]
