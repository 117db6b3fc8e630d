"""Whether programs can be sandboxed on this machine."""

import os

import pytest

from schemas.errors import ConfigurationError
from tasks.experiments.sandbox import check_sandbox


def _missing() -> str:
    try:
        check_sandbox()
    except ConfigurationError as error:
        return str(error)
    return ""


MISSING = _missing()
if MISSING and os.environ.get("ASSAY_TESTS_REQUIRE_SANDBOX"):
    raise RuntimeError(MISSING)
needs_sandbox = pytest.mark.skipif(bool(MISSING), reason=MISSING or "there is one")
