"""Citation contexts: what a source says of how papers cite each other, through build, update and
gateway, and never an empty list for what is unknown.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.contexts import (
    UNKNOWN,
    CitationContext,
    CitationContexts,
    contexts_of,
    merge_contexts,
    parse_contexts,
)
from tasks.literature.snapshot.records import decompress
from tasks.literature.snapshot.snapshot import Snapshot
from tasks.literature.snapshot.update import update_snapshot
from tests.support.dataset_files import release_records, write_release
from tests.support.gateways import gateway_to
from tests.support.paper_files import paper_rows, write_jsonl
from tests.support.real_papers import anthology_rows

EDGE_FIELDS = "contexts,intents,contextsWithIntent,isInfluential"


async def asked(snapshot: Snapshot, path: str, **parameters: Any) -> Any:
    async with gateway_to(snapshot) as client:
        response = await client.get(f"/graph/v1/paper/{path}", params=parameters)
    assert response.status_code == 200, response.text
    return response.json()


def citing(*references: str, **beside: Any) -> list[dict[str, Any]]:
    """Ten papers, of which the last cites others as told."""
    rows = paper_rows(10)
    rows[9] |= {"references": list(references), **beside}
    return rows


URL = "https://example.org/papers/{}".format
CITING = f"URL:{URL(9)}"


async def test_contexts_of_a_table_come_with_section_and_intents(tmp_path: Path) -> None:
    told = [{"text": "We follow [5].", "section": "Method", "intents": ["methodology"]}, "See [5]."]
    rows = citing(
        URL(5), URL(6), URL(7), reference_contexts=[told, [], None],
        reference_influential=[True, False, None],
    )  # fmt: skip
    snapshot = build_snapshot(write_jsonl(tmp_path / "p.jsonl", rows), tmp_path / "i")
    assert snapshot.manifest.has_contexts
    data = (await asked(snapshot, f"{CITING}/references", fields=f"title,{EDGE_FIELDS}"))["data"]
    names = EDGE_FIELDS.split(",")
    follows = {"context": "We follow [5].", "intents": ["methodology"], "section": "Method"}
    see = {"context": "See [5].", "intents": [], "section": None}
    assert [[row["citedPaper"]["title"][-1], *(row[name] for name in names)] for row in data] == [
        ["5", ["We follow [5].", "See [5]."], ["methodology"], [follows, see], True],
        ["6", [], [], [], False],
        ["7", None, None, None, None],
    ]
    (back,) = (await asked(snapshot, f"URL:{URL(5)}/citations", fields="contexts"))["data"]
    assert back["contexts"] == ["We follow [5].", "See [5]."]


async def test_a_snapshot_without_contexts_says_that_they_are_unknown(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "p.jsonl", citing(URL(5)))
    snapshot = build_snapshot(path, tmp_path / "i")
    assert not snapshot.manifest.has_contexts
    (row,) = (await asked(snapshot, f"{CITING}/references", fields=EDGE_FIELDS))["data"]
    assert {row[name] for name in EDGE_FIELDS.split(",")} == {None}


async def test_a_paper_named_twice_in_a_reference_list_is_one_edge_with_all_its_contexts(
    tmp_path: Path,
) -> None:
    rows = citing(URL(5), URL(5), URL(5), reference_contexts=[["One."], ["Two.", "One."], None])
    snapshot = build_snapshot(write_jsonl(tmp_path / "p.jsonl", rows), tmp_path / "i")
    (row,) = (await asked(snapshot, f"{CITING}/references", fields="contexts"))["data"]
    assert row["contexts"] == ["One.", "Two."]


@pytest.mark.parametrize(
    "beside",
    [
        {"reference_contexts": "no list"},
        {"reference_contexts": [["too few"]]},
        {"reference_contexts": [7, {"text": 1}], "reference_influential": ["yes", 1]},
        {"reference_contexts": [[None, {"section": "no text"}, 3.5], [{"text": "\x00 "}]]},
    ],
)
def test_what_cannot_be_read_is_not_told(tmp_path: Path, beside: dict[str, Any]) -> None:
    rows = citing(URL(5), URL(6), **beside)
    snapshot = build_snapshot(write_jsonl(tmp_path / "p.jsonl", rows), tmp_path / "i")
    edges = snapshot.references(CITING)
    assert edges is not None
    assert [paper.url for paper in edges.papers] == [URL(5), URL(6)]
    assert not any(each.contexts for each in edges.contexts)


async def test_contexts_of_a_release_survive_its_join_and_its_diffs(tmp_path: Path) -> None:
    records = release_records(40)
    snapshot = build_snapshot(write_release(tmp_path / "2025-08-19", records), tmp_path / "index")
    data = (await asked(snapshot, "CorpusId:15/references", fields=f"corpusId,{EDGE_FIELDS}"))[
        "data"
    ]
    assert [(row["contexts"], row["intents"], row["isInfluential"]) for row in data] == [
        (["As shown in [14], zebras run."], ["background"], True),
        (["As shown in [13], zebras run."], ["background"], False),
    ]
    untold = (await asked(snapshot, "CorpusId:12/references", fields=EDGE_FIELDS))["data"]
    assert [(row["contexts"], row["isInfluential"]) for row in untold] == [(None, None)] * 2
    edge = {
        "citationid": 120, "citingcorpusid": 12, "citedcorpusid": 11, "isinfluential": True,
        "contexts": ["Now told."], "intents": [["result"]],
    }  # fmt: skip
    step = tmp_path / "diffs" / "updates" / "2025-08-19-to-2025-08-26"
    write_release(step, {"citations": [edge]}, parts=1)
    updated = update_snapshot(tmp_path / "diffs", tmp_path / "index").snapshot
    told = (await asked(updated, "CorpusId:12/references", fields=EDGE_FIELDS))["data"]
    assert [(row["contexts"], row["intents"], row["isInfluential"]) for row in told] == [
        (["Now told."], ["result"], True),
        (None, None, None),
    ]


async def test_a_hub_is_read_one_page_at_a_time(tmp_path: Path) -> None:
    rows = paper_rows(300)
    for number, row in enumerate(rows[1:], start=1):
        row |= {
            "references": [URL(1)] if number != 1 else [],
            "reference_contexts": [[f"{number}"]],
        }
    snapshot = build_snapshot(write_jsonl(tmp_path / "p.jsonl", rows), tmp_path / "i")
    read = Counter[int]()
    records, contexts = snapshot._store.records, snapshot._store.contexts
    snapshot._store.records = lambda asked: read.update(papers=len(asked)) or records(asked)  # type: ignore[method-assign,func-returns-value]
    snapshot._store.contexts = lambda asked: read.update(edges=len(asked)) or contexts(asked)  # type: ignore[method-assign,func-returns-value]
    page = await asked(snapshot, f"URL:{URL(1)}/citations", fields="contexts", offset=40, limit=5)
    assert (page["next"], len(page["data"])) == (45, 5)
    assert read["edges"] == 5
    assert read["papers"] < 10


TEXT = st.text(max_size=20)
CONTEXT = st.fixed_dictionaries(
    {"text": TEXT, "section": st.none() | TEXT, "intents": st.none() | st.lists(TEXT, max_size=3)}
)


@given(st.none() | st.lists(TEXT | CONTEXT, max_size=4), st.none() | st.booleans())
def test_what_is_told_survives_the_store(contexts: Any, influential: bool | None) -> None:
    told = contexts_of(contexts, influential)
    packed = told.packed()
    assert (UNKNOWN if packed is None else parse_contexts(decompress(packed))) == told
    for entries in ([told, UNKNOWN], [UNKNOWN, told], [told, told], [told]):
        assert merge_contexts(entries) == told
    assert (told.contexts is None) == (contexts is None)


def test_joining_keeps_what_either_tells() -> None:
    one = CitationContexts((CitationContext("a"),), False)
    other = CitationContexts((CitationContext("b"), CitationContext("a")), True)
    both = CitationContexts((CitationContext("a"), CitationContext("b")), True)
    assert merge_contexts([one, other]) == both


def test_of_one_reference_the_first_thousand_passages_are_kept() -> None:
    told = contexts_of([str(number) for number in range(1_001)]).contexts
    assert told is not None
    assert (len(told), told[-1].text) == (1_000, "999")


async def test_contexts_of_the_anthology_survive_with_their_sections(tmp_path: Path) -> None:
    rows = anthology_rows()
    await survives(write_jsonl(tmp_path / "acl.jsonl", rows), tmp_path / "i", rows)


async def survives(source: Path, target: Path, rows: list[dict[str, Any]]) -> None:
    """Every context of an edge between two papers of the snapshot comes back with its section."""
    snapshot = build_snapshot(source, target)
    here = {row["paper_id"] for row in rows}
    given_count = answered_count = sectioned_count = 0
    for row in rows:
        wanted = {
            cited: contexts_of(contexts).contexts
            for cited, contexts in zip(row["references"], row["reference_contexts"], strict=True)
            if contexts and cited in here and cited != row["paper_id"]
        }
        if not wanted:
            continue
        (paper,) = snapshot.papers([f"URL:{row['url']}"])
        assert paper is not None
        edges = snapshot.references(paper.paper_id)
        assert edges is not None
        answered = {
            cited.given_id: how.contexts
            for cited, how in zip(edges.papers, edges.contexts, strict=True)
        }
        for cited, contexts in wanted.items():
            given_count += len(contexts or ())
            if answered.get(cited) == contexts:
                answered_count += len(contexts or ())
                sectioned_count += sum(each.section is not None for each in contexts or ())
    assert given_count > 1_000
    assert answered_count == given_count > 0
    assert sectioned_count > 0
