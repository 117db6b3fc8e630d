"""Rules for charts: their rows, axes and colours, and what the draft says of them."""

from collections.abc import Iterator

from tasks.writing.charts import TITLES
from tasks.writing.claims import number_shown
from tasks.writing.figures.chart_data import AXES, COLOURS
from tasks.writing.figures.colours import contrast, named
from tasks.writing.figures.looking import SHOWN_CHARACTERS, Look
from tasks.writing.figures.printed import WHITE

LEAST_MARK_CONTRAST = 3.0
"""WCAG 2.2, 1.4.11."""
MOST_CATEGORIES, MOST_COLOURS = 24, 7


def data(look: Look) -> Iterator[str]:
    chart = look.chart
    if chart is None:
        return
    if not chart.rows:
        yield "it draws no rows"
        return
    for axis in AXES:
        shown = {str(value) for value in chart.on_axis(axis)}
        if chart.is_measured(axis) and len(shown) < 2:
            yield f"all of its {axis} axis is one value: {', '.join(shown) or 'none'}"
        elif not chart.is_measured(axis) and len(shown) > MOST_CATEGORIES:
            yield f"its {axis} axis has {len(shown)} categories, more than {MOST_CATEGORIES}"
    told = {str(value) for value in chart.values(*COLOURS)}
    if len(told) > MOST_COLOURS:
        yield f"{len(told)} categories are told apart by colour, more than {MOST_COLOURS}"


def legend(look: Look) -> Iterator[str]:
    chart = look.chart
    if chart is None:
        return
    for layer, how in chart.channels(*COLOURS):
        told = {str(row.get(how["field"])) for row in chart.rows_of(layer)}
        if len(told) == 1 and how.get("legend", True) is not None:
            yield f"its legend has one entry, {', '.join(told)[:SHOWN_CHARACTERS]}"


def mark_contrast(look: Look) -> Iterator[str]:
    for colour in sorted(look.printed.marks) if look.chart is not None else ():
        ratio = contrast(colour, WHITE)
        if ratio < LEAST_MARK_CONTRAST:
            yield (
                f"marks in {named(colour)} have a contrast of {ratio:.1f} on white, less than"
                f" {LEAST_MARK_CONTRAST:.0f}"
            )


def axis_titles(look: Look) -> Iterator[str]:
    """Every axis says what it shows; a column of the lake by its own name, with its unit."""
    chart = look.chart
    if chart is None:
        return
    metrics = [seen.text for seen in look.caption_claims if seen.key.endswith(".metric")]
    for axis in AXES:
        titles = chart.titles(axis)
        if "" in titles:
            yield f"its {axis} axis has no title"
        known = dict.fromkeys(TITLES[name] for name in chart.fields(axis) if name in TITLES)
        for title in filter(None, titles):
            for wanted in known:
                right = [wanted.format(metric=metric) for metric in metrics or ("",)]
                if title not in right:
                    yield f"its {axis} axis is called {title!r}, and its rows are {right[0]!r}"


def agreement(look: Look) -> Iterator[str]:
    """Numbers of the caption are drawn, and what is drawn is what the claims say."""
    chart = look.chart
    if chart is None:
        return
    drawn_values = [value for row in chart.rows for value in row.values()]
    shown = {number_shown(each) for each in drawn_values if isinstance(each, int | float)}
    shown.add(number_shown(len(chart.rows)))
    for seen in look.caption_claims:
        if seen.key in look.values and seen.text not in shown:
            yield f"its caption says {seen.text} ({seen.key}), which it does not draw"
    stems = {seen.key.rpartition(".")[0] for seen in look.caption_claims}
    for row in chart.rows:
        for name, value in row.items():
            for stem in sorted(stems):
                said = look.values.get(f"{stem}.{row.get('program_id')}.{name}")
                if said is not None and said != value:
                    drawn = f"it draws {value!r} as the {name} of {row['program_id']}"
                    yield f"{drawn}, which is {said!r}"
