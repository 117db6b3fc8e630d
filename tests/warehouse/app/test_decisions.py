"""Decisions: by those who are asked, once, about what was asked; names and reasons lie apart."""

import shutil
import sqlite3
from contextlib import closing
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
from tests.support.evaluations import make_evaluation, make_run
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


@pytest.fixture
def ada(database: ServiceDatabase) -> Participant:
    return add_participant(database, "Ada Lovelace", key="ada")


def asked(
    warehouse: Warehouse, database: ServiceDatabase, *of: Participant, name: str = "r1"
) -> Request:
    with warehouse.reader() as connection:
        request = Request(
            request_id=name,
            run_id=RUN,
            unit_id=IDEA,
            stage=None,
            parts=parts_of(connection, RUN, IDEA),
            asked_by=None,
            asked_of=tuple(each.participant_id for each in of),
            requested_at=datetime(2026, 3, 1, tzinfo=UTC),
        )
    request_all(database, [request])
    return request


def answer(
    warehouse: Warehouse,
    database: ServiceDatabase,
    who: Participant,
    verdict: Verdict = Verdict.APPROVED,
    request: str = "r1",
    **more: object,
) -> Decision:
    with warehouse.reader() as connection:
        told = GivenAnswer(verdict=verdict, **more)
        return decide(database, connection, request, who.participant_id, told)


def evaluate_anew(warehouse: Warehouse) -> None:
    evaluation = make_evaluation(0)
    assert evaluation.soundness is not None
    (first, *others) = evaluation.soundness.reviews
    reviews = (replace(first, support="Other words."), *others)
    land(warehouse, replace(evaluation, soundness=replace(evaluation.soundness, reviews=reviews)))
    publish(warehouse, RUNS, make_run(ideas=2))


