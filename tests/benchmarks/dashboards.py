"""How long the dashboard's pages take on a lake of 10,000 ideas: `python -m tests.benchmarks
dashboards [--ideas N]`.

First paint: the page is opened with nothing cached. Interaction: one control of it is moved. Aims:
2 s and 1 s. These are the seconds of the page's own program; what the browser adds is measured by
the tests that drive one.
"""

import argparse
import logging
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboards.app.registry import PAGES
from tests.benchmarks._many_ideas import lake_of, told
from tests.support.dashboard import open_page
from warehouse.warehouse import Warehouse

FIRST_PAINT_SECONDS, INTERACTION_SECONDS = 2.0, 1.0


def main() -> None:
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    parser = argparse.ArgumentParser()
    parser.add_argument("--ideas", type=int, default=10_000)
    parser.add_argument("--lake", type=Path, help="one made before; default: a new one")
    options, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="assay-tools-") as folder:
        warehouse = Warehouse(options.lake or Path(folder))
        if not warehouse.catalogue.exists():
            started = time.monotonic()
            lake_of(warehouse.root, options.ideas)
            print(told(warehouse, started), flush=True)
        print(
            f"{'page':<12} {'first paint':>12} {'of it CPU':>11} {'interaction':>12}"
            f" {'of it CPU':>11}   moved",
            flush=True,
        )
        for page in PAGES:
            print(_line(page.name, warehouse), flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def _line(name: str, warehouse: Warehouse) -> str:
    open_page(name, warehouse)  # imports what the page needs; the server does so once
    st.cache_resource.clear()
    st.cache_data.clear()
    started, cpu = time.monotonic(), time.process_time()
    test = open_page(name, warehouse)
    first, cpu_seconds = time.monotonic() - started, time.process_time() - cpu
    move, control = _control(test)
    started, cpu = time.monotonic(), time.process_time()
    move()
    second, second_cpu_seconds = time.monotonic() - started, time.process_time() - cpu
    broken = f"   EXCEPTION {test.exception[0].message[:80]}" if test.exception else ""
    return (
        f"{name:<12} {_judged(first, FIRST_PAINT_SECONDS)} {cpu_seconds:>9.2f} s"
        f" {_judged(second, INTERACTION_SECONDS)} {second_cpu_seconds:>9.2f} s   {control}{broken}"
    )


def _judged(seconds: float, aim: float) -> str:
    return f"{seconds:>9.2f} s {'✓' if seconds <= aim else '✗'}"


def _control(test: AppTest) -> tuple[Callable[[], object], str]:
    """A control that makes the page answer anew, and its name."""
    boxes = [box for box in test.selectbox if len(box.options) > 1]
    if boxes:
        return (
            partial(_moved, boxes[0].select_index, 1 if boxes[0].index == 0 else 0),
            boxes[0].label,
        )
    if test.slider:
        slider = test.slider[0]
        return (
            partial(
                _moved, slider.set_value, slider.max if slider.value != slider.max else slider.min
            ),
            slider.label,
        )
    if test.toggle:
        return (
            partial(_moved, test.toggle[0].set_value, not test.toggle[0].value),
            test.toggle[0].label,
        )
    if test.text_input:
        return partial(_moved, test.text_input[0].set_value, "graph"), test.text_input[0].label
    return test.run, "nothing to move: run again"


def _moved(put: Callable[[Any], Any], value: object) -> None:
    put(value).run()


if __name__ == "__main__":
    main()
