"""Typst and LaTeX as limited child processes without keys or network.

Templates of strangers are programs: they may loop, write without end, or open files. LaTeX runs in
bubblewrap, because TeX's own limits do not cover the files that it includes in a PDF.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.interpreter import module_command
from warehouse.scrubbing import is_secret

SECONDS = 180
_MOST_FILE_BYTES, _MOST_MEMORY_BYTES = 200_000_000, 4_000_000_000
_MOST_OUTPUT_BYTES = 10_000
# Other variables may hold keys, and TeX can read any variable.
_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH")
_PASSED_PREFIXES = ("LC_", "PYTHON", "TEX", "BIB", "BST", "FONTCONFIG")
# A POSIX shell counts blocks of 512 bytes; some systems have no bound on memory.
_BOUNDED_COMMAND = 'ulimit -f "$1"; ulimit -v "$2" 2>/dev/null; shift 2; exec "$@"'
# Nothing listens on port 0, so Typst cannot download packages through this proxy. Threads are
# limited because each one reserves address space, which `ulimit -v` bounds.
_TYPST = {
    **dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:0"),
    "RAYON_NUM_THREADS": "2",
}

# TeX, its configuration and fonts, and what programs need to start.
_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives"),
    *("/etc/texmf", "/etc/fonts", "/var/lib/texmf", "/var/cache/fontconfig"),
)
_DEVICES = ("/dev/null", "/dev/urandom")
_SCRATCH = "/tmp"  # noqa: S108 -- a file system of its own inside bubblewrap
BUBBLEWRAP = "bwrap"
IN_BUBBLEWRAP = {"HOME": _SCRATCH, "TMPDIR": _SCRATCH}


def in_bubblewrap(bubblewrap: str, program: str, folder: Path) -> list[str]:
    """Return the command that runs `program` with access to `folder` only.

    System files are readable. The session that `run_bounded` starts has no terminal.
    """
    command = [bubblewrap, "--unshare-all", "--cap-drop", "ALL", "--die-with-parent"]
    for path in _SYSTEM:
        command += ["--ro-bind-try", path, path]
    for path in _DEVICES:
        command += ["--dev-bind", path, path]
    command += ["--size", f"{_MOST_FILE_BYTES}", "--tmpfs", _SCRATCH]
    file = Path(program).resolve()
    if not file.is_relative_to("/usr"):  # a private TeX, such as TinyTeX in a home folder
        tree = next((each.parent for each in file.parents if each.name == "texmf-dist"), file)
        command += ["--ro-bind", f"{tree}", f"{tree}"]
    place = f"{folder.resolve()}"
    command += ["--bind", place, place, "--remount-ro", "/", "--chdir", place, "--"]
    return [*command, f"{file}"]


def run_bounded(
    command: Sequence[str], folder: Path, environment: dict[str, str]
) -> tuple[int | None, str]:
    """Run a program in `folder`; return its exit code and output.

    The exit code is None after a timeout of `SECONDS`.
    """
    bounds = (str(_MOST_FILE_BYTES // 512), str(_MOST_MEMORY_BYTES // 1024))
    inherited_variables = {
        name: value
        for name, value in os.environ.items()
        if (name in _PASSED_ON or name.startswith(_PASSED_PREFIXES)) and not is_secret(name)
    }
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(  # noqa: S603 -- the shell gets our own words, and the command as arguments
            ["/bin/sh", "-c", _BOUNDED_COMMAND, "sh", *bounds, *command],
            cwd=folder,
            env=inherited_variables | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        code: int | None = None
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:  # also when interrupted
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        return code, output.read(_MOST_OUTPUT_BYTES).decode("utf-8", "replace")


def run_typst(source: Path, pdf: Path, *, accessible: bool = False) -> None:
    """Set `source` with Typst, without files outside its folder and without packages.

    Args:
        accessible: as PDF/UA-1 if possible; else `missing` lists the characters that no font has.

    Raises:
        ConfigurationError: Typst refuses, in its words.
    """
    words = [str(source.resolve()), str(pdf.resolve())]
    with tempfile.TemporaryDirectory(prefix="assay-typst-") as packages:
        words += [packages, *["accessible"] * accessible]
        child = module_command("dashboards.render.drafts.typst_child", *words)
        code, output = run_bounded(child, source.parent, _TYPST)
    if code != 0:
        reason = f"it took longer than {SECONDS} seconds" if code is None else f"code {code}"
        line = " ".join((output or reason).split())
        raise ConfigurationError(f"Typst cannot set {pdf.name}: {line}; check the template")
