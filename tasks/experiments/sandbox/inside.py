"""What holds inside every sandbox: its folders, its environment, and how its one file comes out."""

from collections.abc import Callable
from dataclasses import dataclass
from subprocess import Popen

from schemas.works.experiment import Limits

SCRATCH = "/scratch"
GIVEN = "/given"
NOBODY = "65534"
OPEN_FILES = 256
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": SCRATCH,
    "TMPDIR": SCRATCH,
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # Its workers read `/proc`, which is not there; joblib then works in one process.
    "JOBLIB_MULTIPROCESSING": "0",
    "PYTHONHASHSEED": "0",
}
# The program's own output goes nowhere; the file it leaves is what comes out.
# A pipe left in its place would keep `head` waiting.
THEN_THE_FILE = (
    '"$@" >/dev/null; code=$?; [ -L "$LEFT" ] || [ ! -f "$LEFT" ] ||'
    ' head -c "$MOST" "$LEFT" 2>/dev/null'
)


@dataclass(frozen=True, slots=True)
class Walled:
    """A command in a sandbox, before it starts.

    Attributes:
        environment: what starts the sandbox sees; the program inside sees none of it.
        descriptors: files that the sandbox takes over.
        usage_of: what the sandbox of a process holds now.
        end: ends all that runs in the sandbox of a process, and waits for it.
        told: of what was written to standard error, the program's own part and what the sandbox
            says of memory; None: it says nothing.
    """

    command: list[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...]
    usage_of: Callable[[int], "Usage"]
    end: Callable[["Popen[bytes]"], None]
    told: Callable[[str], tuple[str, "Memory | None"]]


@dataclass(frozen=True, slots=True)
class Usage:
    """Memory and files that a sandbox holds at one moment; 0 where it bounds them itself."""

    memory_bytes: int = 0
    files: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """What a sandbox says of its memory when it has ended; `most_bytes` None: how much was used is
    not known, only whether it was too much.
    """

    most_bytes: int | None
    passed: bool


def told_inside(leaves: str, limits: Limits) -> dict[str, str]:
    """The environment inside; a byte more than is allowed shows that an answer is too long."""
    most = {"MOST": f"{limits.answer_bytes + 1}", "LEFT": f"{SCRATCH}/{leaves}"}
    return {**ENVIRONMENT, **most}
