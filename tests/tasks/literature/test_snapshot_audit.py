"""Auditing a snapshot: what is found, what accepting does, and that all of it can be undone."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from schemas.errors import ConfigurationError, SnapshotError
from schemas.literature.audit import Proposal, ProposalState
from tasks.literature.audit import auditing
from tasks.literature.audit.auditing import Decisions, OtherSnapshot, diagnose, review, standing
from tasks.literature.audit.stage import repair_encoding
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.folder import AUDIT_NAME
from tasks.literature.snapshot.release import bounded_connection
from tasks.literature.snapshot.snapshot import open_snapshot
from tasks.literature.snapshot.update import update_snapshot
from tests.support.foreign_journal import journal_that_names
from tests.support.paper_files import write_jsonl

SUBJECTS = ("rivers", "glaciers", "volcanoes", "forests", "deserts", "oceans", "meadows", "caves")
MEASURES = ("erosion", "sediment", "temperature", "salinity", "density", "moisture", "pressure")


def paper(number: int, **changes: Any) -> dict[str, Any]:
    subject, measure = SUBJECTS[number % 8], MEASURES[number % 7]
    return {
        "paper_id": f"p{number}",
        "title": f"Measuring {measure} of northern {subject} in survey {number}",
        "abstract": (
            f"In survey {number} we measured {measure} of {subject} in the north over many"
            " seasons with buoys,"
            f" satellites, drones and patience, and report how {measure} changed beside {subject}."
        ),
        "authors": [f"Ada Author{number}", f"Bob Writer{number}"],
        "venue": "Journal of Surveys",
        "year": 2010,
        "url": f"https://example.org/{number}",
        "doi": f"10.5555/surveys.2010.{number}",
        "references": [f"p{number - 1}"] if number else [],
        **changes,
    }


SAME = paper(5, paper_id="x5", url=None, doi=None, title=f"On {paper(5)['title']}", year=2011)


def index_of(folder: Path, rows: list[dict[str, Any]], name: str = "index") -> Path:
    build_snapshot(write_jsonl(folder / f"{name}.jsonl", rows), folder / name)
    return folder / name


def with_one(number: int, **changes: Any) -> list[dict[str, Any]]:
    return [paper(each, **(changes if each == number else {})) for each in range(30)]


def open_proposals(index: Path) -> list[Proposal]:
    return list(standing(index, [ProposalState.PROPOSED], [], 1_000).proposals)


def audited(folder: Path, rows: list[dict[str, Any]], name: str = "index") -> Path:
    index = index_of(folder, rows, name)
    diagnose(index)
    return index


def found(folder: Path, rows: list[dict[str, Any]], name: str = "index") -> list[Proposal]:
    return open_proposals(audited(folder, rows, name))


def review_in_vain(index: Path, decisions: Decisions, told: str) -> None:
    with pytest.raises(SnapshotError, match=told) as refused:
        review(index, decisions)
    assert "\n" not in str(refused.value)


def test_records_in_order_are_left_alone(tmp_path: Path) -> None:
    assert found(tmp_path, with_one(5)) == []


@pytest.mark.parametrize(
    ("rule", "field", "changes", "right"),
    [
        ("series_year", "year", {"year": 1996}, "2010"),
        ("series_venue", "venue", {"venue": ""}, '"Journal of Surveys"'),
        ("garbled_text", "title", {"title": "Die MÃ¼he der kalten FlÃ¼sse"}, '"Die Mühe der kalten Flüsse"'),
        ("repeated_authors", "authors", {"authors": ["A B", "C D", "A B", "C D"]}, '["A B","C D"]'),
        ("self_citation", "reference", {"references": ["p4", "p5"]}, None),
        ("year_of_date", "year", {"publication_date": "2012-03-04", "doi": "10.9999/a", "url": None}, "2012"),
    ],
)  # fmt: skip
def test_a_defect_is_found_with_its_remedy(
    tmp_path: Path, rule: str, field: str, changes: dict[str, Any], right: str | None
) -> None:
    (only,) = found(tmp_path, with_one(5, **changes))
    assert (only.rule, only.field, only.new) == (rule, field, right)


def test_a_missing_field_is_a_finding_and_nothing_is_invented_for_it(tmp_path: Path) -> None:
    (only,) = found(tmp_path, with_one(5, abstract=None))
    assert (only.rule, only.action, only.new) == ("missing_field", "none", None)
    index = tmp_path / "index"
    with pytest.raises(ConfigurationError, match="finding without remedy"):
        review(index, Decisions(accept=(only.proposal_id,)))


def test_a_reference_to_nowhere_is_no_defect_where_many_lead_outside(tmp_path: Path) -> None:
    closed = found(tmp_path, with_one(5, references=["p4", "lost"]))
    assert [each.rule for each in closed] == ["dangling_reference"]
    rows = [paper(each, references=[f"elsewhere-{each}", "p0"]) for each in range(1, 30)]
    assert found(tmp_path, [paper(0), *rows], "open") == []


def test_swapped_titles_are_proposed_for_both_papers(tmp_path: Path) -> None:
    rows = with_one(5)
    rows[5]["title"], rows[12]["title"] = (
        "Bayesian inference of dialects from spoken ballads",
        "Catalytic oxidation of ammonia over copper",
    )
    rows[5]["abstract"] = "We oxidise ammonia with copper as catalyst; catalytic oxidation " + ABOUT
    rows[12]["abstract"] = "From ballads as spoken we infer dialects; Bayesian inference " + ABOUT
    proposed = found(tmp_path, rows)
    assert {each.rule for each in proposed} == {"swapped_titles"}
    assert {each.new for each in proposed} == {f'"{rows[12]["title"]}"', f'"{rows[5]["title"]}"'}


ABOUT = (
    "is studied under thirteen conditions chosen beforehand, reproduced twice by independent"
    " groups,"
    " documented openly, compared against earlier attempts and discussed without reservation."
)


def test_one_paper_under_two_names_is_merged_and_its_citations_with_it(tmp_path: Path) -> None:
    citing = paper(29, references=["x5"])
    index = audited(tmp_path, [*with_one(5)[:29], citing, SAME])
    before = open_snapshot(index).fingerprint
    (only,) = [each for each in open_proposals(index) if each.rule == "same_paper"]
    assert review(index, Decisions(accept=(only.proposal_id,))).accepted == (only.proposal_id,)
    merged = open_snapshot(index)
    assert merged.paper_count == 30
    edges = merged.references("URL:https://example.org/29")
    assert edges is not None
    assert [each.title for each in edges.papers] == [paper(5)["title"]]
    review(index, Decisions(undo=(only.proposal_id,)))
    after = open_snapshot(index)
    assert (after.fingerprint, after.paper_count) == (before, 31)
    edges = after.references("URL:https://example.org/29")
    assert edges is not None
    assert [each.title for each in edges.papers] == [SAME["title"]]


def test_an_undoing_that_is_killed_once_the_snapshot_has_changed_stays_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = audited(tmp_path, [*with_one(5), SAME])
    (only,) = [each for each in open_proposals(index) if each.rule == "same_paper"]
    review(index, Decisions(accept=(only.proposal_id,)))
    make_changes = auditing.make_changes

    def killed(*arguments: Any, **options: Any) -> None:
        make_changes(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(auditing, "make_changes", killed)
    with pytest.raises(KeyboardInterrupt):
        review(index, Decisions(undo=(only.proposal_id,)))
    (left,) = standing(index, tuple(ProposalState), ("same_paper",), 9).proposals
    assert left.state is ProposalState.UNDONE


def test_accepting_a_rule_makes_a_new_version_and_undoing_brings_the_old_one_back(
    tmp_path: Path,
) -> None:
    rows = with_one(5, year=1990, references=["p4", "p5"])
    rows[9]["year"] = 1991
    index = audited(tmp_path, rows)
    before = open_snapshot(index)
    done = review(index, Decisions(accept_rules=("series_year", "self_citation")))
    after = open_snapshot(index)
    assert len(done.accepted) == 3
    assert after.fingerprint != before.fingerprint
    assert year_of_fifth(index) == 2010
    diagnose(index)
    assert open_proposals(index) == []
    review(index, Decisions(undo=done.accepted))
    assert open_snapshot(index).fingerprint == before.fingerprint
    again = review(index, Decisions(accept=done.accepted))
    assert set(again.accepted) == set(done.accepted)
    assert open_snapshot(index).fingerprint == after.fingerprint


def test_what_rests_on_one_another_is_taken_back_together(tmp_path: Path) -> None:
    copy = SAME | {"venue": "", "year": 2010}
    index = audited(tmp_path, [*with_one(5), copy])
    before = open_snapshot(index).fingerprint
    rules = tuple({each.rule for each in open_proposals(index)})
    other = OtherSnapshot(index_of(tmp_path, [{**copy, "venue": "Letters"}], "other"))
    diagnose(index, [other])
    filled = [each for each in open_proposals(index) if each.field == "venue" and each.new]
    first = review(index, Decisions(accept=tuple(each.proposal_id for each in filled)))
    diagnose(index)
    second = review(index, Decisions(accept_rules=rules))
    assert first.accepted
    assert second.accepted
    undone = review(index, Decisions(undo=(*first.accepted, *second.accepted)))
    assert undone.passed_over == ()
    assert open_snapshot(index).fingerprint == before


def test_a_rejected_proposal_stays_rejected_and_is_not_accepted_with_its_rule(
    tmp_path: Path,
) -> None:
    index = audited(tmp_path, with_one(5, year=1990))
    (only,) = open_proposals(index)
    review(index, Decisions(reject=(only.proposal_id,)))
    review(index, Decisions(accept_rules=("series_year",)))
    update_snapshot(write_jsonl(tmp_path / "more.jsonl", [paper(40, references=[])]), index)
    diagnose(index)
    (kept,) = standing(index, [ProposalState.REJECTED], [], 10).proposals
    assert (kept.proposal_id, open_proposals(index)) == (only.proposal_id, [])


def test_what_has_been_changed_since_is_neither_made_nor_taken_back(tmp_path: Path) -> None:
    index = audited(tmp_path, with_one(5, year=1990))
    (only,) = open_proposals(index)
    update_snapshot(write_jsonl(tmp_path / "more.jsonl", [paper(5, year=2009)]), index)
    assert review(index, Decisions(accept=(only.proposal_id,))).passed_over == (only.proposal_id,)
    update_snapshot(write_jsonl(tmp_path / "back.jsonl", [paper(5, year=1990)]), index)
    done = review(index, Decisions(accept_rules=("series_year",)))
    assert done.accepted == (only.proposal_id,)
    update_snapshot(write_jsonl(tmp_path / "last.jsonl", [paper(5, year=2011)]), index)
    assert review(index, Decisions(undo=done.accepted)).passed_over == done.accepted
    assert year_of_fifth(index) == 2011


def year_of_fifth(index: Path) -> int | None:
    (found,) = open_snapshot(index).papers(["DOI:10.5555/surveys.2010.5"])
    assert found is not None
    return found.year


def test_an_unchanged_version_is_not_looked_at_twice(tmp_path: Path) -> None:
    index = index_of(tmp_path, with_one(5, year=1990))
    assert [diagnose(index), diagnose(index)] == [True, False]


def test_another_source_fills_what_is_missing_and_is_asked_anew_when_it_changes(
    tmp_path: Path,
) -> None:
    index = index_of(tmp_path, with_one(5, abstract=None))
    rows = [{**each, "paper_id": f"o-{each['paper_id']}"} for each in with_one(5)]
    other = OtherSnapshot(index_of(tmp_path, rows, "other"))
    diagnose(index)
    assert diagnose(index, [other])
    (only,) = open_proposals(index)
    assert (only.rule, only.field) == ("filled_elsewhere", "abstract")
    review(index, Decisions(accept=(only.proposal_id,)))
    (mended_paper,) = open_snapshot(index).papers(["DOI:10.5555/surveys.2010.5"])
    assert mended_paper is not None
    assert mended_paper.abstract == paper(5)["abstract"]


def test_another_source_tells_the_order_of_authors(tmp_path: Path) -> None:
    rows = with_one(5, authors=["Bob Writer5", "Ada Author5"])
    index = index_of(tmp_path, rows)
    other = OtherSnapshot(index_of(tmp_path, with_one(5), "other"))
    diagnose(index, [other])
    (only,) = open_proposals(index)
    assert (only.rule, only.new) == ("other_authors", '["Ada Author5","Bob Writer5"]')


def test_a_snapshot_built_anew_has_its_accepted_proposals_wait_again(tmp_path: Path) -> None:
    rows = with_one(5, year=1990)
    index = audited(tmp_path, rows)
    review(index, Decisions(accept_rules=("series_year",)))
    index_of(tmp_path, [*rows, paper(31, references=[])])
    diagnose(index)
    assert [each.rule for each in open_proposals(index)] == ["series_year"]


def test_names_that_are_none_are_named(tmp_path: Path) -> None:
    index = audited(tmp_path, with_one(5))
    with pytest.raises(ConfigurationError, match="no proposal 123"):
        review(index, Decisions(accept=("123",)))
    with pytest.raises(ConfigurationError, match="no rule haste; choose from"):
        review(index, Decisions(accept_rules=("haste",)))
    with pytest.raises(SnapshotError, match="no snapshot at"):
        diagnose(tmp_path / "nowhere")


@pytest.fixture(scope="module")
def misdated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audited snapshot with one wrong year; tests change copies."""
    return audited(tmp_path_factory.mktemp("misdated"), with_one(5, year=1996))


