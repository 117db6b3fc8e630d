"""What a figure has to be, to be read in print: every rule by its name, in one place.

A rule says of a figure what is wrong with it, a line for each thing. `mending.py` declares what is
changed by itself; what is left is refused.
"""

from collections.abc import Callable, Iterator

import lxml.etree

from schemas.works.draft import DraftFigure
from tasks.writing.figures import chart_rules, graph_rules, picture_rules, print_rules
from tasks.writing.figures.looking import Fault, Look, Values

RULES: dict[str, Callable[[Look], Iterator[str]]] = {
    "data": chart_rules.data,
    "axis titles": chart_rules.axis_titles,
    "agreement": chart_rules.agreement,
    "boxes": graph_rules.boxes,
    "arrows": graph_rules.arrows,
    "reading order": graph_rules.reading_order,
    "resolution": picture_rules.resolution,
    "shape": picture_rules.shape,
    "something shown": picture_rules.shows_something,
    "legend": chart_rules.legend,
    "drawn": print_rules.is_drawn,
    "text size": print_rules.text_size,
    "overlap": print_rules.overlap,
    "crossed labels": print_rules.crossed_labels,
    "whole labels": print_rules.whole_labels,
    "text contrast": print_rules.text_contrast,
    "mark contrast": chart_rules.mark_contrast,
    "colours": print_rules.told_apart,
}
"""By name; every figure is held against all of them."""


def faults_in(figure: DraftFigure, values: Values) -> tuple[Fault, ...]:
    """All that is wrong with a figure as it is printed; none: it can be read, and says what the
    draft says.
    """
    if not figure.svg:
        return (Fault("drawn", "it was not drawn"),)
    look = Look(figure, values)
    try:
        found = [Fault(name, said) for name, rule in RULES.items() for said in rule(look)]
    except (ValueError, OSError, lxml.etree.XMLSyntaxError) as error:
        return (Fault("drawn", f"it cannot be drawn: {' '.join(str(error).split())[:200]}"),)
    return tuple(dict.fromkeys(found))
