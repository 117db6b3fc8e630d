"""Expected model calls of a draft."""

from typing import Any

from schemas.base import replace
from schemas.judging import AskingParameters, JudgingParameters
from schemas.works.draft import DECLARATION_KEY, FigureKind
from schemas.works.draft_run import DraftParameters, PlannedDraft
from tasks.judging.expected import CHARACTERS_PER_TOKEN, ExpectedCalls
from tasks.judging.panel import models_of_step
from tasks.judging.pictures import PICTURE_TOKENS
from tasks.judging.step import Step
from tasks.judging.steps import VERIFY_CITATIONS
from tasks.judging.verifying import CLAIMS_PER_CALL, WORDS_PER_SOURCE
from tasks.writing.figuring import IMAGE_TOKENS
from tasks.writing.steps import (
    DRAFT_METHOD_FIGURE,
    DRAFT_READING,
    DRAFT_SECTION,
    DRAW_METHOD_FIGURE,
    LOOK_AT_FIGURE,
    LOOK_AT_PICTURE,
    STEPS,
)

DRAFT_STEPS: tuple[Step[Any, Any], ...] = (*STEPS, VERIFY_CITATIONS)
PICTURE_STEPS: tuple[Step[Any, Any], ...] = (DRAW_METHOD_FIGURE, LOOK_AT_PICTURE)
"""Steps used only with an image model."""
TOKENS_PER_WORD = 1.6
"""Tokens per word of a draft's text, in which keys replace numbers."""
TOKENS_PER_CLAIM = 45
REVISED = 0.8
"""Share of sections that are rewritten."""
SENTENCES_PER_WORK = 1.5
GRAPH_TOKENS = 500
VERDICT_TOKENS = 60
CAPTION_TOKENS, LOOK_TOKENS = 80, 150


def drawing_model(judging: JudgingParameters) -> str | None:
    """Return the image model for the method figure; None if a program draws it."""
    return next(iter(models_of_step(DRAW_METHOD_FIGURE, judging)), None)


def with_drawing_model(judging: JudgingParameters, model: str) -> JudgingParameters:
    parameters = judging.steps.get(DRAW_METHOD_FIGURE.name, AskingParameters())
    steps = {
        **judging.steps,
        DRAW_METHOD_FIGURE.name: replace(parameters, model=model, judges=None),
    }
    return replace(judging, steps=steps)


def steps_of(parameters: DraftParameters) -> tuple[Step[Any, Any], ...]:
    return tuple(step for step in DRAFT_STEPS if parameters.draws or step not in PICTURE_STEPS)


def calls_of_draft(
    unit: PlannedDraft, parameters: DraftParameters, *, sees: bool
) -> dict[Step[Any, Any], ExpectedCalls]:
    """Return the expected calls by step; `sees`: whether figures are shown to the model."""
    material, review = unit.material, parameters.review
    model_sections = [each for each in unit.outline if each.claim_keys != (DECLARATION_KEY,)]
    sizes = {claim.claim_key: len(claim.shown + claim.passage) for claim in material.claims}
    text_tokens = sum(each.planned_words for each in model_sections) * TOKENS_PER_WORD
    claims = sum(
        sizes[key] / CHARACTERS_PER_TOKEN + TOKENS_PER_CLAIM
        for each in model_sections
        for key in each.claim_keys
    )
    rounds = 1 + REVISED * (2 if review else 1)
    has_graph = any(each.kind is FigureKind.GRAPH for each in material.figures)
    pictures = int(parameters.draws and has_graph)
    figures_shown = len(material.figures) - pictures if sees else 0
    pictures_shown = pictures if sees else 0
    idea = sum(size for key, size in sizes.items() if key.startswith("idea."))
    work_count = len(material.works)
    check_count = 2 if review else 1
    batches = max(1.0, work_count * SENTENCES_PER_WORK / CLAIMS_PER_CALL) if work_count else 0.0
    source_tokens = work_count * (WORDS_PER_SOURCE + 40 * SENTENCES_PER_WORK) * TOKENS_PER_WORD
    return {
        DRAFT_METHOD_FIGURE: ExpectedCalls(1, idea / CHARACTERS_PER_TOKEN, GRAPH_TOKENS),
        DRAFT_SECTION: ExpectedCalls(
            len(model_sections) * rounds,
            rounds * claims + (rounds - 0.5) * len(model_sections) * text_tokens,
            rounds * text_tokens,
        ),
        DRAFT_READING: ExpectedCalls(1, text_tokens, GRAPH_TOKENS),
        VERIFY_CITATIONS: ExpectedCalls(
            check_count * batches,
            check_count * source_tokens,
            check_count * work_count * SENTENCES_PER_WORK * VERDICT_TOKENS,
        ),
        LOOK_AT_FIGURE: ExpectedCalls(
            figures_shown,
            figures_shown * (IMAGE_TOKENS + CAPTION_TOKENS),
            figures_shown * LOOK_TOKENS,
        ),
        DRAW_METHOD_FIGURE: ExpectedCalls(
            pictures, pictures * GRAPH_TOKENS, pictures * PICTURE_TOKENS
        ),
        LOOK_AT_PICTURE: ExpectedCalls(
            pictures_shown,
            pictures_shown * (IMAGE_TOKENS + CAPTION_TOKENS + GRAPH_TOKENS),
            pictures_shown * LOOK_TOKENS,
        ),
    }
