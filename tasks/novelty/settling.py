"""A reply with its keys turned into references; what it made up is taken out and counted."""

from dataclasses import dataclass

from schemas.citation import Citation
from schemas.novelty import ClaimedContribution
from tasks.citations.collect import citation_rows
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.novelty.steps.judge_novelty import ContributionReply, NoveltyReply

STAGE = "novelty"
SUBJECT = "judge_novelty"


@dataclass(frozen=True, slots=True)
class SettledReply:
    """What the judgement says, ready to be read."""

    score: int
    percent: tuple[int, ...]
    contributions: tuple[ClaimedContribution, ...]
    justification: str
    known_aspects: tuple[str, ...]
    novel_aspects: tuple[str, ...]
    removed_citation_count: int
    uncited_sentence_count: int
    citations: tuple[Citation, ...]


def settled(answer: NoveltyReply, shown: Shown) -> SettledReply:
    """Settle the three texts of a reply against the works it was shown; aspects of which nothing is
    left are left out.
    """
    justification = settle(answer.justification, shown)
    known, novel = (
        settle("\n".join(" ".join(one.split()) for one in aspects), shown)
        for aspects in _lists(answer)
    )
    contributions = tuple(_settled(one, shown) for one in answer.contributions)
    unknown = sum(
        one.closest is not None and settled_one.paper_id is None
        for one, settled_one in zip(answer.contributions, contributions, strict=True)
    )
    texts = {"justification": justification, "known_aspects": known, "novel_aspects": novel}
    return SettledReply(
        score=answer.score,
        percent=answer.probabilities.percent,
        contributions=contributions,
        justification=justification.markdown,
        known_aspects=_lines(known.markdown),
        novel_aspects=_lines(novel.markdown),
        removed_citation_count=unknown
        + sum(text.removed_citation_count for text in texts.values()),
        uncited_sentence_count=justification.uncited_sentence_count,
        citations=tuple(
            row
            for field, text in texts.items()
            for row in citation_rows(text, shown, module=STAGE, subject=SUBJECT, field=field)
        ),
    )


def _settled(entry: ContributionReply, shown: Shown) -> ClaimedContribution:
    """A work that was never shown is taken out, and with it what was said of the idea beside it."""
    papers = {key.casefold(): paper.paper_id for key, paper in shown}
    closest = papers.get(entry.closest.casefold()) if entry.closest is not None else None
    told = entry.closest is None or closest is not None
    return ClaimedContribution(
        contribution=entry.contribution,
        paper_id=closest,
        overlap=entry.overlap if told else None,
        difference=entry.difference if told else None,
    )


def _lists(answer: NoveltyReply) -> tuple[list[str], list[str]]:
    return answer.known_aspects, answer.novel_aspects


def _lines(markdown: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in markdown.splitlines() if line.strip())
