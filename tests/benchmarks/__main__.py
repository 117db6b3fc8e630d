"""`make bench`: run every benchmark but the longest, or the ones named, and print their figures.

python -m tests.benchmarks                 all of them, apart from soak and nights
python -m tests.benchmarks evaluation      one of them
python -m tests.benchmarks cpu_by_part --ideas 80    with an option of its own
"""

import importlib
import sys
import time
from pathlib import Path

LONG = ("nights", "soak")
"""Only when named: they take most of an hour."""


def main() -> None:
    folder = Path(__file__).parent
    available = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
    options = next(
        (place for place, word in enumerate(sys.argv) if word.startswith("--")), len(sys.argv)
    )
    words, sys.argv[1:] = sys.argv[1:options], sys.argv[options:]
    chosen = words or [name for name in available if name not in LONG]
    unknown = [name for name in chosen if name not in available]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are: {', '.join(available)}")
    for name in chosen:
        started = time.monotonic()
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"tests.benchmarks.{name}").main()
        print(f"({time.monotonic() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
