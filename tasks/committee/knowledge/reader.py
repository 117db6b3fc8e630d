"""Reader of web pages and of repositories up to a date.

It reads the main text of a page, and README and structure of a repository.

Fetched code is never run. Commits: docs.github.com/rest/commits.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import orjson
from pydantic import ValidationError

from schemas.base import Noun
from schemas.failure import SourceFailure
from schemas.identifiers import content_hash
from schemas.reasons import Reason
from schemas.settings import DocumentSettings, Settings
from schemas.text.patterns import bounded
from tasks.accounting.ledger import Ledger
from tasks.documents.child import run_child, verdict
from tasks.documents.download import MEDIA, SOURCE, Downloader, FileKind
from tasks.sources.code import GithubRepositorySource
from tasks.sources.fields import UnreadableAnswer, json_of, rows_of, text_of
from tasks.sources.requests import Question, Reply, SourceContext, SourceRequests
from tasks.web.calls import failure, record_cache_hit
from warehouse.stores.keyed_store import KeyedStore, json_entry

COMMITS = "github_commits"
REQUESTS_PER_MINUTE = 60
_NAME = bounded(r"[\w.-]{1,100}")
_COMMIT = bounded(r"[0-9a-f]{40}")
# First path segments of GitHub's own pages, which are no owners.
_NO_OWNERS = frozenset(
    [
        "about",
        "apps",
        "collections",
        "features",
        "marketplace",
        "orgs",
        "search",
        "sponsors",
        "topics",
        "trending",
    ]
)


def repository_of(url: str) -> str | None:
    """Return `owner/name` of a GitHub URL, for any page of a repository; else None."""
    try:
        parts = urlsplit(url)
        segments = [segment for segment in parts.path.split("/") if segment][:2]
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    sound = len(segments) == 2 and all(
        _NAME.fullmatch(segment) and segment not in (".", "..") for segment in segments
    )
    if host != "github.com" or not sound or segments[0] in _NO_OWNERS:
        return None
    return f"{segments[0]}/{segments[1].removesuffix('.git')}"


@dataclass(frozen=True, slots=True)
class CodeHost:
    """Archives and commits of GitHub."""

    settings: Settings
    source_context: SourceContext
    archive_root: str = "https://codeload.github.com"

    def archive(self, name: str, revision: str | None) -> str:
        return f"{self.archive_root}/{name}/zip/{revision or 'HEAD'}"

    async def commit_until(self, name: str, day: date) -> str | SourceFailure:
        """Return the last commit up to the end of `day` (UTC).

        API: GET /repos/{owner}/{repo}/commits?until=…&per_page=1.
        """
        question = Question(
            f"/repos/{name}/commits", (("until", f"{day.isoformat()}T23:59:59Z"), ("per_page", "1"))
        )
        upstream = GithubRepositorySource.upstream(self.settings)
        upstream = replace(
            upstream,
            source=COMMITS,
            base_url=self.settings.sources.base_urls.get(COMMITS, upstream.base_url),
            per_minute=self.settings.sources.requests_per_minute.get(COMMITS, REQUESTS_PER_MINUTE),
            limit_name=COMMITS,
        )
        requests = SourceRequests(upstream, self.source_context)
        if self.settings.github_token is None:
            detail = (
                "set GITHUB_TOKEN: what the repository held on the cutoff date can only be asked"
                " with one"
            )
            return requests.failure(question, Reason.NOT_CONFIGURED, detail)
        answer = await requests.fetch(question, _last_commit)
        if answer.failure is not None:
            return answer.failure
        if not answer.page:
            return requests.failure(
                question, Reason.NOT_FOUND, f"the repository has no commit up to {day.isoformat()}"
            )
        return answer.page


def _last_commit(reply: Reply) -> str:
    rows = rows_of(json_of(reply.content))
    sha = text_of(rows[0], "sha") if rows and isinstance(rows[0], dict) else ""
    if rows and not _COMMIT.fullmatch(sha):
        raise UnreadableAnswer("the first commit has no hash")
    return sha


KINDS_NAMED = 8
FOLDERS_NAMED = 12
CALLS_NAMED = 8


class Module(Noun):
    path: str
    about: str
    classes: dict[str, list[str]]
    functions: list[str]
    calls: dict[str, list[str]]

    @property
    def defined(self) -> frozenset[str]:
        return frozenset((*self.classes, *self.functions))


class Archive(Noun):
    readme: str
    file_count: int
    files: list[tuple[str, int]]
    modules: list[Module]
    modules_left_out: int


def describe_archive(archive: Archive) -> str:
    """Describe an archive by file types, folders and modules.

    Each module has a line; the most used modules come first.
    """
    kinds = Counter(
        PurePosixPath(path).suffix or PurePosixPath(path).name for path, _ in archive.files
    )
    folders = Counter(path.partition("/")[0] + "/" for path, _ in archive.files if "/" in path)
    named_kinds = (f"{count} {kind}" for kind, count in kinds.most_common(KINDS_NAMED))
    named_folders = (f"{name} ({count})" for name, count in folders.most_common(FOLDERS_NAMED))
    lines = [f"{archive.file_count} files: {', '.join(named_kinds)}"]
    if folders:
        lines.append(f"Folders: {', '.join(named_folders)}")
    if archive.modules_left_out:
        lines.append(f"[… {archive.modules_left_out} Python files left out …]")
    call_counts = Counter(
        name
        for module in archive.modules
        for names in module.calls.values()
        for name in names
        if name not in module.defined
    )

    def order(module: Module) -> tuple[int, int, str]:
        uses = sum(call_counts[name] for name in module.defined)
        return -uses, module.path.count("/"), module.path

    defined_names = frozenset(name for each in archive.modules for name in each.defined)
    described_modules = [module for module in archive.modules if module.defined or module.calls]
    return "\n".join(
        (*lines, *(_line(each, defined_names) for each in sorted(described_modules, key=order)))
    )


def _line(module: Module, defined_names: frozenset[str]) -> str:
    parts = [f"{module.path}: {module.about}".rstrip(": ")]
    if module.classes:
        classes = (f"{name}({', '.join(methods)})" for name, methods in module.classes.items())
        parts.append(f"classes {', '.join(classes)}")
    if module.functions:
        parts.append(f"functions {', '.join(module.functions)}")
    for name, called_names in module.calls.items():
        module_calls = [each for each in called_names if each in defined_names and each != name]
        if module_calls:
            parts.append(f"{name or 'the module'} calls {', '.join(module_calls[:CALLS_NAMED])}")
    return "; ".join(parts)


VERSION = 1
"""Part of the cache key; raised whenever the same page or archive gives another reading."""
LOOK_UP_SECONDS = 30 * 24 * 3600.0
MAXIMUM_PAGE_CHARACTERS = 200_000
SHORTEST_PAGE_CHARACTERS = 80
_PAGE_CHILD = Path(__file__).with_name("page_child.py")
_REPOSITORY_CHILD = Path(__file__).with_name("repository_child.py")
WEB_PAGE = FileKind(
    name="web page",
    accept="text/html,application/xhtml+xml,text/plain;q=0.5",
    refused_types=(
        *MEDIA,
        "application/pdf",
        "application/zip",
        "application/octet-stream",
        "application/json",
    ),
    wrong=Reason.WRONG_TYPE,
    maximum_bytes=3_000_000,
)
ARCHIVE = FileKind(
    name="ZIP archive",
    accept="application/zip,*/*;q=0.1",
    refused_types=(*MEDIA, "text/"),
    wrong=Reason.WRONG_TYPE,
    magic=b"PK\x03\x04",
    maximum_bytes=25_000_000,
)

Parts = tuple[tuple[str, str], ...]
"""(heading, text) in reading order."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Parts of a text, or a failure."""

    parts: Parts = ()
    failure: SourceFailure | None = None


