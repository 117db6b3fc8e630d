"""A parser in a process of its own: the document goes in, the answer comes out, and neither time nor memory is unbounded."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.interpreter import interpreter

_MAXIMUM_ANSWER_BYTES = 60_000_000
_MAXIMUM_ERROR_BYTES = 10_000
_WALL_SECONDS_PER_CPU_SECOND = 3
_PASSED_ON = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended; `code` None: it was stopped because it took longer than `wall_seconds`."""

    code: int | None
    output: bytes
    errors: str
    wall_seconds: int


async def run_child(arguments: Sequence[str], content: bytes, cpu_seconds: int) -> Ended:
    """Run `python -P <arguments>` with `content` on its standard input, for three times its processor time at most.

    The child gets the document and nothing else: no secrets in its environment. It limits its own memory and time.
    """
    wall_seconds = _WALL_SECONDS_PER_CPU_SECOND * cpu_seconds
    process = await asyncio.create_subprocess_exec(
        *interpreter(),
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
    )
    try:
        async with asyncio.timeout(wall_seconds):
            output, errors = await _conversation(process, content)
            await process.wait()
    except TimeoutError:
        return Ended(None, b"", "", wall_seconds)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Ended(process.returncode or 0, output, errors, wall_seconds)


async def _conversation(process: asyncio.subprocess.Process, content: bytes) -> tuple[bytes, str]:
    """Hand the document over and read the answer, no more of it than an honest child writes."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    feeding = asyncio.create_task(_feed(process.stdin, content))
    errors = asyncio.create_task(process.stderr.read(_MAXIMUM_ERROR_BYTES))
    output = bytearray()
    while chunk := await process.stdout.read(1 << 20):
        output += chunk
        if len(output) > _MAXIMUM_ANSWER_BYTES:
            process.kill()
            break
    await feeding
    return bytes(output), (await errors).decode("utf-8", "replace")


async def _feed(stdin: asyncio.StreamWriter, content: bytes) -> None:
    try:
        stdin.write(content)
        await stdin.drain()
        stdin.close()
        await stdin.wait_closed()
    except (BrokenPipeError, ConnectionResetError):
        return
