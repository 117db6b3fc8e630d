"""Preparation of an idea: the plan is taken out of its manuscript, and translated into English."""

from collections.abc import Sequence
from typing import Any

from schemas.base import replace
from schemas.idea import Idea
from schemas.outcome import Unscored
from tasks.curation.curate import take_plan
from tasks.curation.paper_parts import PaperParts
from tasks.curation.steps import CURATE_IDEA
from tasks.documents.document import Refusal
from tasks.ideas.parts import parts_of, title_of
from tasks.judging.expected import CHARACTERS_PER_TOKEN, CallsByStep, ExpectedCalls
from tasks.judging.step import Engine, Step
from tasks.languages.language import language_of
from tasks.languages.translate import TRANSLATE, expected_translations, translate

PREPARATION_STEPS: tuple[Step[Any, Any], ...] = (CURATE_IDEA, TRANSLATE)
_PLAN_TOKENS = 900


def preparation_of(idea: Idea) -> tuple[Step[Any, Any], ...]:
    """Return the steps that an idea needs before it can be judged; none for most ideas."""
    if idea.manuscript is not None:
        return (CURATE_IDEA,)
    return () if language_of(idea.text) is None else (TRANSLATE,)


def expected_preparation(ideas: Sequence[Idea]) -> CallsByStep:
    """Return the expected calls that prepare ideas, without steps that none needs."""
    papers = [len(idea.text) for idea in ideas if idea.manuscript is not None]
    texts = [_titled_text(idea) for idea in ideas if TRANSLATE in preparation_of(idea)]
    calls: CallsByStep = {
        CURATE_IDEA: ExpectedCalls(
            len(papers), sum(papers) / CHARACTERS_PER_TOKEN, len(papers) * _PLAN_TOKENS
        ),
        TRANSLATE: expected_translations(texts),
    }
    return {step: each for step, each in calls.items() if each.calls}


async def prepare(idea: Idea, paper: PaperParts | None, engine: Engine) -> Idea | Refusal:
    """Return the idea with its plan and translation, or why it cannot be judged.

    Args:
        paper: the parts of its manuscript; None: it was given as an idea.
    """
    if paper is not None:
        plan = await take_plan(idea.title, paper, engine)
        if isinstance(plan, Refusal):
            return plan
        return replace(
            idea,
            text=plan.text,
            problem=plan.problem,
            method=plan.method,
            experiment=plan.experiment or None,
        )
    if (language := language_of(idea.text)) is None:
        return idea
    translation = await translate(_titled_text(idea), language, engine)
    if isinstance(translation, Unscored):
        return Refusal(translation.reason, translation.detail)
    return replace(idea, translation=translation.value.text.strip())


def in_english(idea: Idea) -> Idea:
    """Return a prepared idea with its translation in place of its own words."""
    if (text := idea.translation) is None:
        return idea
    parts = parts_of(text)
    return replace(
        idea,
        title=title_of(text),
        text=text,
        problem=parts.problem,
        method=parts.method,
        experiment=parts.experiment,
    )


def _titled_text(idea: Idea) -> str:
    return idea.text if idea.title in idea.text else f"# {idea.title}\n\n{idea.text}"
