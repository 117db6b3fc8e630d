"""Who keeps what the processes of one piece of work share: the files of their warehouse or, for a
worker on another machine, the command that sent it the work.

Whatever is scarce has one owner: the files of the command's machine. A worker elsewhere asks the
command, which looks into the same files.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar, cast

Value = str | int | float | bool | None
"""What questions and answers are made of."""

KeptT = TypeVar("KeptT")


class Owner(Protocol):
    """The command, as a worker on another machine reaches it.

    Attributes:
        has_landing: whether units land there, since the worker does not see its folder.
        address: what messages call it, ending with a slash.

    Every method raises CommandGoneError when the command has not answered for a minute: it has
    ended, or was killed.
    """

    has_landing: bool
    address: str

    def ask(
        self, kind: str, names: Mapping[str, Value], method: str, arguments: Sequence[Value]
    ) -> Any:
        """What `method` gives for the thing of that kind and names."""
        ...

    def tag(self, name: str) -> str | None:
        """By which one state of a unit is known from another; None: it is not there."""
        ...

    def get(self, name: str) -> tuple[bytes, str] | None:
        """A unit and its tag."""
        ...

    def put(self, name: str, content: bytes, *, replaced: str | None) -> bool:
        """Keep a unit in place of the one with this tag; False: it has another by now."""
        ...

    def remove(self, name: str) -> None: ...


_ASKED: ContextVar[Owner | None] = ContextVar("owner_asked", default=None)


def owner() -> Owner | None:
    """Whom the caller has to ask; None: it works beside the files."""
    return _ASKED.get()


def landing_owner() -> Owner | None:
    """Where the caller's units land; None: in the warehouse folder that it sees."""
    asked = owner()
    return asked if asked is not None and asked.has_landing else None


@contextmanager
def asking(asked: Owner) -> Iterator[None]:
    """Inside, what is shared is asked for."""
    token = _ASKED.set(asked)
    try:
        yield
    finally:
        _ASKED.reset(token)


def kept(kind: str, names: Mapping[str, Value], here: KeptT, *, landing: bool = False) -> KeptT:
    """`here`, which works on files, or what asks the owner in its place, with the same methods.

    Args:
        landing: whether the files lie in the warehouse folder that a worker may well see.
    """
    asked = landing_owner() if landing else owner()
    return here if asked is None else cast(KeptT, _Elsewhere(asked, kind, names))


class _Elsewhere:
    """Passes every call on."""

    def __init__(self, asked: Owner, kind: str, names: Mapping[str, Value]) -> None:
        self._asked, self._kind, self._names = asked, kind, names

    def __getattr__(self, method: str) -> Any:
        def call(*arguments: Value) -> Any:
            return self._asked.ask(self._kind, self._names, method, arguments)

        return call
