"""Parts of an idea and knowledge in the committee's prompts, and measures for baselines, 0 to 1."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pydantic import Field

from schemas.base import Noun
from schemas.judgement.committee import IdeaPart, Relation
from schemas.text.patterns import IGNORECASE, bounded
from tasks.text.quotations import passages
from tasks.text.words import has_numbers, overlap_0_to_1, words


class PartShown(Noun):
    """One part of the idea; a missing part has no claims."""

    part: str
    claims: tuple[str, ...]


class FindingShown(Noun):
    part: str
    relation: str = Field(description="supports, refutes or neither.")
    relevance_0_to_1: float = Field(ge=0, le=1)
    evidence: str
    analysis: str


class KnowledgeShown(Noun):
    key: str
    kind: str = Field(description="papers, web or code.")
    title: str
    published: str = Field(description="YYYY-MM, or `undated`.")
    findings: tuple[FindingShown, ...] = Field(min_length=1)


def in_words(part: str) -> str:
    """Return the name of a part for use in a sentence."""
    return "gist" if part == IdeaPart.TLDR else part.replace("_", " ")


_DEMANDING = bounded(
    r"\b(?:large[- ]scale|massive|thousands of"
    r" (?:gpus?|participants|patients|samples)|billions?|years of|clinical trial|satellites?"
    r"|telescope|from scratch|nationwide|global(?:ly)?|real[- ]time|quantum|exascale"
    r"|longitudinal|proprietary|unprecedented|human[- ]level)\b",
    IGNORECASE,
)
_WIDE = bounded(
    r"\b(?:general(?:ly|i[sz]\w*+)?|across|fundamental|widely|society|patients|safety|climate"
    r"|health|education|communit\w++|any|every|universal|critical"
    r"|million|billion|policy|scal(?:e|able|ing)|practice|real[- ]world)\b",
    IGNORECASE,
)
_NAME_LIKE = bounded(r"[A-Z]{2}|[a-z][A-Z]|-")
_PRIOR = 0.5
_COMFORTABLE_WORDS, _LONG_WORDS = 24, 60


@dataclass(frozen=True, slots=True)
class CitableFinding:
    key: str
    kind: str
    finding: FindingShown


def findings(
    evidence: Collection[KnowledgeShown], parts: Collection[IdeaPart] = tuple(IdeaPart)
) -> list[CitableFinding]:
    part_names = {part.value for part in parts}
    matching = [
        CitableFinding(item.key, item.kind, finding)
        for item in evidence
        for finding in item.findings
        if finding.part in part_names
    ]
    return sorted(matching, key=lambda each: -each.finding.relevance_0_to_1)


def quotations(items: Iterable[CitableFinding]) -> list[str]:
    """Return the findings as lines with relation, part, quotation and key, each once."""
    lines = (
        f"{each.finding.relation} {in_words(each.finding.part)}:"
        f" {passages([(each.finding.evidence, each.key)])}"
        for each in items
    )
    return list(dict.fromkeys(lines))


def support_share(items: Collection[CitableFinding]) -> float:
    """Return supporting relevance over supporting and refuting, shrunk towards a half."""
    supports = sum(
        each.finding.relevance_0_to_1
        for each in items
        if each.finding.relation == Relation.SUPPORTS
    )
    refutes = sum(
        each.finding.relevance_0_to_1 for each in items if each.finding.relation == Relation.REFUTES
    )
    return (supports + _PRIOR) / (supports + refutes + 2 * _PRIOR)


def closeness(evidence: Collection[KnowledgeShown], parts: Collection[IdeaPart]) -> float:
    """Return the mean over `parts` of the highest relevance of a finding; 0 without any."""
    relevance_by_part: dict[str, float] = {}
    for each in findings(evidence, parts):
        relevance_by_part.setdefault(each.finding.part, each.finding.relevance_0_to_1)
    return sum(relevance_by_part.values()) / len(relevance_by_part) if relevance_by_part else 0.0


def completeness(parts: Collection[PartShown]) -> float:
    return sum(bool(part.claims) for part in parts) / len(IdeaPart)


def concreteness(parts: Collection[PartShown]) -> float:
    claims = [claim for part in parts for claim in part.claims]
    return (
        sum(
            has_numbers(claim) or any(_NAME_LIKE.search(word) for word in claim.split()[1:])
            for claim in claims
        )
        / len(claims)
        if claims
        else 0.0
    )


def readability(parts: Collection[PartShown]) -> float:
    """Return 1 for claims of a moderate mean length, falling to 0 for long ones."""
    lengths = [len(words(claim)) for part in parts for claim in part.claims]
    mean = sum(lengths) / len(lengths) if lengths else _LONG_WORDS
    return _clamp(1 - (mean - _COMFORTABLE_WORDS) / (_LONG_WORDS - _COMFORTABLE_WORDS))


def claims_of(parts: Collection[PartShown], part: IdeaPart) -> tuple[str, ...]:
    return next((entry.claims for entry in parts if entry.part == part.value), ())


def ease(idea: str) -> float:
    """Return a value that falls with every demanding resource in the text."""
    return 1 / (1 + 0.5 * len({match.lower() for match in _DEMANDING.findall(idea)}))


def reach(idea: str, parts: Collection[PartShown]) -> float:
    """Return the share of wide-reach words in motivation and expected results."""
    text = " ".join(
        (
            *claims_of(parts, IdeaPart.MOTIVATIONS),
            *claims_of(parts, IdeaPart.EXPECTED_RESULTS),
            idea[:300],
        )
    )
    return min(len({match.lower() for match in _WIDE.findall(text)}) / 5, 1.0)


def kinship(idea: str, criterion: str) -> float:
    return overlap_0_to_1(criterion, idea)


def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)
