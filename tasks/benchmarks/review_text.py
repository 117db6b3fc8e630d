"""A review as one Markdown text, in one form whoever wrote it, so that a judge cannot tell systems
apart by layout.
"""

from collections.abc import Iterable, Iterator, Sequence

from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import Concern, standing
from schemas.literature.survey import Survey
from tasks.benchmarks.steps.prompted_contribution import PromptedContributionReply
from tasks.benchmarks.steps.prompted_soundness import PromptedSoundnessReply
from tasks.citations.keys import Shown
from tasks.citations.settle import settle

Part = tuple[str, str]


def text_of_evaluation(evaluation: IdeaEvaluation) -> str:
    """Everything the modules wrote about an idea; empty when nothing was scored."""
    return "\n\n".join(
        [
            *_plan(evaluation),
            *_soundness(evaluation),
            *_contribution(evaluation),
            *_committee(evaluation),
        ]
    )


def text_of_survey(survey: Survey) -> str:
    """All sections of a written survey; empty when none was written."""
    written = [section for section in survey.sections if section.text]
    return "\n\n".join(f"## {section.heading}\n\n{section.text}" for section in written)


def text_of_replies(
    soundness: PromptedSoundnessReply,
    contribution: PromptedContributionReply,
    shown: Shown | None,
) -> str:
    """A baseline's review; keys of `shown` become references, and without `shown` the links it
    wrote stay as they are.
    """

    def said(text: str) -> str:
        return text.strip() if shown is None else settle(text, shown).markdown

    methods = (
        (
            f"Method: {each.method}",
            ("Support", each.support),
            ("Contradictions", each.contradictions),
            ("Suggestions", each.suggestions),
        )
        for each in soundness.methods
    )
    dimensions = (
        (
            f"Contribution: {each.dimension}",
            ("Strengths", each.strengths),
            ("Weaknesses", each.weaknesses),
            ("Suggestions", each.suggestions),
        )
        for each in contribution.dimensions
    )
    sections = (
        _section(heading, [(name, said(text)) for name, text in parts])
        for heading, *parts in (*methods, *dimensions)
    )
    return "\n\n".join(filter(None, sections))


def _plan(evaluation: IdeaEvaluation) -> Iterator[str]:
    concerns = evaluation.concerns
    points = [
        ("Strengths", [each for each in concerns if each.severity is None]),
        ("Weaknesses and questions", standing(concerns)),
    ]
    yield from _filled("The plan", [(name, _list(map(_point, found))) for name, found in points])


def _soundness(evaluation: IdeaEvaluation) -> Iterator[str]:
    soundness = evaluation.soundness
    if soundness is None:
        return
    text_of = {method.method_id: method.text for method in soundness.methods}
    for review in soundness.reviews:
        parts = [
            ("Support", review.support),
            ("Contradictions", review.contradictions),
            ("Suggestions", review.suggestions),
            ("Open questions", review.open_questions),
        ]
        yield from _filled(f"Method: {text_of[review.method_id]}", parts)
    if soundness.summary is not None:
        summary = soundness.summary
        lists = [
            ("Strengths", summary.strengths),
            ("Weaknesses", summary.weaknesses),
            ("Suggestions", summary.suggestions),
        ]
        yield from _filled("Summary of soundness", [(name, _list(texts)) for name, texts in lists])


def _point(concern: Concern) -> str:
    """One point as running text; evidence for and against it stands in the methods' reviews."""
    quoted = f"“{concern.quote}”" if concern.quote else concern.omission
    told = (concern.point, quoted, concern.why, concern.would_change, concern.action)
    return " ".join(text for text in told if text)


def _contribution(evaluation: IdeaEvaluation) -> Iterator[str]:
    for review in evaluation.contribution.reviews if evaluation.contribution is not None else ():
        parts = [
            ("Strengths", review.strengths),
            ("Weaknesses", review.weaknesses),
            ("Suggestions", review.suggestions),
        ]
        yield from _filled(f"Contribution: {review.dimension}", parts)


def _committee(evaluation: IdeaEvaluation) -> Iterator[str]:
    meta = evaluation.committee.meta_review if evaluation.committee is not None else None
    if meta is None:
        return
    parts = [
        ("Summary", meta.summary),
        ("Strengths", meta.strengths),
        ("Weaknesses", meta.weaknesses),
        ("Suggestions", meta.suggestions),
    ]
    yield from _filled("Committee", parts)


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _filled(heading: str, parts: Iterable[Part]) -> Iterator[str]:
    section = _section(heading, list(parts))
    if section:
        yield section


def _section(heading: str, parts: Sequence[Part]) -> str:
    """Empty when every part is."""
    written = [f"{name}: {text.strip()}" for name, text in parts if text.strip()]
    return "\n\n".join([f"## {' '.join(heading.split())}", *written]) if written else ""
