"""Choices of a reader, stored in the URL where they differ from the default."""

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
        value: the chosen value; a list for `checks`.
        options: value and label of each; empty: an input of type `kind`.
        kind: `checks`, `check`, or the type of an input.
        attributes: further HTML attributes of an input; None: left out.
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
    """Return the form of a page; empty without fields."""
    visible_fields = [
        replace(each, options=[(value, unturned(words)) for value, words in each.options])
        for each in fields
        if each is not None
    ]
    return controls("choose", fields=visible_fields) if visible_fields else Markup()


def option_in_address(visit: Visit, name: str, options: Sequence[str], default: str) -> str:
    """Return the option named in the URL, else the default.

    An unknown option is ignored, so that old links still work.
    """
    value = visit.query.get(name, default)
    return value if value in options else default


def number_in_address(visit: Visit, name: str, most: float, expected_form: str) -> float | None:
    """Return the number named in the URL; None if there is none.

    Args:
        expected_form: description of a valid value, for the error message.

    Raises:
        ConfigurationError: it is no number from 0 to `most`.
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
    """Return the run named in the URL, else the default run.

    None: no run is published.

    Raises:
        UnknownNameError: the named run is not published.
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
    """Return the newest run of an idea file; runs of single ideas come last."""
    return next((run for run in runs if run.is_of_a_file), runs[0])


def comparable_runs(lake: Lake, run: Run) -> list[Run]:
    """List the run and the earlier comparable ones, newest first."""
    return [
        each
        for each in lake.runs()
        if each.started_at <= run.started_at and run.compares_with(each)
    ]


def run_field(visit: Visit, run: Run | None) -> Field | None:
    """Return the choice of a run; None with fewer than two runs."""
    runs = visit.lake.runs()
    if run is None or len(runs) < 2:
        return None
    selectable = list(runs[:_MOST_RUNS])
    if run not in selectable:
        selectable.append(run)
    options = [(str(each.run_id), run_title(each)) for each in selectable]
    return Field("run", "Run", str(run.run_id), str(default_run(runs).run_id), options)


def run_facts(run: Run) -> Iterator[pg.Block]:
    """Yield the blocks at the top of a page about a run."""
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
    return f"{figures.moment(run.started_at)} · {run.run_id}{label} · {ideas}{order}"