def macro_that_reads(secret: Path, path: Path) -> None:
    """Put a database with a macro beside the papers."""
    with duckdb.connect(path) as connection:
        connection.execute("create table looked (fingerprint varchar, how varchar)")
        connection.execute(
            f"create macro list_contains(a, b) as (select error(content) from read_text('{secret}'))"
        )


def journal_that_deletes(secret: Path, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table looked (x)")
    path.with_name(f"{path.name}-journal").write_bytes(journal_that_names(secret, path))


def long_line(secret: Path, path: Path) -> None:
    del secret
    with path.open("wb") as file:
        file.truncate(16_000_001)


AUDIT_FILES: dict[str, Callable[[Path, Path], object]] = {
    "a database with a macro": macro_that_reads,
    "a database whose journal names a file": journal_that_deletes,
    "a link": lambda secret, path: path.symlink_to(secret),
    "a pipe": lambda secret, path: os.mkfifo(path),
    "a line that is no proposal": lambda secret, path: path.write_text(
        '{"fingerprint": "x", "how": "y"}\n{}\n'
    ),
    "another first line": lambda secret, path: path.write_text("[1]\n"),
    "a line without end": long_line,
}


@pytest.mark.parametrize("what", AUDIT_FILES)
def test_proposals_that_somebody_else_made_up_are_refused_in_one_line(
    what: str, misdated: Path, tmp_path: Path
) -> None:
    index = Path(shutil.copytree(misdated, tmp_path / "index"))
    (index / AUDIT_NAME).unlink()
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret of this machine")
    AUDIT_FILES[what](secret, index / AUDIT_NAME)
    for command in (diagnose, open_proposals):
        with pytest.raises(SnapshotError) as refused:
            command(index)
        assert str(index / AUDIT_NAME) in str(refused.value)
        assert len(str(refused.value).splitlines()) == 1
    assert secret.read_text() == "a secret of this machine"


AUTHORS = json.dumps(paper(5)["authors"])
ODD_PROPOSALS: dict[str, dict[str, Any]] = {
    "a field that no record has": {"field": "zzz"},
    "a word for a year": {"new": '"1990"'},
    "no title": {"field": "title", "old": json.dumps(paper(5)["title"]), "new": "null"},
    "no place in a list": {"action": "remove_reference", "old": '{"a": 1}', "new": None},
    "what is no JSON": {"new": "bad json"},
    "authors that are no list": {"field": "authors", "old": AUTHORS, "new": '"Ada"'},
    "authors that are no names": {"field": "authors", "old": AUTHORS, "new": "[1]"},
}


@pytest.mark.parametrize("changes", ODD_PROPOSALS.values(), ids=ODD_PROPOSALS.keys())
def test_a_proposal_that_fits_no_record_is_refused_in_one_line(
    changes: dict[str, Any], misdated: Path, tmp_path: Path
) -> None:
    shutil.copytree(misdated, tmp_path / "index")
    (proposal,) = open_proposals(misdated)
    path = tmp_path / "index" / AUDIT_NAME
    looked, told = path.read_text().splitlines()
    path.write_text(f"{looked}\n{json.dumps(json.loads(told) | changes)}\n")
    decisions = Decisions(accept=(proposal.proposal_id,))
    review_in_vain(tmp_path / "index", decisions, f"proposal {proposal.proposal_id} cannot be")


@pytest.mark.parametrize("old", ["no JSON", '"Ada"', '{"a": 1}'])
def test_a_way_back_that_fits_no_record_is_refused_in_one_line(old: str, tmp_path: Path) -> None:
    (proposal,) = found(tmp_path, with_one(5, authors=["A B", "C D", "A B", "C D"]))
    index = tmp_path / "index"
    review(index, Decisions(accept=(proposal.proposal_id,)))
    with closing(sqlite3.connect(index / "papers-1.sqlite", isolation_level=None)) as store:
        store.execute("update edits set old = ?", [old])
    decisions = Decisions(undo=(proposal.proposal_id,))
    review_in_vain(index, decisions, "cannot be taken back: it fits no record")


@pytest.mark.parametrize("name", [AUDIT_NAME, f"{AUDIT_NAME}.new"])
def test_a_folder_in_the_place_of_proposals_is_one_line(name: str, tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(0), paper(1)])
    (index / name).mkdir()
    with pytest.raises(SnapshotError, match=name) as refused:
        diagnose(index)
    assert "\n" not in str(refused.value)


