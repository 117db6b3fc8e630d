"""A night of many ideas by batch, some questions expired, the command killed twice.

Run as `python tests/benchmarks/batch_night.py [--ideas 200] [--expired 0.02] [--modules novelty]`.
It fails where a question is submitted twice, an idea has neither score nor reason, or the bill is
not half of that of calls.
"""

import argparse
import tempfile
import time
from pathlib import Path

from tests.support.assay_command import environment
from tests.support.batch_night import KEY, BatchNight, expires
from tests.support.providers.batches import OpenAIBatchServer

KILLED_AT_BATCHES = (1, 2)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ideas", type=int, default=200)
    parser.add_argument("--expired", type=float, default=0.02)
    parser.add_argument("--modules", default="novelty")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        OpenAIBatchServer(
            key=KEY,
            looks_until_ended=3,
            expires=lambda custom_id: expires(custom_id, options.expired),
        ) as server,
    ):
        folder = Path(name)
        env = environment(folder / "home")
        night = BatchNight(folder, env, server, options.ideas, options.modules)
        started = time.monotonic()
        for batches in KILLED_AT_BATCHES:
            night.killed_at(batches)
        run = night.through()
        seconds = time.monotonic() - started
        print(f"{night.held(run)}; killed at batches 1 and 2; {seconds:.0f} s")


if __name__ == "__main__":
    main()
