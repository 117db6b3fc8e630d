"""Figures of a draft by a model: description, drawing, checks, and a look at every picture."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import pypandoc
import vl_convert
from pydantic import ValidationError

from schemas.base import replace
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
from tasks.writing.steps.draft_method_figure import (
    DRAFT_METHOD_FIGURE,
    MethodFigureInput,
    MethodFigureReply,
)
from tasks.writing.steps.draw_method_figure import (
    DRAW_METHOD_FIGURE,
    DrawMethodFigureInput,
    DrawnArrow,
    DrawnBox,
)
from tasks.writing.steps.look_at_figure import LOOK_AT_FIGURE, LookInput, LookReply
from tasks.writing.steps.look_at_picture import LOOK_AT_PICTURE, LookAtPictureInput

See = Callable[[Attachment], Engine]
"""Engine whose calls include that picture."""
IMAGE_TOKENS = 1_500
_SHOWN_SCALE = 2.0
_PARTS = ("problem", "method", "experiment", "text")


async def describe_method(
    draft: Draft, engine: Engine
) -> tuple[DraftFigure | None, tuple[Failure, ...]]:
    """Return the method figure described by the engine, or None and why the fixed one stays."""
    claims = {claim.claim_key: claim for claim in draft.claims}
    method_texts = [claims[f"idea.{name}"].shown for name in _PARTS if f"idea.{name}" in claims]
    questions = [each.shown for key, each in claims.items() if key.endswith(".question")]
    question_text = "\n".join(questions) or "Not tried yet."
    inputs = MethodFigureInput(
        title=draft.title, method="\n\n".join(method_texts), tried=question_text
    )
    outcome = await engine.run(DRAFT_METHOD_FIGURE, inputs)
    if isinstance(outcome, Unscored):
        return None, (_fallback_failure(outcome.reason, outcome.detail),)
    reply = outcome.value
    labels = [reply.caption, *(f"{box.label} {box.group}" for box in reply.boxes)]
    labels += [arrow.label for arrow in reply.arrows]
    if numbers := [number for text in labels for number in numbers_in(text)]:
        return None, (
            _fallback_failure(Reason.UNTRACED, f"it says {numbers[0]}, which is no claim"),
        )
    try:
        figure = graph_figure(_graph(reply), escaped(reply.caption))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return None, (_fallback_failure(Reason.ILLEGIBLE, f"{place}: {first['msg']}"),)
    figure, faults = finish(figure, values_of(draft))
    if faults:
        return None, (_fallback_failure(Reason.ILLEGIBLE, "; ".join(faults[:3])),)
    return figure, ()


def _graph(reply: MethodFigureReply) -> MethodGraph:
    return MethodGraph(
        nodes=tuple(
            GraphNode(node_id=box.id, label=box.label, group=box.group) for box in reply.boxes
        ),
        arrows=tuple(
            GraphArrow(source=each.source, target=each.target, label=each.label)
            for each in reply.arrows
        ),
    )


async def draw_picture(
    figure: DraftFigure, draft: Draft, engine: Engine
) -> tuple[DraftFigure | None, tuple[Failure, ...]]:
    """Return the figure drawn by an image model, or None and why the program's drawing stays."""
    graph = MethodGraph.model_validate_json(figure.spec)
    inputs = DrawMethodFigureInput(
        caption=_caption(figure), boxes=_boxes(graph), arrows=_arrows(graph)
    )
    outcome = await engine.run(DRAW_METHOD_FIGURE, inputs)
    if isinstance(outcome, Unscored):
        return None, (_picture_failure(outcome.reason, outcome.detail),)
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
    if faults:
        detail = "; ".join(faults[:3])
        return None, (_picture_failure(Reason.ILLEGIBLE, detail),)
    return picture, ()


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
    pictures = {f"figure.{each.figure_id}.made": each for each in draft.figures if each.made}
    of_figure = {figure.figure_id: key for key, figure in pictures.items()}
    marks = tuple(
        DraftClaim(
            claim_key=key, kind=ClaimKind.TEXT, means="how a figure was made", shown=figure.made
        )
        for key, figure in pictures.items()
    )
    return replace(
        draft,
        figures=tuple(_with_mark(each, of_figure.get(each.figure_id)) for each in draft.figures),
        claims=(*(_with_declaration(each, pictures.values()) for each in draft.claims), *marks),
    )


