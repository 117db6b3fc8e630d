"""A review as one Markdown text, in one form whoever wrote it, so that a judge cannot tell systems
apart by layout; and the addresses it cites, with what each answers to a HEAD request (ScholarEval
E.2).
"""

from collections.abc import Iterable, Iterator, Sequence

from schemas.base import Noun
from schemas.evaluation import IdeaEvaluation
from schemas.patterns import linear
from schemas.soundness import Concern
from schemas.survey import Survey
from tasks.benchmarks.steps.prompted_contribution import PromptedContributionReply
from tasks.benchmarks.steps.prompted_soundness import PromptedSoundnessReply
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.metrics.reviews import LinkAnswer
from tasks.web.client import InvalidURL, redirected, web_address
from tasks.web.exchange import REDIRECTS, NoAnswerError
from tasks.web.guard import Refused, checked_address, response_from

Part = tuple[str, str]


def text_of_evaluation(evaluation: IdeaEvaluation) -> str:
    """Everything the modules wrote about an idea; empty when nothing was scored."""
    return "\n\n".join(
        [*_soundness(evaluation), *_contribution(evaluation), *_committee(evaluation)]
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


def _soundness(evaluation: IdeaEvaluation) -> Iterator[str]:
    soundness = evaluation.soundness
    if soundness is None:
        return
    text_of = {method.method_id: method.text for method in soundness.methods}
    points = [
        ("Strengths", [each for each in soundness.concerns if each.severity is None]),
        ("Weaknesses and questions", [each for each in soundness.concerns if each.severity]),
    ]
    yield from _filled("The plan", [(name, _list(map(_point, found))) for name, found in points])
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


MAXIMUM_REDIRECTS = 5
_LINK = linear(r"\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)")


class LinkStatus(Noun):
    """What one address answered: its HTTP status, or None with the reason."""

    status: int | None
    reason: str = ""


def cited_links(review: str) -> list[str]:
    """The target of every Markdown link, in order, repetitions included: each citation counts."""
    return _LINK.findall(review)


def link_answers(review_links: list[str], statuses: dict[str, LinkStatus]) -> list[LinkAnswer]:
    """An answer for every citation; an address that was not asked has none."""
    unknown = LinkStatus(status=None, reason="not asked")
    found = [(url, statuses.get(url, unknown)) for url in review_links]
    return [LinkAnswer(url, status.status, status.reason) for url, status in found]


async def link_status(
    url: str,
    timeout_seconds: float,
    *,
    allow_private_addresses: bool = False,
) -> LinkStatus:
    """The status of `url` after its redirects.

    Never raises for what the other side does; only public hosts are asked.

    Args:
        allow_private_addresses: exists for tests.
    """
    private = allow_private_addresses
    try:
        target = web_address(url)
        for _ in range(MAXIMUM_REDIRECTS + 1):
            address = await checked_address(target, allow_private_addresses=private)
            if isinstance(address, Refused):
                return LinkStatus(status=None, reason=address.detail)
            async with response_from(address, "HEAD", target, timeout_seconds) as response:
                location = response.headers.get("location")
            if response.status_code not in REDIRECTS or location is None:
                return LinkStatus(status=response.status_code)
            target = redirected(target, location)
    except (NoAnswerError, InvalidURL) as error:
        return LinkStatus(status=None, reason=str(error))
    return LinkStatus(status=None, reason=f"more than {MAXIMUM_REDIRECTS} redirects")
