"""Pages and repositories over real connections: read within limits, never run, and every trouble a
value.
"""

import asyncio
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from pydantic import SecretStr

from schemas.identifiers import IdeaId
from schemas.settings import DocumentSettings, Settings, SourceSettings
from tasks.accounting.ledger import Ledger
from tasks.committee.knowledge.reader import COMMITS, CodeHost, WebReader
from tasks.sources.requests import SourceContext
from tasks.web.client import open_client
from tests.support.document_server import DocumentServer, Reply, document_server
from tests.support.source_contexts import KEYLESS, quick
from warehouse.stores.keyed_store import KeyedStore

HTML = {"content-type": "text/html; charset=utf-8"}
ZIP = {"content-type": "application/zip"}
SENTENCE = (
    "We measured that sparse attention saves half of the memory on long documents in our cluster. "
)
PAGE = (
    "<html><body><nav>Home Shop"
    f" Cart</nav><article><h1>Notes</h1><p>{SENTENCE * 3}</p></article></body></html>"
)
COMMIT = "a" * 40
MODEL = '''"""Attention by hashing."""
from lib.data import load_rows

class SparseAttention:
    def __init__(self): pass
    def forward(self, rows): return load_rows(rows)

def train():
    return SparseAttention()
'''


@pytest.fixture
def server() -> Iterator[DocumentServer]:
    with document_server() as running:
        yield running


def archive(files: dict[str, str | bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(f"sparse-{COMMIT}/{name}", text)
    return content.getvalue()


class ReaderTools:
    """A reader whose every address is the loopback server's."""

    def __init__(
        self,
        server: DocumentServer,
        folder: Path,
        token: str | None = "ghp_Secret5",
        *,
        private: bool = True,
    ) -> None:
        self.ledger = Ledger(IdeaId("idea"))
        sources = SourceSettings(
            base_urls={COMMITS: server.url},
            requests_per_minute={COMMITS: 60_000.0},
        )
        settings = Settings(
            **(KEYLESS | {"github_token": SecretStr(token) if token else None}), sources=sources
        )
        self.http = open_client(60.0)
        self.reader = WebReader(
            settings=DocumentSettings(parse_seconds=5.0, parse_memory_bytes=700_000_000),
            ledger=self.ledger,
            code_host=CodeHost(
                settings, SourceContext(self.http, self.ledger, folder), archive_root=server.url
            ),
            store=KeyedStore(folder / "readings.sqlite"),
            slots=asyncio.Semaphore(4),
            allow_private_addresses=private,
        )


@pytest.fixture
def tools(server: DocumentServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReaderTools:
    quick(monkeypatch, attempts=2)
    return ReaderTools(server, tmp_path)


async def test_a_page_is_read_to_its_main_text_once(
    server: DocumentServer, tools: ReaderTools
) -> None:
    server.replies["/post"] = [Reply(200, PAGE.encode(), HTML)]
    reading = await tools.reader.page(f"{server.url}/post")
    ((_, text),) = reading.parts
    assert SENTENCE.strip() in text
    assert "Cart" not in text
    assert await tools.reader.page(f"{server.url}/post") == reading
    assert len(server.asked) == 1
    assert [(call.source, call.status, call.cache_hit) for call in tools.ledger.api_calls] == [
        ("download", 200, False),
        ("download", 200, True),
    ]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(404), "not_found"),
        (Reply(403), "forbidden"),
        (Reply(200, b"%PDF-1.4", {"content-type": "application/pdf"}), "wrong_type"),
        (
            Reply(
                200, b"<html><body><div id=root></div><script>draw()</script></body></html>", HTML
            ),
            "no_text",
        ),
        (Reply(200, b"", HTML), "no_text"),
        (Reply(200, b"<p>" + b"x" * 3_100_000, HTML), "too_large"),
        (Reply(302, b"", {"location": "file:///etc/passwd"}), "unsafe_address"),
    ],
)
async def test_a_page_that_cannot_be_read_says_why(
    server: DocumentServer, tools: ReaderTools, reply: Reply, reason: str
) -> None:
    server.replies["/post"] = [reply]
    reading = await tools.reader.page(f"{server.url}/post")
    assert (reading.parts, reading.failure and reading.failure.reason) == ((), reason)


async def test_no_private_address_is_reached(server: DocumentServer, tmp_path: Path) -> None:
    reading = await ReaderTools(server, tmp_path, private=False).reader.page(f"{server.url}/post")
    assert (reading.failure.reason, server.asked) == ("unsafe_address", [])


