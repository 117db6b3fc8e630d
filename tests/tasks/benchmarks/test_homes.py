"""Public sets fetched from loopback copies of their homes: pinned, locked, and held afterwards."""

import json
from pathlib import Path

import pytest

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.settings import DocumentSettings
from schemas.text.patterns import bounded
from tasks.benchmarks.public_data import (
    LOCK_FILE,
    FetchResult,
    PublicSet,
    fetch_sets,
    manual_sets,
    public_sets,
    read_lock,
)
from tasks.benchmarks.registry import SUITES
from tests.support.document_server import DocumentServer, Reply, document_server

CONTENT = {"data/points.jsonl": b'{"paper_id": "a"}\n', "data/groups.json": b"[]\n"}
COMMIT = bounded(r"/[0-9a-f]{40}$")


def copy_of(server: DocumentServer, content: dict[str, bytes]) -> PublicSet:
    server.replies.update(
        {
            f"/owner/name/commit/{path}": [Reply(body=body, headers={"Content-Type": "text/plain"})]
            for path, body in content.items()
        }
    )
    return PublicSet(
        name="A set",
        home=f"{server.url}/owner/name/commit",
        licence="MIT",
        suites="decisions",
        files={"points.jsonl": "data/points.jsonl", "sub/groups.json": "data/groups.json"},
    )


async def fetched(one: PublicSet, folder: Path, told: list[str] | None = None) -> FetchResult:
    said = told if told is not None else []
    return await fetch_sets(
        [one], folder, DocumentSettings(), said.append, allow_private_addresses=True
    )


async def test_the_first_fetch_writes_the_layout_and_a_lock_and_says_so(tmp_path: Path) -> None:
    told: list[str] = []
    with document_server() as server:
        found = await fetched(copy_of(server, CONTENT), tmp_path, told)
    assert found.locked == ("points.jsonl", "sub/groups.json")
    assert (tmp_path / "points.jsonl").read_bytes() == CONTENT["data/points.jsonl"]
    lock = read_lock(tmp_path)
    assert set(lock.files) == {"points.jsonl", "sub/groups.json"}
    assert lock.files["points.jsonl"].address.endswith("/owner/name/commit/data/points.jsonl")
    assert told[0] == "A set: points.jsonl: fetched, digest written to the lock"


async def test_later_fetches_hold_the_lock_and_fetch_only_what_lacks(tmp_path: Path) -> None:
    path = tmp_path / "points.jsonl"
    with document_server() as server:
        one = copy_of(server, CONTENT)
        await fetched(one, tmp_path)
        path.unlink()
        asked = len(server.asked)
        assert (await fetched(one, tmp_path)).held == ("points.jsonl", "sub/groups.json")
        addresses = [one.path for one in server.asked[asked:]]
        assert addresses == ["/owner/name/commit/data/points.jsonl"]
        path.write_text("changed")
        with pytest.raises(ConfigurationError, match="differs from its digest in assay-data"):
            await fetched(one, tmp_path)
        assert path.read_text() == "changed"
        path.unlink()
        copy_of(server, CONTENT | {"data/points.jsonl": b"{}\n"})
        with pytest.raises(ConfigurationError, match="differs from the digest"):
            await fetched(one, tmp_path)
    assert not path.exists()


async def test_a_users_own_file_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "points.jsonl").write_text("mine")
    with document_server() as server:
        found = await fetched(copy_of(server, CONTENT), tmp_path)
    assert (found.unlocked, found.locked) == (("points.jsonl",), ("sub/groups.json",))
    assert (tmp_path / "points.jsonl").read_text() == "mine"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(404), "points.jsonl (not_found"),
        (Reply(body=b"<html>log in</html>", headers={"Content-Type": "text/html"}), "points.jsonl"),
    ],
)
async def test_what_cannot_be_had_is_named_and_keeps_nothing_else_back(
    reply: Reply, told: str, tmp_path: Path
) -> None:
    with document_server() as server:
        one = copy_of(server, CONTENT)
        server.replies["/owner/name/commit/data/points.jsonl"] = [reply]
        found = await fetched(one, tmp_path)
    assert found.missing[0].startswith(told)
    assert found.locked == ("sub/groups.json",)
    assert not (tmp_path / "points.jsonl").exists()


async def test_loopback_addresses_are_refused_outside_of_tests(tmp_path: Path) -> None:
    with document_server() as server:
        one = copy_of(server, CONTENT)
        found = await fetch_sets([one], tmp_path, DocumentSettings(), lambda _: None)
        assert server.asked == []
    assert all("unsafe_address" in told for told in found.missing)


def test_every_home_names_a_commit_a_licence_and_files_that_the_suites_read() -> None:
    named = {name for suite in SUITES.values() for name in (*suite.files, *suite.optional)}
    for one in public_sets():
        assert COMMIT.search(one.home)
        assert one.licence
        assert all(name in named or name.startswith("rinobench/") for name in one.files)
    covered = {name for one in public_sets() for name in one.files}
    elsewhere = " ".join(one.files for one in manual_sets())
    for suite in SUITES.values():
        for name in suite.files:
            assert name in covered or name.partition("/")[0] in elsewhere, (suite.name, name)


def test_what_is_no_lock_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).write_text(json.dumps({"files": 3}))
    with pytest.raises(ConfigurationError, match="is no lock of data files"):
        read_lock(tmp_path)
    assert replace(read_lock(tmp_path / "elsewhere"), version=1).files == {}
