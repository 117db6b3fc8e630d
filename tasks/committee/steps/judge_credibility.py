"""`judge_credibility`: how much weight items deserve, whatever they say.

Baseline: a log-scaled formula over what is known of an item.

- papers: 0.7 · log(1 + citations a year) / log(1 + 50) + 0.3 · venue, where a named venue counts
  0.7 and a preprint server 0.3
- code: log(1 + stars a year) / log(1 + 1000)
- web: 0.8 for an institution's or reference site, 0.5 for a non-profit or documentation one, 0.35
  for any other

Each logarithm's share ends at 1. Years are reckoned to the year of judging and are at least one. A
term of which nothing is known is left out and the rest weighs whole; an item of which nothing at
all is known gets no entry, not a zero.
"""

import math
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.literature.knowledge import SourceKind
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, bounded
from tasks.judging.reply_fields import KeyedEntry, SoundEntries
from tasks.judging.step import BaselineTools, NoAnswer, Step


class ItemFacts(Noun):
    """What is known of one item that tells how credible it is."""

    key: str
    kind: str
    title: str
    site: str = Field(description="Venue, site or owner; empty where unknown.")
    published: str = Field(description="YYYY-MM-DD, or `undated`.")
    citation_count: int | None = Field(ge=0)
    stars: int | None = Field(ge=0)


class CredibilityInput(Noun):
    """How much weight do these items deserve, whatever they say?"""

    idea: str = Field(min_length=1)
    items: tuple[ItemFacts, ...] = Field(min_length=1)
    as_of_year: int = Field(
        description="The year against which age is reckoned: the cutoff's, or the current one."
    )


class CredibilityEntry(KeyedEntry):
    reason: str = Field(description="One short sentence: the fact that decided.")
    score: int = Field(ge=0, le=10)


class CredibilityReply(Reply):
    items: Annotated[list[CredibilityEntry], Field(min_length=1), SoundEntries]


TOP_CITATIONS_A_YEAR = 50
TOP_STARS_A_YEAR = 1000
CITATION_WEIGHT = 0.7
_PREPRINTS = bounded(r"arxiv|biorxiv|medrxiv|preprint|ssrn|openreview", IGNORECASE)
_INSTITUTION = bounded(
    r"\.(?:edu|gov|mil|int)(?:\.[a-z]{2})?$|\.ac\.[a-z]{2}$|(?:^|\.)(?:wikipedia|acm|ieee|nature"
    r"|nih|who|europa)\.\w{1,40}$"
)
_NON_PROFIT = bounded(r"\.org$|^docs?\.|readthedocs|(?:^|\.)github\.io$")


async def baseline_credibility(
    inputs: CredibilityInput, tools: BaselineTools
) -> CredibilityReply | NoAnswer:
    """Each item by itself, rounded to whole points."""
    del tools
    entries = []
    for item in inputs.items:
        known = _known(item, inputs.as_of_year)
        if known is not None:
            score_0_to_1, reason = known
            entries.append(
                CredibilityEntry(key=item.key, reason=reason, score=round(10 * score_0_to_1))
            )
    return (
        CredibilityReply(items=entries)
        if entries
        else NoAnswer(Reason.NO_EVIDENCE, "nothing is known that tells how credible the items are")
    )


def _known(item: ItemFacts, as_of_year: int) -> tuple[float, str] | None:
    years = max(as_of_year - int(item.published[:4]), 1) if item.published[:4].isdigit() else 1
    if item.kind == SourceKind.WEB.value:
        return _of_site(item.site)
    if item.kind == SourceKind.CODE.value:
        if item.stars is None:
            return None
        return _share(item.stars / years, TOP_STARS_A_YEAR), f"{item.stars} stars in {years} years."
    return _of_paper(item, years)


def _of_paper(item: ItemFacts, years: int) -> tuple[float, str] | None:
    venue = None if not item.site else 0.3 if _PREPRINTS.search(item.site) else 0.7
    if item.citation_count is None:
        return None if venue is None else (venue, f"Published in {item.site}; citations unknown.")
    cited = _share(item.citation_count / years, TOP_CITATIONS_A_YEAR)
    reason = f"{item.citation_count} citations in {years} years"
    if venue is None:
        return cited, f"{reason}; venue unknown."
    return (
        CITATION_WEIGHT * cited + (1 - CITATION_WEIGHT) * venue,
        f"{reason}; published in {item.site}.",
    )


def _of_site(site: str) -> tuple[float, str] | None:
    if not site:
        return None
    host = site.lower()
    if _INSTITUTION.search(host):
        return 0.8, f"{site} is an institution's or reference site."
    return (
        (0.5, f"{site} is a non-profit or documentation site.")
        if _NON_PROFIT.search(host)
        else (0.35, f"{site} is an ordinary site.")
    )


def _share(amount: float, top: float) -> float:
    return min(math.log1p(amount) / math.log1p(top), 1.0)


JUDGE_CREDIBILITY = Step(
    name="judge_credibility",
    version=2,
    package="tasks.committee",
    input_model=CredibilityInput,
    output_model=CredibilityReply,
    baseline=baseline_credibility,
    answer_tokens=LONG_ANSWER_TOKENS,
)