def _with_mark(figure: DraftFigure, key: str | None) -> DraftFigure:
    """Add the mark, unless an earlier round added it."""
    if key is None or (mark := claim_span(key, figure.made)) in figure.caption:
        return figure
    return replace(figure, caption=f"{figure.caption} {mark}")


def _with_declaration(claim: DraftClaim, pictures: Iterable[DraftFigure]) -> DraftClaim:
    if claim.claim_key != DECLARATION_KEY:
        return claim
    sentences = (figure.made_as(f"Its {figure.figure_id} figure") for figure in pictures)
    return replace(claim, shown=" ".join((claim.shown, *sentences)))


def _fallback_failure(
    reason: Reason, why: str, instead: str = "the fixed figure stands instead of the model's"
) -> Failure:
    return draft_failure("Figure method", reason, f"{instead}, {why}")


def _picture_failure(reason: Reason, why: str) -> Failure:
    return _fallback_failure(
        reason, why, "boxes and arrows stand instead of the image model's picture"
    )


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
        figure, others = first, list(instead.get(first.figure_id, ()))
        while True:
            outcome = await _look_at(figure, see)
            if isinstance(outcome, Unscored):
                why = f"no model saw it, {outcome.detail}"
                failures.append(_of(figure, outcome.reason, why))
                break
            points[figure.figure_id] = [each.point for each in outcome.value.points]
            wrong = next((each.point for each in outcome.value.points if each.misleads), None)
            if wrong is None or not others:
                seen_by = outcome.provenance.model_answered or outcome.provenance.engine
                figure = replace(figure, seen_by=seen_by)
                if wrong is not None:
                    failures.append(_of(figure, Reason.ILLEGIBLE, _says(wrong)))
                break
            failure_of, points[figure.figure_id] = (
                _picture_failure if figure.drawn_by else _fallback_failure,
                [],
            )
            failures.append(failure_of(Reason.ILLEGIBLE, _says(wrong)))
            figure = others.pop(0)
            if not others:
                break
        figures.append(figure)
    finished_draft = replace(draft, figures=tuple(figures), failures=(*draft.failures, *failures))
    return finished_draft, points


async def _look_at(figure: DraftFigure, see: See) -> Outcome[LookReply]:
    engine, caption = see(_picture(figure)), _caption(figure)
    if figure.kind is not FigureKind.PICTURE:
        return await engine.run(LOOK_AT_FIGURE, LookInput(caption=caption))
    graph = PictureSpec.model_validate_json(figure.spec).graph
    inputs = LookAtPictureInput(caption=caption, boxes=_boxes(graph), arrows=_arrows(graph))
    return await engine.run(LOOK_AT_PICTURE, inputs)


def _says(point: str) -> str:
    return f"a model that saw it says: {point}"


def _of(figure: DraftFigure, reason: Reason, why: str) -> Failure:
    return draft_failure(f"Figure {figure.figure_id}", reason, why)


def _picture(figure: DraftFigure) -> Attachment:
    content = vl_convert.svg_to_png(figure.svg, scale=_SHOWN_SCALE)
    name, digest = f"{figure.figure_id}.png", hashlib.sha256(content).hexdigest()
    return Attachment(name, digest, IMAGE_TOKENS, content, PNG)


def _caption(figure: DraftFigure) -> str:
    """Return the caption as readers see it."""
    plain_caption = pypandoc.convert_text(
        shallow(figure.caption), "plain", format=MARKDOWN, extra_args=["--wrap=none"]
    )
    return str(plain_caption).strip()
