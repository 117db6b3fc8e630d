"""Groups and pairs of ideas in one entry: one idea each, never run together, and labels out of
sight.
"""

from pathlib import Path

import orjson
import pytest

from tasks.ideas.read import read_ideas

SHARED = Path(__file__).parents[4] / "shared" / "data"
TEXT = "We train a small model on protein pairs and test whether it still works on unseen families."


def read(tmp_path: Path, *entries: object):
    path = tmp_path / "groups.json"
    path.write_bytes(orjson.dumps(list(entries)))
    return read_ideas(path, default_cutoff=None)


def test_a_group_becomes_its_ideas_and_keeps_decisions_as_metadata(tmp_path: Path) -> None:
    query = {"paper_id": "q", "title": "Query", "abstract": f"{TEXT} One."}
    other = {"id": "a", "title": "Other", "abstract": f"{TEXT} Two."}
    group = {
        "query": query | {"decision": "Accept (Oral)"},
        "cutoff_date": "2024-05-01",
        "matches": {"reject": {"paper": other, "final_score": 0.5}},
    }
    batch = read(tmp_path, group)
    assert [(idea.idea_id, idea.group, idea.metadata["decision"]) for idea in batch.ideas] == [
        ("q:q", "q", "Accept (Oral)"),
        ("q:a", "q", "reject"),
    ]
    assert {str(idea.cutoff_date) for idea in batch.ideas} == {"2024-05-01"}
    assert all(
        "oral" not in idea.text.lower() and "reject" not in idea.text.lower()
        for idea in batch.ideas
    )


def test_pairs_of_one_query_stay_apart(tmp_path: Path) -> None:
    pair = {
        "group_id": "g",
        "paper_a": {"paper_id": "a", "abstract": TEXT},
        "paper_b": {"paper_id": "b", "abstract": f"{TEXT} More."},
    }
    batch = read(tmp_path, pair, pair)
    assert [idea.group for idea in batch.ideas] == ["g", "g", "g#2", "g#2"]
    assert len({idea.idea_id for idea in batch.ideas}) == 4


def test_listed_ideas_without_identifiers_are_named_by_their_place(tmp_path: Path) -> None:
    batch = read(tmp_path, {"group": "mine", "ideas": [{"text": TEXT}, {"idea": f"{TEXT} Again."}]})
    assert [idea.idea_id for idea in batch.ideas] == ["mine:ideas 1", "mine:ideas 2"]


def test_a_bad_member_is_rejected_and_the_others_stay(tmp_path: Path) -> None:
    batch = read(
        tmp_path,
        {"group": "g", "ideas": [{"text": TEXT}, "none", {"text": ""}, {"title": "only a title"}]},
    )
    assert len(batch.ideas) == 1
    assert [(entry.location, entry.reason) for entry in batch.rejected] == [
        ("groups.json entry 1, ideas 2", "unreadable"),
        ("groups.json entry 1, ideas 3", "empty"),
        ("groups.json entry 1, ideas 4", "empty"),
    ]


def test_an_idea_with_a_text_of_its_own_is_no_group(tmp_path: Path) -> None:
    batch = read(tmp_path, {"idea_id": "x", "text": TEXT, "candidates": [{"text": "other"}]})
    assert [idea.idea_id for idea in batch.ideas] == ["x"]


@pytest.mark.parametrize(
    ("name", "ideas", "groups"),
    [("innoeval_groups", 472, 118), ("innoeval_pairs_hard", 274, 137)],
)
def test_the_real_groups_and_pairs_are_read_whole(name: str, ideas: int, groups: int) -> None:
    path = SHARED / f"{name}.json"
    if not path.exists():
        pytest.skip("the shared data is not here")
    batch = read_ideas(path, default_cutoff=None)
    assert (len(batch.ideas), batch.rejected) == (ideas, ())
    assert len({idea.group for idea in batch.ideas}) == groups
    assert all(idea.metadata["decision"] for idea in batch.ideas)
