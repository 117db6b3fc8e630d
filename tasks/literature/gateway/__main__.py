"""Entry point of the gateway process that `GatewayProcess` starts.

It stops when its parent process ends.
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

# A gateway outlives a killed parent by at most this time.
_PARENT_EVERY_SECONDS = 0.3


def main() -> int:
    """Run the gateway.

    It ends with exit code 2 and one line on stderr if it cannot start.
    """
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
        threading.Thread(target=_stop_without_parent, args=(arguments.parent,), daemon=True).start()
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


def _stop_without_parent(parent: int) -> None:
    """Stop this process once its parent has ended, also if the parent was killed."""
    while os.getppid() == parent:
        time.sleep(_PARENT_EVERY_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