@dataclass(frozen=True, slots=True)
class WebReader:
    """Reader of web pages and repositories for one idea.

    Its ledger records the requests.

    Failures are part of the `Reading`, never raised.

    A page is read in its current state, a repository up to a date if one is given.

    Args:
        allow_private_addresses: for tests against loopback only.
    """

    settings: DocumentSettings
    ledger: Ledger
    code_host: CodeHost
    store: KeyedStore | None
    slots: asyncio.Semaphore
    allow_private_addresses: bool = False

    async def page(self, url: str) -> Reading:
        """Read the main text of a page, without menus, advertisements and comments."""
        return await self._read(url, WEB_PAGE, "page", self._main_text)

    async def repository(self, name: str, as_of: date | None) -> Reading:
        """Read README and structure of `owner/name` at its last commit up to `as_of`.

        None: at the head of the default branch.
        """
        revision = await self.code_host.commit_until(name, as_of) if as_of is not None else None
        if isinstance(revision, SourceFailure):
            return Reading(failure=revision)
        return await self._read(
            self.code_host.archive(name, revision), ARCHIVE, "repository", self._read_archive
        )

    async def _read(
        self,
        url: str,
        file_kind: FileKind,
        kind: str,
        parse: Callable[[bytes, str], Awaitable[Reading]],
    ) -> Reading:
        key = f"{kind}:{VERSION}:{content_hash(url)}"
        async with self.slots:
            if (parts := await self._load_cached(key)) is not None:
                record_cache_hit(self.ledger, SOURCE, f"{kind} kept")
                return Reading(parts)
            private = self.allow_private_addresses
            downloader = Downloader(self.settings, self.ledger, private, file_kind)
            content = await downloader.fetch(url)
            reading = (
                Reading(failure=content)
                if isinstance(content, SourceFailure)
                else await parse(content, url)
            )
        if reading.failure is None and self.store is not None:
            await asyncio.to_thread(self.store.put_many, {key: orjson.dumps(reading.parts)})
        return reading

    async def _load_cached(self, key: str) -> Parts | None:
        if self.store is None:
            return None
        value = (await asyncio.to_thread(self.store.get_many, [key], LOOK_UP_SECONDS)).get(key)
        parts = json_entry(value)
        if not isinstance(parts, list) or not all(_is_part(each) for each in parts):
            return None
        return tuple((heading, text) for heading, text in parts)

    async def _main_text(self, content: bytes, url: str) -> Reading:
        answer = await self._in_child(_PAGE_CHILD, content, str(MAXIMUM_PAGE_CHARACTERS))
        if isinstance(answer, SourceFailure):
            return Reading(failure=answer)
        text = answer.decode("utf-8", "replace").strip()
        if len(text) < SHORTEST_PAGE_CHARACTERS:
            detail = "the page holds no main text (a script may draw it)"
            return Reading(failure=failure("page", url, Reason.NO_TEXT, detail))
        return Reading((("Page", text),))

    async def _read_archive(self, content: bytes, url: str) -> Reading:
        cpu_seconds = str(max(int(self.settings.parse_seconds), 1))
        answer = await self._in_child(_REPOSITORY_CHILD, content, cpu_seconds)
        if isinstance(answer, SourceFailure):
            return Reading(failure=answer)
        try:
            archive = Archive.model_validate_json(answer)
            parts = (("README", archive.readme.strip()), ("Structure", describe_archive(archive)))
            return Reading(tuple((heading, text) for heading, text in parts if text))
        except ValidationError:
            detail = "the reader of the archive answered nonsense"
            return Reading(failure=failure("repository", url, Reason.DAMAGED, detail))

    async def _in_child(
        self, script: Path, content: bytes, *arguments: str
    ) -> bytes | SourceFailure:
        name = script.stem.removesuffix("_child")
        process = await run_child((str(script), *arguments), content, self.settings)
        if process.code == 0:
            return process.output
        return failure(name, "", *verdict(process, self.settings, f"the {name}"))


def _is_part(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(v, str) for v in value)
