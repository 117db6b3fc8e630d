"""Run a module in a process that ends when its parent ends.

`python -m flows.run.child PARENT MODULE ARGS…`
"""

import ctypes
import os
import runpy
import signal
import sys

from schemas.interpreter import collect_garbage_seldom

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Ask Linux to kill this process when `parent` ends; no effect elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit("the parent was gone before this process began")


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    collect_garbage_seldom()
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
