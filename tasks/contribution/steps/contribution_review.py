"""`contribution_review`: what the comparisons say about the idea's contribution along one
dimension.

Baseline: what the comparisons agree on, each sentence with its papers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pydantic import Field, model_validator

from schemas.base import Noun, Reply
from schemas.contribution import Overlap
from schemas.judging import StepKind
from tasks.contribution.steps.shown import ShownDimension
from tasks.contribution.steps.wording import Contrast, read
from tasks.judging.step import BaselineTools, Step
from tasks.judging.suggestions import ProposedSuggestions
from tasks.text.wording import listed, quotable
from tasks.text.words import rank_sentences, sentences


class ShownComparison(Noun):
    """The idea against one paper along the dimension under review."""

    key: str
    title: str
    year: int | None
    score: int | None = Field(
        ge=-1,
        le=1,
        description="None: no comparison was made, and `comparison` is the paper's abstract.",
    )
    comparison: str
    overlap: Overlap | None = None
    remains: str = Field(default="", description="What remains new if the paper is granted.")
    overall: str = Field(default="", description="Of the closest works: the comparison as a whole.")
    abstract: str = Field(default="", description="Of the closest works.")


class ReviewInput(Noun):
    """What do the comparisons say about the idea's contribution along one dimension?"""

    idea: str = Field(min_length=1)
    dimension: ShownDimension
    comparisons: tuple[ShownComparison, ...] = Field(min_length=1)
    words_per_text: int | None = Field(
        default=None, ge=1, description="Asked of each section; None: as many as it needs."
    )


class ReviewReply(Reply):
    """Each text cites papers as [P3]; a section may be empty when the comparisons give nothing for it, not all of them."""

    strengths: str = Field(description="Where the idea is novel along this dimension, with keys.")
    weaknesses: str = Field(description="Where earlier work already covers it, with keys.")
    suggestions: ProposedSuggestions = Field(
        default=(), description="What would set the contribution apart, the most useful first."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.strengths.strip() or self.weaknesses.strip() or self.suggestions):
            raise ValueError("all three sections are empty")
        return self


KEYS_PER_SENTENCE = 5
QUOTED_COMPETITORS = 3
QUOTED_NEIGHBOURS = 2


@dataclass(frozen=True, slots=True)
class _Reading:
    """A comparison and what it rests on."""

    shown: ShownComparison
    contrast: Contrast

    @property
    def cited(self) -> str:
        return f"[{self.shown.key}]"


async def baseline_review(inputs: ReviewInput, tools: BaselineTools) -> ReviewReply:
    """Phrases that many papers lack are strengths, papers that are ahead are weaknesses. It suggests
    nothing.

    Every sentence cites the papers it rests on; every paper that is ahead is named.
    """
    del tools
    if all(comparison.score is None for comparison in inputs.comparisons):
        return _uncompared(inputs)
    readings = [
        _Reading(comparison, read(comparison.comparison)) for comparison in inputs.comparisons
    ]
    ahead = [reading for reading in readings if (reading.shown.score or 0) > 0]
    level = [reading for reading in readings if reading.shown.score == 0]
    behind = [reading for reading in readings if (reading.shown.score or 0) < 0]
    strengths = _strengths(ahead, level, len(readings))
    weaknesses = _weaknesses(behind, level)
    return ReviewReply(
        strengths=" ".join(strengths),
        weaknesses=" ".join(weaknesses),
    )


def _uncompared(inputs: ReviewInput) -> ReviewReply:
    """Of abstracts that nobody compared only what comes nearest to the statements can be told, not
    who is ahead.
    """
    statements = " ".join(inputs.dimension.statements)
    nearest = sorted(
        (
            (
                max(rank_sentences(statements, sentences(paper.comparison), 1), default=(0.0, "")),
                paper,
            )
            for paper in inputs.comparisons
        ),
        key=lambda pair: -pair[0][0],
    )
    told = [
        (quotable(sentence), paper)
        for (closeness, sentence), paper in nearest[:QUOTED_COMPETITORS]
        if closeness > 0
    ]
    return ReviewReply(
        strengths="",
        weaknesses=" ".join(
            f"Near to this stands [{paper.key}], which says “{said.rstrip('.')}”."
            for said, paper in told
        ),
    )


