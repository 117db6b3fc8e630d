"""A reply with its keys turned into references; what it made up is taken out and counted."""

from dataclasses import dataclass

from schemas.citation import Citation
from tasks.citations.collect import citation_rows
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.novelty.steps.judge_novelty import NoveltyReply

STAGE = "novelty"
SUBJECT = "judge_novelty"


@dataclass(frozen=True, slots=True)
class SettledReply:
    """What the judgement says, ready to be read."""

    score: int
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
    texts = {"justification": justification, "known_aspects": known, "novel_aspects": novel}
    return SettledReply(
        score=answer.score,
        justification=justification.markdown,
        known_aspects=_lines(known.markdown),
        novel_aspects=_lines(novel.markdown),
        removed_citation_count=sum(text.removed_citation_count for text in texts.values()),
        uncited_sentence_count=justification.uncited_sentence_count,
        citations=tuple(
            row
            for field, text in texts.items()
            for row in citation_rows(text, shown, module=STAGE, subject=SUBJECT, field=field)
        ),
    )


def _lists(answer: NoveltyReply) -> tuple[list[str], list[str]]:
    return answer.known_aspects, answer.novel_aspects


def _lines(markdown: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in markdown.splitlines() if line.strip())
