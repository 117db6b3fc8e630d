"""The figures of a draft by a model: the method as it describes it, held against the rules for
figures, and every picture shown to a model that sees.
"""

import hashlib
from collections.abc import Callable, Sequence

import pypandoc
import vl_convert
from pydantic import ValidationError

from schemas.base import replace
from schemas.draft import (
    Draft,
    DraftFigure,
    FigureKind,
    GraphArrow,
    GraphNode,
    MethodGraph,
)
from schemas.failure import Failure
from schemas.naming import MARKDOWN, escaped
from schemas.outcome import Unscored
from schemas.reasons import Reason
from tasks.judging.messages import PNG, Attachment
from tasks.judging.step import Engine
from tasks.writing.checking import STAGE, numbers_in, values_of
from tasks.writing.figures.mending import finished
from tasks.writing.method_graph import graph_figure
from tasks.writing.steps.draft_method_figure import (
    DRAFT_METHOD_FIGURE,
    MethodFigureInput,
    MethodFigureReply,
)
from tasks.writing.steps.look_at_figure import LOOK_AT_FIGURE, LookInput

See = Callable[[Attachment], Engine]
"""The engine whose questions take that picture along."""
IMAGE_TOKENS = 1_500
_SHOWN_SCALE = 2.0
_PARTS = ("problem", "method", "experiment", "text")


async def described(draft: Draft, engine: Engine) -> tuple[DraftFigure | None, tuple[Failure, ...]]:
    """The method figure as the engine describes it; None: the fixed one stands, and why."""
    claims = {claim.claim_key: claim for claim in draft.claims}
    told = [claims[f"idea.{name}"].shown for name in _PARTS if f"idea.{name}" in claims]
    asked = [each.shown for key, each in claims.items() if key.endswith(".question")]
    tried = "\n".join(asked) or "Not tried yet."
    inputs = MethodFigureInput(title=draft.title, method="\n\n".join(told), tried=tried)
    outcome = await engine.run(DRAFT_METHOD_FIGURE, inputs)
    if isinstance(outcome, Unscored):
        return None, (_left(outcome.reason, outcome.detail),)
    reply = outcome.value
    said = [reply.caption, *(f"{box.label} {box.group}" for box in reply.boxes)]
    said += [arrow.label for arrow in reply.arrows]
    if numbers := [number for text in said for number in numbers_in(text)]:
        return None, (_left(Reason.UNTRACED, f"it says {numbers[0]}, which is no claim"),)
    try:
        figure = graph_figure(_graph(reply), escaped(reply.caption))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return None, (_left(Reason.ILLEGIBLE, f"{place}: {first['msg']}"),)
    figure, faults = finished(figure, values_of(draft))
    if faults:
        return None, (_left(Reason.ILLEGIBLE, "; ".join(fault.said for fault in faults[:3])),)
    return figure, ()


def _graph(told: MethodFigureReply) -> MethodGraph:
    return MethodGraph(
        nodes=tuple(
            GraphNode(node_id=box.id, label=box.label, group=box.group) for box in told.boxes
        ),
        arrows=tuple(
            GraphArrow(source=each.source, target=each.target, label=each.label)
            for each in told.arrows
        ),
    )


def _left(reason: Reason, why: str) -> Failure:
    return Failure(
        stage=STAGE,
        subject="Figure method",
        reason=reason,
        detail=f"the fixed figure stands instead of the model's, {why}",
    )


async def looked_at(
    draft: Draft, fixed: Sequence[DraftFigure], see: See
) -> tuple[Draft, dict[str, list[str]]]:
    """The draft whose figures a model has seen; and points about each figure, for whoever writes
    the section that it stands in.

    A described method figure that misleads gives way to the fixed one.
    """
    instead = {each.figure_id: each for each in fixed if each.kind is FigureKind.GRAPH}
    figures: list[DraftFigure] = []
    failures: list[Failure] = []
    points: dict[str, list[str]] = {}
    for figure in draft.figures:
        engine = see(_picture(figure))
        outcome = await engine.run(LOOK_AT_FIGURE, LookInput(caption=_caption(figure)))
        if isinstance(outcome, Unscored):
            failures.append(_of(figure, outcome.reason, f"no model saw it, {outcome.detail}"))
            figures.append(figure)
            continue
        seen = replace(figure, seen_by=outcome.provenance.model_answered or engine.name)
        points[figure.figure_id] = [each.point for each in outcome.value.points]
        wrong = [each.point for each in outcome.value.points if each.misleads]
        plain = instead.get(figure.figure_id)
        if wrong and plain is not None and plain.spec != figure.spec:
            failures.append(_left(Reason.ILLEGIBLE, f"a model that saw it says: {wrong[0]}"))
            points[figure.figure_id] = []
            seen = plain
        elif wrong:
            failures.append(_of(figure, Reason.ILLEGIBLE, f"a model that saw it says: {wrong[0]}"))
        figures.append(seen)
    done = replace(draft, figures=tuple(figures), failures=(*draft.failures, *failures))
    return done, points


def _of(figure: DraftFigure, reason: Reason, why: str) -> Failure:
    return Failure(stage=STAGE, subject=f"Figure {figure.figure_id}", reason=reason, detail=why)


def _picture(figure: DraftFigure) -> Attachment:
    content = vl_convert.svg_to_png(figure.svg, scale=_SHOWN_SCALE)
    name, digest = f"{figure.figure_id}.png", hashlib.sha256(content).hexdigest()
    return Attachment(name, digest, IMAGE_TOKENS, content, PNG)


def _caption(figure: DraftFigure) -> str:
    """As its readers see it."""
    told = pypandoc.convert_text(
        figure.caption, "plain", format=MARKDOWN, extra_args=["--wrap=none"]
    )
    return str(told).strip()