def _strengths(ahead: list[_Reading], level: list[_Reading], total: int) -> list[str]:
    found: list[str] = []
    alone = len(ahead) == 1
    for phrases, papers in [] if alone else _grouped(ahead, missing=True)[:2]:
        found.append(
            f"{_share(len(papers), total)} on the subject without"
            f" {listed(phrases, 'or')}{_cited(papers)}."
        )
    for place, reading in enumerate(_quoted(ahead, QUOTED_NEIGHBOURS)):
        start = (
            "The one paper that leaves this open"
            if alone
            else "The most relevant of them"
            if place == 0
            else "Next to it"
        )
        shared = (
            f" and shares {listed(reading.contrast.shared)} with the idea"
            if reading.contrast.shared
            else ""
        )
        fresh = [
            phrase for phrase in reading.contrast.missing if f"*{phrase}*" not in " ".join(found)
        ]
        lacking = f", without {listed(fresh, 'or')}" if fresh else ""
        found.append(f"{start}, {reading.cited}, says “{_clause(reading)}”{shared}{lacking}.")
    silent = [reading for reading in level if not reading.contrast.shared]
    if silent:
        found.append(
            f"{_papers_say(silent, 'says', 'say')} nothing about this dimension{_cited(silent)}."
        )
    return found


def _share(count: int, total: int) -> str:
    if count == 1:
        return "One paper works"
    if count == total:
        return "Both papers compared work" if total == 2 else f"All {total} papers compared work"
    return f"{count} of the {total} papers compared work"


def _weaknesses(behind: list[_Reading], level: list[_Reading]) -> list[str]:
    found: list[str] = []
    quoted = _quoted(behind, QUOTED_COMPETITORS)
    for place, reading in enumerate(quoted):
        shared = listed(reading.contrast.shared) or "what the idea states here"
        start = ("Already in", "So too in", "Also in")[place % 3]
        found.append(
            f"{start} {reading.cited}: {shared}; it comes nearest where it says"
            f" “{_clause(reading)}”."
        )
    others = [reading for reading in behind if reading not in quoted]
    if others:
        names = " ".join(reading.cited for reading in others)
        found.append(f"{_papers_say(others, 'comes', 'come')} close to the same {names}.")
    for phrases, papers in _grouped(
        [reading for reading in level if reading.contrast.shared], missing=False
    )[:2]:
        subject = "one paper speaks" if len(papers) == 1 else f"{len(papers)} papers speak"
        pronoun = "it" if len(phrases) == 1 else "them"
        found.append(
            f"{_capital(listed(phrases))} alone will not set the idea apart: {subject} of {pronoun}"
            f" too{_cited(papers)}."
        )
    return found


def _grouped(
    readings: Sequence[_Reading], *, missing: bool
) -> list[tuple[tuple[str, ...], list[_Reading]]]:
    """Phrases with the papers that lack (or share) them, most papers first; phrases with the same
    papers stand together.
    """
    papers_of: dict[str, list[_Reading]] = {}
    for reading in readings:
        for phrase in reading.contrast.missing if missing else reading.contrast.shared:
            papers_of.setdefault(phrase, []).append(reading)
    groups: dict[tuple[str, ...], list[str]] = {}
    for phrase, papers in papers_of.items():
        groups.setdefault(tuple(paper.shown.key for paper in papers), []).append(phrase)
    ordered = sorted(groups.items(), key=lambda group: -len(group[0]))
    return [(tuple(phrases[:3]), papers_of[phrases[0]]) for _, phrases in ordered]


def _quoted(readings: Sequence[_Reading], limit: int) -> list[_Reading]:
    """The first readings whose quotations differ, most relevant paper first."""
    distinct: dict[str, _Reading] = {}
    for reading in readings:
        if reading.contrast.quotation:
            distinct.setdefault(reading.contrast.quotation, reading)
    return list(distinct.values())[:limit]


def _clause(reading: _Reading) -> str:
    return reading.contrast.quotation.rstrip(".").rstrip()


def _cited(readings: Sequence[_Reading]) -> str:
    """The papers a sentence rests on, behind its words; of many only the most relevant, and it says
    so.
    """
    keys = " ".join(reading.cited for reading in readings[:KEYS_PER_SENTENCE])
    return f" {keys}" if len(readings) <= KEYS_PER_SENTENCE else f", among them {keys}"


def _papers_say(readings: Sequence[_Reading], singular: str, plural: str) -> str:
    return (
        f"One other paper {singular}"
        if len(readings) == 1
        else f"{len(readings)} other papers {plural}"
    )


def _capital(text: str) -> str:
    """The first letter upper case, also behind the mark of italics."""
    for place, letter in enumerate(text):
        if letter.isalnum():
            return text[:place] + letter.upper() + text[place + 1 :]
    return text


CONTRIBUTION_REVIEW = Step(
    name="contribution_review",
    version=6,
    package="tasks.contribution",
    input_model=ReviewInput,
    output_model=ReviewReply,
    baseline=baseline_review,
    kind=StepKind.JUDGEMENT,
)
