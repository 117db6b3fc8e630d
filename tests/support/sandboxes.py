"""Whether programs can be sandboxed on this machine, and by what."""

import os
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from schemas.errors import ConfigurationError
from schemas.settings import ExperimentSettings
from schemas.works.experiment import Container, Limits
from tasks.experiments.sandbox import RunResult, check_sandbox, run_sandboxed

LIMITS = Limits(seconds=60, memory_bytes=512 << 20, scratch_bytes=8 << 20, answer_bytes=100_000)
A_WHILE = f"8641.{os.getpid()}"
"""How long processes sleep that must not be left; other tests may run at the same time."""

IMAGE = os.environ.get("ASSAY_EXPERIMENTS__CONTAINER_IMAGE", ExperimentSettings().container_image)


Tried = Callable[..., RunResult]
Said = Callable[..., str]


def _missing(container: Container | None = None) -> str:
    try:
        check_sandbox(container)
    except ConfigurationError as error:
        return str(error)
    return ""


MISSING = _missing()
if MISSING and os.environ.get("ASSAY_TESTS_REQUIRE_SANDBOX"):
    raise RuntimeError(MISSING)
needs_sandbox = pytest.mark.skipif(bool(MISSING), reason=MISSING or "there is one")


@dataclass(frozen=True, slots=True)
class Place:
    """Where programs are tried: in a container, or in bubblewrap where it is None."""

    container: Container | None

    def tried(self, source: str, limits: Limits = LIMITS, **files: bytes) -> RunResult:
        """How a program ends that may leave a file `left`."""
        return run_sandboxed(["-c", source], files, limits, self.container)


def places() -> list[object]:
    """Every kind of sandbox as a parameter; those that this machine cannot make are skipped."""
    made = {"bubblewrap": MISSING}
    for runtime in ("podman", "docker"):
        made[runtime] = _missing(Container(runtime=runtime, image=IMAGE))
    return [
        pytest.param(
            Place(None if name == "bubblewrap" else Container(runtime=name, image=IMAGE)),
            id=name,
            marks=pytest.mark.skipif(bool(missing), reason=missing or "there is one"),
        )
        for name, missing in made.items()
    ]
