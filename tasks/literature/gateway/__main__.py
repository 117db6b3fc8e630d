"""`python -m tasks.literature.gateway`: what `GatewayProcess` starts.

Ends with the process that started it.
"""

import argparse
import os
import signal
import sys
import threading
import time
from pathlib import Path

from schemas.choices import LIVE, LiteratureChoice
from schemas.errors import AssayError
from schemas.interpreter import collect_garbage_seldom
from schemas.settings import Settings

# For no longer than this a gateway outlives a driver that was killed.
_PARENT_EVERY_SECONDS = 0.3


def main() -> int:
    """Exit code 2 and one line on stderr when it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m tasks.literature.gateway")
    parser.add_argument(
        "--literature", default=LIVE.text, help="snapshot:FOLDER, snapshot:FOLDER+live or live"
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=Path("literature-cache"))
    parser.add_argument("--port-file", type=Path)
    parser.add_argument("--parent", type=int, help="stop when this process is no longer the parent")
    arguments = parser.parse_args()
    collect_garbage_seldom()
    from tasks.literature.gateway.application import serve  # which imports most of the libraries

    if arguments.parent is not None:
        threading.Thread(target=_end_with, args=(arguments.parent,), daemon=True).start()
    try:
        serve(
            Settings(),
            LiteratureChoice.parse(arguments.literature),
            arguments.host,
            arguments.port,
            arguments.cache,
            arguments.port_file,
        )
    except AssayError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _end_with(parent: int) -> None:
    """A killed driver cannot stop its gateway; the gateway notices that it was adopted."""
    while os.getppid() == parent:
        time.sleep(_PARENT_EVERY_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
