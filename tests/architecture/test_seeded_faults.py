"""Seeded faults stay seeded: whoever moves the code that a patch changes writes the patch anew."""

import subprocess

import pytest

from tests.seeded_faults.__main__ import ROOT, SeededFault, seeded_faults, stored_results

FAULTS = seeded_faults()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_seeded_fault_still_applies_and_names_tests_that_exist(fault: SeededFault) -> None:
    applied = subprocess.run(
        ["git", "apply", "--check", "--recount", str(fault.patch)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert applied.returncode == 0, applied.stderr
    assert [name for name in fault.tests if not (ROOT / name).exists()] == []


def test_each_seeded_fault_was_tried() -> None:
    assert stored_results().keys() == {fault.name for fault in FAULTS}