async def test_a_page_nested_without_end_ends_as_a_value(
    server: DocumentServer, tools: ReaderTools
) -> None:
    server.replies["/deep"] = [Reply(200, b"<div>" * 400_000 + SENTENCE.encode(), HTML)]
    reading = await tools.reader.page(f"{server.url}/deep")
    assert reading.parts or reading.failure is not None


async def test_a_repository_is_read_to_its_readme_and_who_calls_whom(
    server: DocumentServer, tools: ReaderTools
) -> None:
    files = {
        "README.md": "# Sparse\nHashing attention.",
        "model.py": MODEL,
        "lib/data.py": "def load_rows(rows): return rows",
        "run.sh": "exit 1",
        # Unreadable modules spoil no repository.
        "deep.py": "-" * 100_000 + "1",
        "broken.py": "def (",
        "nul.py": "a = '\0'",
    }
    server.replies["/lab/sparse/zip/HEAD"] = [Reply(200, archive(files), ZIP)]
    reading = await tools.reader.repository("lab/sparse", None)
    parts = dict(reading.parts)
    assert parts["README"].startswith("# Sparse")
    structure = parts["Structure"].splitlines()
    assert structure[0] == "7 files: 5 .py, 1 .md, 1 .sh"
    assert structure[2:] == [
        "lib/data.py; functions load_rows",
        (
            "model.py: Attention by hashing.; classes SparseAttention(forward); functions train;"
            " SparseAttention calls load_rows; train calls SparseAttention"
        ),
    ]


async def test_a_repository_is_read_as_of_the_cutoff(
    server: DocumentServer, tools: ReaderTools
) -> None:
    server.replies["/repos/lab/sparse/commits"] = [
        Reply(200, json.dumps([{"sha": COMMIT}]).encode())
    ]
    server.replies[f"/lab/sparse/zip/{COMMIT}"] = [
        Reply(200, archive({"README.md": "As it was."}), ZIP)
    ]
    reading = await tools.reader.repository("lab/sparse", date(2022, 6, 30))
    assert dict(reading.parts)["README"] == "As it was."
    assert "until=2022-06-30T23%3A59%3A59Z" in server.asked[0].path
    assert server.asked[0].headers["Authorization"] == "Bearer ghp_Secret5"
    assert "Authorization" not in server.asked[1].headers


async def test_without_a_token_the_past_of_a_repository_cannot_be_looked_at(
    server: DocumentServer, tmp_path: Path
) -> None:
    reading = await ReaderTools(server, tmp_path, token=None).reader.repository(
        "lab/sparse", date(2022, 6, 30)
    )
    assert (reading.failure.reason, "GITHUB_TOKEN" in reading.failure.detail, server.asked) == (
        "not_configured",
        True,
        [],
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [(b"[]", "not_found"), (b"{}", "malformed_answer"), (b'[{"sha": "../x"}]', "malformed_answer")],
)
async def test_no_commit_and_no_sense_differ(
    server: DocumentServer, tools: ReaderTools, body: bytes, reason: str
) -> None:
    server.replies["/repos/lab/sparse/commits"] = [Reply(200, body)]
    reading = await tools.reader.repository("lab/sparse", date(2022, 6, 30))
    assert reading.failure.reason == reason


async def test_a_repository_too_large_to_parse_in_time_says_what_was_left_out(
    server: DocumentServer, tools: ReaderTools
) -> None:
    module = "\n".join(f"def f{number}():\n  return f{number + 1}()" for number in range(3_000))
    server.replies["/lab/sparse/zip/HEAD"] = [
        Reply(200, archive({f"m{number}.py": module for number in range(60)}), ZIP)
    ]
    hurried = replace(tools.reader, settings=DocumentSettings(parse_seconds=2.0))
    parts = dict((await hurried.repository("lab/sparse", None)).parts)
    assert "Python files left out" in parts["Structure"]


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04 and nothing more",
        archive({"README.md": b"\0" * 40_000_000}),
        archive({f"m{number}.py": "x = " + "(" * 5_000 + ")" * 5_000 for number in range(3)}),
        archive(
            {
                "../../etc/passwd.py": "def f(): pass",
                "broken.py": "def (",
                "nul.py": "a = '\0'",
                "deep.py": "-" * 100_000 + "1",
            }
        ),
        archive({}),
    ],
    ids=["no archive", "bomb", "nested", "names and errors", "empty"],
)
async def test_a_hostile_archive_ends_as_a_value(
    server: DocumentServer, tools: ReaderTools, content: bytes
) -> None:
    server.replies["/lab/sparse/zip/HEAD"] = [Reply(200, content, ZIP)]
    reading = await tools.reader.repository("lab/sparse", None)
    assert reading.parts or reading.failure is not None
    assert sum(len(text) for _, text in reading.parts) < 1_000_000
