"""Programs to be tried in every sandbox that this machine can make."""

import textwrap

import pytest

from schemas.works.experiment import Limits
from tasks.experiments.sandbox import RunResult
from tests.support.sandboxes import A_WHILE, LIMITS, Place, Said, Tried, places


@pytest.fixture(params=places())
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    return found


@pytest.fixture
def tried(place: Place) -> Tried:
    """Tries a program that leaves what it says in the file `left`."""
    own = (
        "import os, sys\n"
        "def say(*words):\n"
        "    with open('/scratch/left', 'a') as left:\n"
        "        print(*words, file=left)\n"
    )

    def program(source: str, limits: Limits = LIMITS, **files: bytes) -> RunResult:
        whole = (own + textwrap.dedent(source)).replace("A_WHILE", A_WHILE)
        return place.tried(whole, limits, **files)

    return program


@pytest.fixture
def said(tried: Tried) -> Said:
    """What a program says that ends well."""

    def program(source: str, limits: Limits = LIMITS, **files: bytes) -> str:
        ended = tried(source, limits, **files)
        assert ended.code == 0, ended.errors
        assert ended.left is not None
        return ended.left.decode().strip()

    return program