def test_a_request_waits_until_it_is_answered(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    request = asked(warehouse, database, ada)
    assert list(open_requests(database)) == [request]
    assert list(open_requests(database, "p-other")) == []
    decision = answer(warehouse, database, ada, reason="sound")
    assert list(open_requests(database)) == []
    assert decisions(database) == {"r1": decision}
    assert (decision.role, decision.version_sha256) == ("validation", request.version_sha256)
    assert reason_of(database, decision.reason_sha256) == "sound"


def test_a_comment_ends_nothing(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    asked(warehouse, database, ada)
    for _ in range(2):
        answer(warehouse, database, ada, Verdict.COMMENTED, reason="which data?")
    assert len(list(open_requests(database))) == 1


def test_a_decision_is_in_lake_and_ledger_without_name_and_reason(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    asked(warehouse, database, ada)
    answer(warehouse, database, ada, Verdict.REJECTED, reason=SECRET)
    assert fold_into_lake(warehouse) == {"requests": 1, "decisions": 1}
    with warehouse.reader() as connection:
        rows = rows_in(connection, "from decisions")
        requested, rejected = ledger_of_run(connection, RUN)[-2:]
    assert (requested.action, rejected.action) == ("requested", "rejected")
    assert (rejected.participant_id, rejected.unit_id) == (ada.participant_id, IDEA)
    assert rejected.reason_sha256 == rows[0]["reason_sha256"]
    assert verify_ledger(warehouse).sound
    written = b"".join(path.read_bytes() for path in warehouse.lake.rglob("*") if path.is_file())
    assert b"Lovelace" not in written
    assert SECRET.encode() not in written


def test_a_choice_names_one_of_the_alternatives_or_sends_them_back(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    request = asked(warehouse, database, ada)
    choices = ("two reactors", "one reactor")
    for name in ("r2", "r3"):
        request_all(database, [replace(request, request_id=name, options=choices)])
    for verdict, choice in (
        (Verdict.APPROVED, None),
        (Verdict.CHOSEN, None),
        (Verdict.CHOSEN, 0),
        (Verdict.CHOSEN, 3),
        (Verdict.SENT_BACK, 1),
    ):
        with pytest.raises(ConfigurationError):
            answer(warehouse, database, ada, verdict, "r2", choice=choice)
    with pytest.raises(ConfigurationError, match="by its number, 1 to 2"):
        answer(warehouse, database, ada, Verdict.CHOSEN, "r2")
    assert answer(warehouse, database, ada, Verdict.CHOSEN, "r2", choice=2).choice == 2
    sent = answer(warehouse, database, ada, Verdict.SENT_BACK, "r3", reason="neither is cheap")
    assert reason_of(database, sent.reason_sha256) == "neither is cheap"
    with pytest.raises(ConfigurationError, match="approve or reject"):
        answer(warehouse, database, ada, Verdict.CHOSEN, choice=1)


def test_a_decision_on_what_has_changed_is_refused_with_what_changed(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    asked(warehouse, database, ada)
    evaluate_anew(warehouse)
    with pytest.raises(ConflictError, match="changed since it was asked: soundness_reviews"):
        answer(warehouse, database, ada)
    assert decisions(database) == {}


def test_an_approval_of_another_version_than_was_looked_at_is_refused(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    request = asked(warehouse, database, ada)
    for other in ("abc", "", request.version_sha256[:6], "0" * 12):
        with pytest.raises(ConflictError, match=f"not about {other}$"):
            answer(warehouse, database, ada, version_sha256=other)
    # An inbox prints less of it.
    assert answer(warehouse, database, ada, version_sha256=request.version_shown)


class TestAnAttacker:
    """Gets nowhere."""

    def test_who_replays_a_decision_is_refused(
        self, warehouse: Warehouse, database: ServiceDatabase, ada: Participant
    ) -> None:
        asked(warehouse, database, ada)
        first = answer(warehouse, database, ada, Verdict.REJECTED)
        for verdict in (Verdict.REJECTED, Verdict.APPROVED):
            with pytest.raises(ConflictError, match="answered before"):
                answer(warehouse, database, ada, verdict, reason="again")
        assert decisions(database) == {"r1": first}
        assert database.ask("people")
        with database.transaction() as work:
            assert not work.ask("forget_reasons", participant_id="nobody")

    def test_who_answers_the_request_of_another_is_refused(
        self, warehouse: Warehouse, database: ServiceDatabase, ada: Participant
    ) -> None:
        asked(warehouse, database, ada)
        other = add_participant(database, "Mallory")
        for verdict in Verdict:
            with pytest.raises(NotAllowedError):
                answer(warehouse, database, other, verdict)

    def test_who_is_unknown_or_forgotten_is_refused(
        self, warehouse: Warehouse, database: ServiceDatabase, ada: Participant
    ) -> None:
        asked(warehouse, database, ada)
        forget(warehouse, ada.participant_id)
        with pytest.raises(UnknownNameError):
            answer(warehouse, database, ada)
        with pytest.raises(UnknownNameError):
            answer(warehouse, database, ada, request="r1' or 1=1 --")

    def test_who_makes_a_second_participant_of_an_account_is_refused(
        self, database: ServiceDatabase, ada: Participant
    ) -> None:
        with pytest.raises(ConflictError):
            add_participant(database, "Mallory", key="ada")
        assert participant_with(database, "ada") == ada

    def test_a_model_gets_no_role_of_a_person(self, database: ServiceDatabase) -> None:
        assert add_participant(database, "gpt", ParticipantKind.MODEL).role == "tool"

    def test_a_reason_without_end_is_refused_and_markup_stays_text(
        self, warehouse: Warehouse, database: ServiceDatabase, ada: Participant
    ) -> None:
        asked(warehouse, database, ada)
        with pytest.raises(ValidationError, match="at most"):
            answer(warehouse, database, ada, reason="x" * (LONGEST_REASON + 1))
        markup = "<script>alert(1)</script>'; drop table decisions; --"
        decision = answer(warehouse, database, ada, reason=markup)
        assert reason_of(database, decision.reason_sha256) == markup


@pytest.mark.parametrize(
    "sql",
    [
        "update reasons set reason = 'unsound'",
        pytest.param("update reasons set salt = ''", marks=pytest.mark.long),
        pytest.param("delete from reasons", marks=pytest.mark.long),
    ],
)
def test_a_reason_that_is_not_the_one_whose_hash_was_recorded_is_named(
    sql: str, warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    asked(warehouse, database, ada)
    answer(warehouse, database, ada, reason="sound")
    fold_into_lake(warehouse)
    with closing(sqlite3.connect(services_file(warehouse), isolation_level=None)) as file:
        file.execute(sql)
    (problem,) = verify_ledger(warehouse).problems
    assert problem.startswith("decisions: the reason of r1 ")


def test_a_reason_that_is_gone_with_its_person_is_noticed_unless_the_ledger_says_so(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    asked(warehouse, database, ada)
    answer(warehouse, database, ada, reason="sound")
    fold_into_lake(warehouse)
    with closing(sqlite3.connect(services_file(warehouse), isolation_level=None)) as file:
        file.execute("delete from reasons")
        file.execute("delete from people")
    report = verify_ledger(warehouse)
    assert report.sound
    (notice,) = report.notices
    assert "1 people who gave reasons of decisions are gone" in notice


def test_who_is_forgotten_leaves_neither_name_nor_reason_while_counts_and_chain_stay(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    asked(warehouse, database, ada)
    decision = answer(warehouse, database, ada, Verdict.REJECTED, reason=SECRET)
    fold_into_lake(warehouse)
    database.close()
    forget(warehouse, ada.participant_id)
    report = verify_ledger(warehouse)
    assert (report.problems, report.notices) == ((), ())
    assert participants(database) == ()
    assert reason_of(database, decision.reason_sha256) is None
    with warehouse.reader() as connection:
        counted = rows_in(connection, "select count(*) as n from ledger where action = 'rejected'")
        (last,) = rows_in(connection, "from ledger order by sequence desc limit 1")
    assert counted == [{"n": 1}]
    assert (last["action"], last["participant_id"]) == ("forgotten", ada.participant_id)
    files = services_file(warehouse).parent.glob("services.sqlite*")
    left = b"".join(path.read_bytes() for path in files)
    assert b"Lovelace" not in left
    assert SECRET.encode() not in left
    assert ada.participant_id.encode() in left


def test_the_reasons_of_votes_go_with_the_name_and_the_votes_stay(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    mine = replace(make_vote("v1"), voter=ada.participant_id, reason=SECRET)
    other = replace(make_vote("v2"), voter="p-other", reason="clearer")
    with database.transaction() as work:
        for vote in (mine, other):
            record(work, "human_votes", vote)
    fold_into_lake(warehouse)
    forget(warehouse, ada.participant_id)
    with warehouse.reader() as connection:
        held = rows_in(connection, "select vote_id, voter, reason from human_votes order by 1")
        voted = rows_in(connection, "select participant_id from ledger where action = 'voted'")
    assert [row["reason"] for row in held] == [None, "clearer"]
    assert [row["participant_id"] for row in voted] == [ada.participant_id, "p-other"]
    assert verify_ledger(warehouse).sound


def test_the_same_reason_has_another_hash_each_time_so_that_it_cannot_be_guessed(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    asked(warehouse, database, ada)
    first, second = (
        answer(warehouse, database, ada, Verdict.COMMENTED, reason="no").reason_sha256
        for _ in range(2)
    )
    assert first != second


def test_an_account_keeps_its_pseudonym_until_it_is_forgotten(
    warehouse: Warehouse, database: ServiceDatabase
) -> None:
    first = pseudonym_of(database, "grace@example.org")
    assert pseudonym_of(database, "grace@example.org") == first
    assert "grace" not in first
    forget(warehouse, first)
    assert pseudonym_of(database, "grace@example.org") != first


def test_a_request_shows_what_it_is_about(
    warehouse: Warehouse, database: ServiceDatabase, ada: Participant
) -> None:
    request = asked(warehouse, database, ada)
    names = {part.rpartition("=")[0] for part in request.parts}
    assert {"idea", "soundness_reviews soundness_review"} <= names
    assert orjson.loads(request.model_dump_json())["parts"]
