"""What a reader chooses on a page; its address holds all that differs from the default."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from dashboards.app.site import Visit, controls
from dashboards.render import figures
from schemas.errors import UnknownNameError
from schemas.literature.naming import unturned
from schemas.run import Run

_MOST_RUNS = 200


@dataclass(frozen=True, slots=True)
class Field:
    """A control of a form.

    Attributes:
        options: value and words of each; none: a field for words or a number.
        hint: what stands in an empty field for words.
    """

    name: str
    label: str
    value: str
    default: str = ""
    options: Sequence[tuple[str, str]] = ()
    number: bool = False
    hint: str = "Title or identifier"


def form(*fields: Field | None) -> Markup:
    """The form of a page; nothing where there is no choice."""
    shown = [
        replace(field, options=[(value, unturned(words)) for value, words in field.options])
        for field in fields
        if field is not None
    ]
    return controls("choose", fields=shown) if shown else Markup()


def chosen(visit: Visit, name: str, options: Sequence[str], default: str) -> str:
    """The option that the address names, else the default: an old link still opens the page."""
    value = visit.query.get(name, default)
    return value if value in options else default


def chosen_run(visit: Visit, runs: Sequence[Run]) -> Run:
    """The run that the address names, else the newest of a file of ideas.

    Args:
        runs: newest first.

    Raises:
        UnknownNameError: there is none, or not the one that the address names.
    """
    if not runs:
        raise UnknownNameError("no run is published yet")
    named = visit.query.get("run")
    if named is None:
        return default_run(runs)
    for run in runs:
        if run.run_id == named:
            return run
    raise UnknownNameError(
        f"there is no published run “{named}”: it may have been refused, be under way, or be in"
        " another warehouse"
    )


def default_run(runs: Sequence[Run]) -> Run:
    """The newest that evaluated a file; one idea that somebody tried comes after all of them."""
    return next((run for run in runs if run.is_of_a_file), runs[0])


def run_field(runs: Sequence[Run], run: Run) -> Field | None:
    """The choice of a run; None where there is only this one."""
    if len(runs) < 2:
        return None
    listed = list(runs[:_MOST_RUNS])
    if run not in listed:
        listed.append(run)
    options = [(str(each.run_id), run_title(each)) for each in listed]
    return Field("run", "Run", str(run.run_id), str(default_run(runs).run_id), options)


def run_title(run: Run) -> str:
    label = f" · {run.label}" if run.label else ""
    ideas = figures.counted(run.idea_count, "idea")
    order = "" if run.in_order else " · not in order"
    return f"{run.started_at:%Y-%m-%d %H:%M} · {run.run_id}{label} · {ideas}{order}"
