"""`make screenshots`: the pictures of the README, taken of the dashboard over the demo's own run.

python -m tests.screenshots                     evaluates the bundled ideas first
python -m tests.screenshots --warehouse DIR     shows a demo that was made before
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.support import browser as browsers
from tests.support.assay_command import assay, environment, rows
from tests.support.browser import Reader

IMAGES = Path(__file__).parents[2] / "docs" / "images"
GROUP, IDEA = "biochemistry", "bioc-ppi-pairs"
WIDTH, HEIGHT, SCALE = 1360, 940, 1.25
FIRST_RUN = "select run_id from runs order by started_at limit 1"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--warehouse", type=Path)
    if browsers.chromium_path() is None:
        sys.exit(f"make screenshots {browsers.HOW_TO_INSTALL}")
    with tempfile.TemporaryDirectory() as folder:
        env = environment(Path(folder) / "home")
        warehouse = parser.parse_args().warehouse or _demo(Path(folder) / "warehouse", env)
        run = rows(warehouse, FIRST_RUN)[0]["run_id"]
        with (
            browsers.chromium() as browser,
            browsers.dashboard(warehouse, env, Path(folder) / "log") as address,
        ):
            for take in (_take_ranking, _take_idea):
                with browsers.reader_of(
                    browser, address, width=WIDTH, height=HEIGHT, scale=SCALE
                ) as reader:
                    take(reader, run)


def _demo(warehouse: Path, env: dict[str, str]) -> Path:
    done = assay("demo", "--warehouse", str(warehouse), env=env)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return warehouse


def _take_ranking(reader: Reader, run: str) -> None:
    reader.open("ideas", run=run, basis="scores", group=GROUP)
    reader.read("Ranks rest on scores")
    _take(reader, "ranking")


def _take_idea(reader: Reader, run: str) -> None:
    reader.open("idea", run=run, idea=IDEA)
    reader.read("Closest prior work", "Scores")
    _take(reader, "idea")


def _take(reader: Reader, name: str) -> None:
    """The first screen of a page."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    path = IMAGES / f"{name}.png"
    reader.page.screenshot(path=path)
    print(path.relative_to(IMAGES.parents[1]), f"{path.stat().st_size / 1000:,.0f} kB")


if __name__ == "__main__":
    main()
