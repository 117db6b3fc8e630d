"""Seed each small fault into a copy of the project and see whether the tests concerned catch it.

    python -m tests.seeded_faults                 # all faults; two at a time
    python -m tests.seeded_faults warehouse_      # those whose names begin so
    python -m tests.seeded_faults --write         # store the results in results.csv

A fault is a patch with a header of three lines: `Fault:`, `Guarantee:` and `Tests:`. Where the tests
that `make test` runs do not catch a fault, the long ones of the same files are tried.
"""

import argparse
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
RESULTS = FOLDER / "results.csv"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_FAILURES = {1, 2}  # pytest's exit codes: tests failed; collection was interrupted by an error
_NO_TESTS = 5
_LONGEST_SECONDS = 1800


@dataclass(frozen=True)
class SeededFault:
    """A patch, what it breaks, and the tests that a maintainer of the place would run."""

    name: str
    fault: str
    guarantee: str
    tests: tuple[str, ...]
    patch: Path


@dataclass(frozen=True)
class Result:
    """The tier that caught a fault (`test`, `long` or `missed`) and the first test that failed."""

    fault: str
    tier: str
    caught_by: str


def seeded_faults(beginnings: tuple[str, ...] = ("",)) -> list[SeededFault]:
    """Return the faults whose names begin with one of `beginnings`, by name."""
    return [
        _read(patch)
        for patch in sorted(FOLDER.glob("*.patch"))
        if patch.stem.startswith(beginnings)
    ]


def _read(patch: Path) -> SeededFault:
    header = patch.read_text(encoding="utf-8").partition("diff --git")[0]
    fields = dict(line.split(": ", 1) for line in header.splitlines() if ": " in line)
    missing = {"Fault", "Guarantee", "Tests"} - fields.keys()
    if missing:
        raise ValueError(f"{patch.name} lacks {', '.join(sorted(missing))}")
    tests = tuple(fields["Tests"].split())
    return SeededFault(patch.stem, fields["Fault"], fields["Guarantee"], tests, patch)


@contextmanager
def copy_of_the_project() -> Iterator[Path]:
    """Yield a folder with the tracked files as they are now, the shared data beside it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    with tempfile.TemporaryDirectory(prefix="assay-fault-") as folder:
        copy = Path(folder) / "project"
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
        if (ROOT.parent / "shared").exists():
            (Path(folder) / "shared").symlink_to(ROOT.parent / "shared")
        # A repository of its own, so that patches apply there and tests that ask git find one.
        subprocess.run(["git", "init", "--quiet"], cwd=copy, check=True)
        yield copy


def apply(fault: SeededFault, copy: Path) -> None:
    """Apply a fault's patch to a copy of the project; raises where it no longer applies."""
    subprocess.run(["git", "apply", "--recount", str(fault.patch)], cwd=copy, check=True)


def try_fault(fault: SeededFault) -> Result:
    """Apply one fault to a copy and run the tests concerned until one of them fails."""
    with copy_of_the_project() as copy:
        apply(fault, copy)
        for tier, markers in (
            ("test", "not long and not kills"),
            ("long", "(long or hypothesis) and not kills"),
        ):
            failed = _first_failure(copy, fault.tests, markers, tier == "long")
            if failed:
                return Result(fault.name, tier, failed)
    return Result(fault.name, "missed", "")


def _first_failure(copy: Path, tests: tuple[str, ...], markers: str, long: bool) -> str:
    """Return the first test that fails, empty where none does."""
    environment = (
        os.environ | {"PYTHONPATH": str(copy)} | ({"ASSAY_TESTS_LONG": "1"} if long else {})
    )
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", markers]
    # A file, not a pipe: what a killed test leaves behind would hold a pipe open.
    with (copy.parent / "output").open("w+") as output:
        started = subprocess.Popen(
            [*command, *tests], cwd=copy, env=environment, stdout=output, start_new_session=True
        )
        try:
            status = started.wait(_LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            return "no test ended in time"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
        output.seek(0)
        text = output.read()
    if status in (0, _NO_TESTS):
        return ""
    if status not in _FAILURES:
        raise RuntimeError(f"pytest ended with {status}:\n{text[-2000:]}")
    found = _FAILED.search(text)
    return found[1] if found else "collection"


def stored_results() -> dict[str, Result]:
    if not RESULTS.exists():
        return {}
    with RESULTS.open(encoding="utf-8", newline="") as lines:
        return {row["fault"]: Result(**row) for row in csv.DictReader(lines)}


def _store(results: dict[str, Result]) -> None:
    with RESULTS.open("w", encoding="utf-8", newline="") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(("fault", "tier", "caught_by"))
        names = {fault.name for fault in seeded_faults()}
        for name in sorted(names & results.keys()):
            table.writerow((name, results[name].tier, results[name].caught_by))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.seeded_faults", description=__doc__)
    parser.add_argument("names", nargs="*", default=[""], help="the beginnings of faults' names")
    parser.add_argument("--jobs", type=int, default=2, help="faults tried at a time")
    parser.add_argument("--write", action="store_true", help="store the results in results.csv")
    options = parser.parse_args()
    faults = seeded_faults(tuple(options.names))
    before = stored_results()
    results = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(try_fault, faults):
            print(f"{result.tier:6}  {result.fault}  {result.caught_by}", flush=True)
            results[result.fault] = result
    lost = [
        name
        for name, result in results.items()
        if result.tier == "missed" and before.get(name, result).tier != "missed"
    ]
    tiers = [result.tier for result in results.values()]
    print(", ".join(f"{tier} {tiers.count(tier)}" for tier in ("test", "long", "missed")))
    if options.write:
        _store(before | results)
    for name in lost:
        print(f"no longer caught: {name}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
