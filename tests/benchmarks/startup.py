"""From the command to the first idea begun: on a machine that never ran Assay, and again."""

import subprocess
import tempfile
import time
from pathlib import Path

from tests.benchmarks._assay import command, environment


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for label in ("cold", "warm"):
            begun, ended = _times(folder, label)
            print(f"{label}: {begun:.1f} s to the first idea, {ended:.1f} s for the whole demo")


def _times(folder: Path, label: str) -> tuple[float, float]:
    warehouse, started = folder / label, time.monotonic()
    with (folder / f"{label}.log").open("wb") as log:
        process = subprocess.Popen(
            command("demo", "--warehouse", str(warehouse)),
            env=environment(folder / "home"),
            stdout=log,
            stderr=log,
        )
        while not any(warehouse.glob("state/runs/*/attempts/*")) and process.poll() is None:
            time.sleep(0.01)
        begun = time.monotonic() - started
        process.wait()
    return begun, time.monotonic() - started


if __name__ == "__main__":
    main()
