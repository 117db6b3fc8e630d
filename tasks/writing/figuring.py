"""Figures of a draft by a model: description, drawing, checks, and a look at every picture."""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import pypandoc
import vl_convert
from pydantic import ValidationError

from schemas.base import first_fault, replace
from schemas.failure import Failure
from schemas.literature.naming import MARKDOWN, claim_span, escaped, shallow
from schemas.outcome import Outcome, Unscored
from schemas.reasons import Reason
from schemas.works.draft import (
    DECLARATION_KEY,
    ClaimKind,
    Draft,
    DraftClaim,
    DraftFigure,
    FigureKind,
    GraphArrow,
    GraphNode,
    MethodGraph,
    PictureSpec,
)
from tasks.judging.messages import PNG, Attachment
from tasks.judging.pictures import as_prompt
from tasks.judging.step import Engine
from tasks.writing.checking import numbers_in, values_of
from tasks.writing.figures import draft_failure, finish, picture_svg
from tasks.writing.graphs import graph_figure
from tasks.writing.steps import (
    DRAFT_METHOD_FIGURE,
    DRAW_METHOD_FIGURE,
    LOOK_AT_FIGURE,
    LOOK_AT_PICTURE,
    DrawMethodFigureInput,
    DrawnArrow,
    DrawnBox,
    LookAtPictureInput,
    LookInput,
    LookReply,
    MethodFigureInput,
)

See = Callable[[Attachment], Engine]
"""Returns an engine whose calls include the picture."""
IMAGE_TOKENS = 1_500
_SHOWN_SCALE = 2.0
_PARTS = ("problem", "method", "experiment", "text")
_FIXED_STANDS = "the fixed figure stands instead of the model's"
_GRAPH_STANDS = "boxes and arrows stand instead of the image model's picture"


async def describe_method(draft: Draft, engine: Engine) -> DraftFigure | Failure:
    """Return the method figure described by the engine, or why the fixed one stays."""

    def failure(reason: Reason, why: str) -> Failure:
        return draft_failure("Figure method", reason, f"{_FIXED_STANDS}, {why}")

    claims = {claim.claim_key: claim for claim in draft.claims}
    method_texts = [claims[f"idea.{name}"].shown for name in _PARTS if f"idea.{name}" in claims]
    questions = [each.shown for key, each in claims.items() if key.endswith(".question")]
    question_text = "\n".join(questions) or "Not tried yet."
    inputs = MethodFigureInput(
        title=draft.title, method="\n\n".join(method_texts), tried=question_text
    )
    outcome = await engine.run(DRAFT_METHOD_FIGURE, inputs)
    if isinstance(outcome, Unscored):
        return failure(outcome.reason, outcome.detail)
    reply = outcome.value
    labels = [reply.caption, *(f"{box.label} {box.group}" for box in reply.boxes)]
    labels += [arrow.label for arrow in reply.arrows]
    if numbers := [number for text in labels for number in numbers_in(text)]:
        return failure(Reason.UNTRACED, f"it says {numbers[0]}, which is no claim")
    try:
        graph = MethodGraph(
            nodes=tuple(
                GraphNode(node_id=each.id, label=each.label, group=each.group)
                for each in reply.boxes
            ),
            arrows=tuple(
                GraphArrow(source=each.source, target=each.target, label=each.label)
                for each in reply.arrows
            ),
        )
        figure, faults = finish(graph_figure(graph, escaped(reply.caption)), values_of(draft))
    except ValidationError as error:
        return failure(Reason.ILLEGIBLE, first_fault(error))
    return failure(Reason.ILLEGIBLE, "; ".join(faults[:3])) if faults else figure


async def draw_picture(figure: DraftFigure, draft: Draft, engine: Engine) -> DraftFigure | Failure:
    """Return the figure drawn by an image model, or why the program's drawing stays."""

    def failure(reason: Reason, why: str) -> Failure:
        return draft_failure("Figure method", reason, f"{_GRAPH_STANDS}, {why}")

    graph = MethodGraph.model_validate_json(figure.spec)
    inputs = DrawMethodFigureInput(
        caption=_caption(figure), boxes=_boxes(graph), arrows=_arrows(graph)
    )
    outcome = await engine.run(DRAW_METHOD_FIGURE, inputs)
    if isinstance(outcome, Unscored):
        return failure(outcome.reason, outcome.detail)
    png = outcome.value.content
    spec = PictureSpec(
        model=outcome.provenance.model_requested,
        prompt=as_prompt(DRAW_METHOD_FIGURE.messages(inputs)),
        graph=graph,
        png_sha256=hashlib.sha256(png).hexdigest(),
    )
    picture = replace(
        figure,
        kind=FigureKind.PICTURE,
        spec=spec.model_dump_json(indent=1),
        svg=picture_svg(png),
        mended=(),
        drawn_by=spec.model,
    )
    picture, faults = finish(picture, values_of(draft))
    return failure(Reason.ILLEGIBLE, "; ".join(faults[:3])) if faults else picture


