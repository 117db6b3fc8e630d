"""What a reader chooses on a page; its address holds all that differs from the default."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup

from dashboards.app.data import Lake
from dashboards.app.site import Visit, controls, run_path
from dashboards.render import figures
from dashboards.render import page as pg
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.literature.naming import unturned
from schemas.run import Run

_MOST_RUNS = 200
NO_RUN = pg.text("No run has been published here yet: ", pg.code("assay demo"), " makes one.")


@dataclass(frozen=True, slots=True)
class Field:
    """A control of a form.

    Attributes:
        value: what is chosen; of `checks` several.
        options: value and words of each; none: a field of its kind.
        kind: checks, check, or the type of an input.
        attributes: further ones of an input, such as its bounds; None: not there.
    """

    name: str
    label: str
    value: Any
    default: str = ""
    options: Sequence[tuple[str, str]] = ()
    kind: str = "search"
    help: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)


def form(*fields: Field | None) -> Markup:
    """The form of a page; nothing where there is no choice."""
    visible_fields = [
        replace(each, options=[(value, unturned(words)) for value, words in each.options])
        for each in fields
        if each is not None
    ]
    return controls("choose", fields=visible_fields) if visible_fields else Markup()


def option_in_address(visit: Visit, name: str, options: Sequence[str], default: str) -> str:
    """The option that the address names, else the default: an old link still opens the page."""
    value = visit.query.get(name, default)
    return value if value in options else default


def number_in_address(visit: Visit, name: str, most: float, expected_form: str) -> float | None:
    """Return the number that the address names, from 0 on; None: it names none.

    Raises:
        ConfigurationError: it is none, or larger than `most`; `wanted` says what to write.
    """
    text = visit.query.get(name, "").strip()
    try:
        value = float(text) if text else None
    except ValueError:
        value = -1.0
    if value is not None and not 0 <= value <= most:
        raise ConfigurationError(f"{name}: write {expected_form}, not “{text[:40]}”")
    return value


def run_in_address(visit: Visit) -> Run | None:
    """The run that the address names, else the newest of a file of ideas; None: there is none.

    Raises:
        UnknownNameError: the address names one that is not published.
    """
    runs, run_id = visit.lake.runs(), visit.query.get("run")
    if not runs:
        return None
    if run_id is None:
        return default_run(runs)
    for run in runs:
        if run.run_id == run_id:
            return run
    raise UnknownNameError(
        f"there is no published run “{run_id}”: it may have been refused, be under way, or be in"
        " another warehouse"
    )


def default_run(runs: Sequence[Run]) -> Run:
    """The newest that evaluated a file; one idea that somebody tried comes after all of them."""
    return next((run for run in runs if run.is_of_a_file), runs[0])


def comparable_runs(lake: Lake, run: Run) -> list[Run]:
    """List the run and those before it that compare with it, newest first."""
    return [
        each
        for each in lake.runs()
        if each.started_at <= run.started_at and run.compares_with(each)
    ]


def run_field(visit: Visit, run: Run | None) -> Field | None:
    """The choice of a run; None where there is at most this one."""
    runs = visit.lake.runs()
    if run is None or len(runs) < 2:
        return None
    selectable = list(runs[:_MOST_RUNS])
    if run not in selectable:
        selectable.append(run)
    options = [(str(each.run_id), run_title(each)) for each in selectable]
    return Field("run", "Run", str(run.run_id), str(default_run(runs).run_id), options)


def run_facts(run: Run) -> Iterator[pg.Block]:
    """Yield what a page about a run begins with."""
    if not run.in_order:
        yield pg.note(run.order_in_words)
    yield pg.facts(
        pg.report(f"Run {run.run_id}", run_path(run.run_id)),
        f"{figures.plural(run.idea_count, 'idea')}: {run.states_in_words}",
        f"engine {run.engine}",
        f"profile {run.profile}",
    )


def run_title(run: Run) -> str:
    label = f" · {run.label}" if run.label else ""
    ideas = figures.plural(run.idea_count, "idea")
    order = "" if run.in_order else " · not in order"
    return f"{run.started_at:%Y-%m-%d %H:%M} · {run.run_id}{label} · {ideas}{order}"
