"""Parsers in child processes with limits on time and memory."""

import asyncio
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.interpreter import interpreter
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from tasks.documents.limited_child import EXIT_MEMORY

EXIT_REFUSED = 10
"""Exit code of a child that refuses the document; standard error holds the reason."""

_MAXIMUM_ANSWER_BYTES = 60_000_000
_MAXIMUM_ERROR_BYTES = 10_000
_UNCAUGHT = 1
"""Exit code of Python after an exception that nothing caught."""
_CHILD_SCRIPT = Path(__file__).with_name("limited_child.py")
# The actual limit is processor time; a busy machine takes longer for the same work.
_WALL_SECONDS_PER_CPU_SECOND = 3
# The variables that Python needs to start. API keys, in other variables, are not passed on.
_PASSED_ON = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """The result of a child process; `code` None: stopped after `wall_seconds`."""

    code: int | None
    output: bytes
    errors: str
    wall_seconds: int


async def run_child(
    arguments: Sequence[str], content: bytes, settings: DocumentSettings
) -> ChildEnd:
    """Run a Python file or module with `content` on its standard input.

    It is limited to the memory and processor time of `settings`, stopped after three times that
    time, and gets no secrets.
    """
    cpu_seconds = max(int(settings.parse_seconds), 1)
    wall_seconds = _WALL_SECONDS_PER_CPU_SECOND * cpu_seconds
    process = await asyncio.create_subprocess_exec(
        *interpreter(),
        *("-B", str(_CHILD_SCRIPT), str(cpu_seconds), str(settings.parse_memory_bytes)),
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
    )
    try:
        async with asyncio.timeout(wall_seconds):
            output, errors = await _exchange(process, content)
            await process.wait()
    except TimeoutError:
        return ChildEnd(None, b"", "", wall_seconds)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return ChildEnd(process.returncode or 0, output, errors, wall_seconds)


def verdict(end: ChildEnd, settings: DocumentSettings, what: str) -> tuple[Reason, str]:
    """Return why a child returned no document, by its exit code.

    Args:
        what: the document, as in `the PDF`.
    """
    verdicts = {
        # Not PARSER_LIMIT: the machine may have been busy.
        None: (Reason.TIMEOUT, f"reading took more than {end.wall_seconds} s"),
        EXIT_MEMORY: (
            Reason.PARSER_LIMIT,
            f"reading needs more than {settings.parse_memory_bytes:,} bytes of memory",
        ),
        -signal.SIGXCPU: (
            Reason.PARSER_LIMIT,
            f"reading takes more than {settings.parse_seconds:g} s of processor time",
        ),
        -signal.SIGKILL: (Reason.PARSER_LIMIT, "the reader was stopped for what it used"),
    }
    if end.code == _UNCAUGHT:  # the reader failed, which says nothing about the document
        last_line = end.errors.strip().rpartition("\n")[2][:200]
        return Reason.PARSER_LIMIT, f"this machine could not run the reader: {last_line}"
    damage_detail = f"the reader ended with code {end.code}: {what} is damaged or hostile"
    return verdicts.get(end.code, (Reason.DAMAGED, damage_detail))


async def _exchange(process: asyncio.subprocess.Process, content: bytes) -> tuple[bytes, str]:
    """Send the document to the child and read its output, up to a maximum size."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    feed = asyncio.create_task(_feed(process.stdin, content))
    errors = asyncio.create_task(process.stderr.read(_MAXIMUM_ERROR_BYTES))
    output = bytearray()
    while chunk := await process.stdout.read(1 << 20):
        output += chunk
        if len(output) > _MAXIMUM_ANSWER_BYTES:
            process.kill()
            break
    await feed
    return bytes(output), (await errors).decode("utf-8", "replace")


async def _feed(stdin: asyncio.StreamWriter, content: bytes) -> None:
    try:
        stdin.write(content)
        await stdin.drain()
        stdin.close()
        await stdin.wait_closed()
    except (BrokenPipeError, ConnectionResetError):
        return