def _boxes(graph: MethodGraph) -> tuple[DrawnBox, ...]:
    return tuple(DrawnBox(label=node.label, group=node.group) for node in graph.nodes)


def _arrows(graph: MethodGraph) -> tuple[DrawnArrow, ...]:
    labels = {node.node_id: node.label for node in graph.nodes}
    return tuple(
        DrawnArrow(source=labels[each.source], target=labels[each.target], label=each.label)
        for each in graph.arrows
    )


def mark_pictures(draft: Draft) -> Draft:
    """Add to each picture by an image model how it was made, in caption, claims and declaration."""
    figures, marks, sentences = [], [], []
    for figure in draft.figures:
        if figure.made:
            key = f"figure.{figure.figure_id}.made"
            marks.append(
                DraftClaim(
                    claim_key=key,
                    kind=ClaimKind.TEXT,
                    means="how a figure was made",
                    shown=figure.made,
                )
            )
            sentences.append(figure.made_as(f"Its {figure.figure_id} figure"))
            mark = claim_span(key, figure.made)
            if mark not in figure.caption:  # an earlier round may have added it
                figures.append(replace(figure, caption=f"{figure.caption} {mark}"))
                continue
        figures.append(figure)
    claims = (
        replace(each, shown=" ".join((each.shown, *sentences)))
        if each.claim_key == DECLARATION_KEY
        else each
        for each in draft.claims
    )
    return replace(draft, figures=tuple(figures), claims=(*claims, *marks))


async def look_at_figures(
    draft: Draft, instead: Mapping[str, Sequence[DraftFigure]], see: See
) -> tuple[Draft, dict[str, list[str]]]:
    """Show the figures to a model; return points on each figure for its section's author.

    Args:
        instead: fallbacks of a misleading figure, by name; all but the last are looked at too.
    """
    figures: list[DraftFigure] = []
    failures: list[Failure] = []
    points: dict[str, list[str]] = {}
    for first in draft.figures:
        figure, other_figures = first, list(instead.get(first.figure_id, ()))
        subject = f"Figure {first.figure_id}"
        while True:
            outcome = await _look_at(figure, see)
            if isinstance(outcome, Unscored):
                reason = f"no model saw it, {outcome.detail}"
                failures.append(draft_failure(subject, outcome.reason, reason))
                break
            points[figure.figure_id] = [each.point for each in outcome.value.points]
            wrong = next((each.point for each in outcome.value.points if each.misleads), None)
            reason = f"a model that saw it says: {wrong}"
            if wrong is None or not other_figures:
                seen_by = outcome.provenance.model_answered or outcome.provenance.engine
                figure = replace(figure, seen_by=seen_by)
                if wrong is not None:
                    failures.append(draft_failure(subject, Reason.ILLEGIBLE, reason))
                break
            points[figure.figure_id] = []
            reason = f"{_GRAPH_STANDS if figure.drawn_by else _FIXED_STANDS}, {reason}"
            failures.append(draft_failure(subject, Reason.ILLEGIBLE, reason))
            figure = other_figures.pop(0)
            if not other_figures:
                break
        figures.append(figure)
    finished_draft = replace(draft, figures=tuple(figures), failures=(*draft.failures, *failures))
    return finished_draft, points


async def _look_at(figure: DraftFigure, see: See) -> Outcome[LookReply]:
    content = vl_convert.svg_to_png(figure.svg, scale=_SHOWN_SCALE)
    name, digest = f"{figure.figure_id}.png", hashlib.sha256(content).hexdigest()
    engine = see(Attachment(name, digest, IMAGE_TOKENS, content, PNG))
    caption = _caption(figure)
    if figure.kind is not FigureKind.PICTURE:
        return await engine.run(LOOK_AT_FIGURE, LookInput(caption=caption))
    graph = PictureSpec.model_validate_json(figure.spec).graph
    inputs = LookAtPictureInput(caption=caption, boxes=_boxes(graph), arrows=_arrows(graph))
    return await engine.run(LOOK_AT_PICTURE, inputs)


def _caption(figure: DraftFigure) -> str:
    """Return the caption as readers see it."""
    plain_caption = pypandoc.convert_text(
        shallow(figure.caption), "plain", format=MARKDOWN, extra_args=["--wrap=none"]
    )
    return str(plain_caption).strip()