def test_a_store_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    index = index_of(tmp_path, with_one(3))
    (index / "papers.sqlite").write_bytes(b"no database" * 1_000)
    with pytest.raises(SnapshotError, match=r"papers\.sqlite is damaged"):
        diagnose(index)


def test_numbers_of_references_that_are_none_are_left_out(tmp_path: Path) -> None:
    odd = ("x", None, 10**19, -1, 1e308)
    rows = [paper(number, reference_ids=[each]) for number, each in enumerate(odd, start=1)]
    assert open_snapshot(index_of(tmp_path, rows)).paper_count == 5


def test_no_extension_is_loaded_for_what_a_file_holds(tmp_path: Path) -> None:
    with bounded_connection(tmp_path) as connection:
        for name in ("autoload_known_extensions", "autoinstall_known_extensions"):
            sql = "select current_setting(?)"
            assert connection.execute(sql, [name]).fetchall() == [(False,)]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("MÃ¼ller", "Müller"),
        ("itâ€™s", "it’s"),
        ("déjÃ  vu", None),
        ("Müller", None),
        ("plain", None),
        ("ÃƒÂ©tude", "étude"),
        ("Ã", None),
        (None, None),
    ],
)
def test_garbled_text_is_read_as_it_was_written(text: str | None, right: str | None) -> None:
    assert repair_encoding(text) == right
