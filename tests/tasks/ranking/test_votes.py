"""Human votes: what is read, and what each bad line says."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import ConfigurationError
from schemas.judgement.ranking import Winner
from tasks.ranking.votes import Votes, read_votes

GROUP_OF: Any = {"a": "g", "b": "g", "c": "other"}
GOOD = {
    "first": "a",
    "second": "b",
    "winner": "first",
    "voter": "ada",
    "voted_at": "2026-01-02T10:00:00",
}


def read(folder: Path, *votes: Any) -> Votes:
    path = folder / "votes.jsonl"
    path.write_text(
        "\n".join(vote if isinstance(vote, str) else json.dumps(vote) for vote in votes)
    )
    return read_votes(path, GROUP_OF, ("overall", "novelty"))


def test_votes_become_matches_in_order_of_time(tmp_path: Path) -> None:
    votes = read(
        tmp_path,
        GOOD,
        {
            **GOOD,
            "winner": "b",
            "voted_at": "2026-01-01",
            "dimension": "novelty",
            "reason": "Newer.",
        },
    )
    assert [(vote.winner, vote.dimension, vote.judge) for vote in votes.matches] == [
        (Winner.SECOND, "novelty", "human:ada"),
        (Winner.FIRST, "overall", "human:ada"),
    ]
    assert votes.matches[0].group == "g"
    assert votes.matches[0].provenance is None
    assert votes.rejected == ()


def test_csv_says_the_same_as_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(
        "\ufefffirst,second,winner,voter,voted_at\na,b,first,ada,2026-01-02T10:00:00\n", "utf-8"
    )
    assert read_votes(path, GROUP_OF).matches == read(tmp_path, GOOD).matches


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ({**GOOD, "second": "z"}, "no idea 'z'"),
        ({**GOOD, "second": "c"}, "votes count within a group"),
        ({**GOOD, "second": "a"}, "same idea"),
        ({**GOOD, "winner": "perhaps"}, "winner must be"),
        ({**GOOD, "voted_at": "yesterday"}, "voted_at must be"),
        ({**GOOD, "voted_at": None}, "no voted_at"),
        ({**GOOD, "dimension": "fun"}, "no dimension 'fun'"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_is_read(tmp_path: Path, line: Any, says: str) -> None:
    votes = read(tmp_path, GOOD, line)
    assert len(votes.matches) == 1
    (rejected,) = votes.rejected
    assert rejected.location == "votes.jsonl line 2"
    assert says in rejected.detail


def test_the_same_vote_counts_once(tmp_path: Path) -> None:
    votes = read(tmp_path, GOOD, GOOD)
    assert len(votes.matches) == len(votes.rejected) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [("votes.xlsx", b""), ("missing.csv", None), ("votes.csv", b"\xff\xfe\x00")],
)
def test_a_file_that_cannot_be_read_is_one_clear_line(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match="votes file"):
        read_votes(tmp_path / name, GROUP_OF)


@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_is_read_or_rejected(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("votes")
    for suffix in ("csv", "jsonl"):
        path = folder / f"votes.{suffix}"
        path.write_bytes(
            "\n".join(lines).encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
        )
        assert read_votes(path, GROUP_OF).matches == ()


def test_a_table_with_a_field_too_long_keeps_its_good_votes_and_names_the_line(
    tmp_path: Path,
) -> None:
    path = tmp_path / "votes.csv"
    header = "first,second,winner,voter,voted_at,reason\n"
    csv.field_size_limit(131_072)
    path.write_text(
        f"{header}a,b,first,ada,2026-01-02,short\na,b,second,ada,2026-01-03,{'x' * 200_000}\n"
    )
    votes = read_votes(path, GROUP_OF)
    assert len(votes.matches) == 1
    (rejected,) = votes.rejected
    assert rejected.location.startswith("votes.csv line")
    assert "field larger than" in rejected.detail


def test_a_vote_with_half_a_character_is_rejected_by_itself(tmp_path: Path) -> None:
    votes = read(
        tmp_path, GOOD, {**GOOD, "voter": "\ud800"}, {**GOOD, "voter": "eve", "reason": "\udfff"}
    )
    assert len(votes.matches) == 1
    assert ["lone surrogate" in vote.detail for vote in votes.rejected] == [True, True]
