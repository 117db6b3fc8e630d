"""Write the pins anew: what must not change unless a commit says why.

python -m tests.pins     rewrites tests/conformity/pins.json; evaluates the demo, which takes a minute
"""

import tempfile
from pathlib import Path

from tests.pins.keys import keys, steps
from tests.pins.lake import read_lake
from tests.pins.pinned import columns, rows, write
from tests.support.assay_command import assay, environment


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        tables = read_lake(_exported_demo(folder))
        write(
            {
                "steps": steps(),
                **keys(folder),
                "columns": columns(tables),
                "rows": rows(tables),
            }
        )


def _exported_demo(folder: Path) -> Path:
    env, lake, exported = environment(folder / "home"), folder / "demo", folder / "demo.duckdb"
    for words in (("demo",), ("warehouse", "export", str(exported))):
        done = assay(*words, "--warehouse", str(lake), env=env, cwd=folder)
        if done.returncode:
            raise SystemExit(done.stderr)
    return exported


if __name__ == "__main__":
    main()
