"""Errors cross process borders: Dask hides the real one when it cannot be pickled."""

import pickle

import pytest

from schemas import errors


def every_error() -> list[type[errors.AssayError]]:
    found, waiting = [], [errors.AssayError]
    while waiting:
        found.append(kind := waiting.pop())
        waiting.extend(kind.__subclasses__())
    return found


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_every_error_survives_pickling_with_its_message(kind: type[errors.AssayError]) -> None:
    again = pickle.loads(pickle.dumps(kind("what is wrong; how to mend it")))
    assert type(again) is kind
    assert str(again) == "what is wrong; how to mend it"


@pytest.mark.parametrize("kind", every_error()[1:], ids=lambda kind: kind.__name__)
def test_every_error_says_whether_to_try_again(kind: type[errors.AssayError]) -> None:
    assert issubclass(kind, errors.TransientError) != issubclass(kind, errors.PermanentError)
