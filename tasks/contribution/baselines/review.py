"""Baseline of `contribution_review`: what the comparisons agree on, each sentence with its papers."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.contribution.answers import ReviewAnswer
from tasks.contribution.baselines.wording import Contrast, listed, quotable, read
from tasks.contribution.questions import ReviewQuestion, ShownComparison
from tasks.judging.step import BaselineTools

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


async def baseline_review(question: ReviewQuestion, tools: BaselineTools) -> ReviewAnswer:
    """Phrases that many papers lack are strengths, papers that are ahead are weaknesses, contrasts give suggestions.

    Every sentence cites the papers it rests on; every paper that is ahead is named.
    """
    del tools
    readings = [_Reading(comparison, read(comparison.comparison)) for comparison in question.comparisons]
    ahead = [reading for reading in readings if reading.shown.score > 0]
    level = [reading for reading in readings if reading.shown.score == 0]
    behind = [reading for reading in readings if reading.shown.score < 0]
    strengths = _strengths(ahead, level, len(readings))
    weaknesses = _weaknesses(behind, level)
    suggestions = _suggestions(question.dimension.name.lower(), ahead, level, behind)
    return ReviewAnswer(strengths=" ".join(strengths), weaknesses=" ".join(weaknesses), suggestions=" ".join(suggestions))


def _strengths(ahead: list[_Reading], level: list[_Reading], total: int) -> list[str]:
    if not ahead:
        return []
    found: list[str] = []
    for phrases, papers in _grouped(ahead, missing=True)[:2]:
        verb = "goes" if len(phrases) == 1 else "go"
        counted = f"{len(papers)} of the {total} papers compared" if len(papers) > 1 else "the nearest paper on the subject"
        found.append(f"{_capital(listed(phrases))} {verb} beyond {counted} {_keys(papers)}.")
    for reading in _quoted(ahead, QUOTED_NEIGHBOURS):
        kept = [phrase for phrase in reading.contrast.missing if phrase not in _named(found)] or list(reading.contrast.missing)
        found.append(f"{reading.cited} stays with “{_clause(reading)}”, whereas the idea brings in {listed(kept[:2]) or 'another means'}.")
    silent = [reading for reading in level if not reading.contrast.shared]
    if silent:
        found.append(f"{_papers_say(silent, 'says', 'say')} nothing about this dimension {_keys(silent)}.")
    return found


def _weaknesses(behind: list[_Reading], level: list[_Reading]) -> list[str]:
    found: list[str] = []
    quoted = _quoted(behind, QUOTED_COMPETITORS)
    for reading in quoted:
        shared = listed(reading.contrast.shared) or "the statement's terms"
        found.append(
            f"{_capital(shared)} {'is' if len(reading.contrast.shared) == 1 else 'are'} already in {reading.cited}: “{_clause(reading)}”."
        )
    others = [reading for reading in behind if reading not in quoted]
    if others:
        found.append(f"{_papers_say(others, 'presents', 'present')} most of the same as well {_keys(others)}.")
    for phrases, papers in _grouped([reading for reading in level if reading.contrast.shared], missing=False)[:2]:
        found.append(
            f"{_capital(listed(phrases))} alone will not set the idea apart, since {_papers_say(papers, 'has', 'have', start=False)} it too {_keys(papers)}."
        )
    return found


def _suggestions(dimension: str, ahead: list[_Reading], level: list[_Reading], behind: list[_Reading]) -> list[str]:
    found: list[str] = []
    for reading in _quoted(behind, 2):
        apart = reading.contrast.missing
        action = (
            f"put {listed(apart[:2])} in the foreground"
            if apart
            else f"state one claim along the line of {dimension} that the paper cannot make"
        )
        found.append(f"To stand apart from {reading.cited}, {action}.")
    if ahead:
        nearest = ahead[0]
        gain = listed(nearest.contrast.missing[:2]) or "the added part"
        rest = f", and say what is gained over {_keys(ahead[1:3])}" if ahead[1:3] else ""
        found.append(f"Show against {nearest.cited} what {gain} changes{rest}.")
    shared = [reading for reading in level if reading.contrast.shared]
    if shared:
        nearest = shared[0]
        found.append(
            f"Spell out how {listed(nearest.contrast.shared[:2])} differs from its use in {nearest.cited}, “{quotable(nearest.shown.title)}”."
        )
    return found


def _grouped(readings: Sequence[_Reading], *, missing: bool) -> list[tuple[tuple[str, ...], list[_Reading]]]:
    """Phrases with the papers that lack (or share) them, most papers first; phrases with the same papers stand together."""
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
    """The first readings whose quotations differ."""
    distinct = {reading.contrast.quotation: reading for reading in reversed(readings) if reading.contrast.quotation}
    chosen = set(id(reading) for reading in distinct.values())
    return [reading for reading in readings if id(reading) in chosen][:limit]


def _named(sentences: Sequence[str]) -> str:
    return " ".join(sentences).lower()


def _clause(reading: _Reading) -> str:
    return reading.contrast.quotation.rstrip(".").rstrip()


def _keys(readings: Sequence[_Reading]) -> str:
    return " ".join(reading.cited for reading in readings[:KEYS_PER_SENTENCE])


def _papers_say(readings: Sequence[_Reading], singular: str, plural: str, *, start: bool = True) -> str:
    subject = "one other paper" if len(readings) == 1 else f"{len(readings)} other papers"
    return f"{_capital(subject) if start else subject} {singular if len(readings) == 1 else plural}"


def _capital(text: str) -> str:
    """The first letter upper case, also behind the mark of italics."""
    for place, letter in enumerate(text):
        if letter.isalnum():
            return text[:place] + letter.upper() + text[place + 1 :]
    return text
