"""Suggestions from what related papers did and met that the plan does not mention."""

from collections.abc import Iterator

from tasks.soundness.baselines.closeness import fingerprint, weight_of
from tasks.soundness.baselines.findings import Standing
from tasks.soundness.baselines.wording import listed, none_of, quotable, quote
from tasks.soundness.questions import EvidenceShown, ReviewInput
from tasks.text.practices import PRACTICES
from tasks.text.signs import read_sentence, speaks_of_others
from tasks.text.words import sentences

_MOST = 4


def suggestions(inputs: ReviewInput, found: list[Standing]) -> str:
    """Up to four sentences, each drawn from one paper: practices the plan lacks, limits to test, conditions to state, figures to beat."""
    items = {item.key: item for item in inputs.evidence}
    drawn = [
        *_first(_limits(found), 1),
        *_first(_practices(inputs.idea, found, items), 2),
        *_first(_alternatives(inputs.idea, found, items), 1),
        *_first(_conditions(found, items), 1),
        *_first(_bars(found), 1),
    ]
    return " ".join(drawn[:_MOST]) or f"{none_of(len(found), 'gives')} a specific hint on how to change this method."


def _first(drawn: Iterator[str], limit: int) -> list[str]:
    return [text for text, _ in zip(drawn, range(limit), strict=False)]


def _practices(idea: str, found: list[Standing], items: dict[str, EvidenceShown]) -> Iterator[str]:
    missing = [practice for practice in PRACTICES if not practice.pattern.search(idea)]
    used: set[str] = set()
    for standing in found:
        for sentence in _sentences(items[standing.key]):
            reading = read_sentence(sentence)
            named = next((p for p in missing if p.name not in used and p.pattern.search(sentence)), None)
            if named is not None and (reading.procedure or reading.finding) and not reading.of_others and quotable(sentence):
                used.add(named.name)
                about = listed(standing.shared)
                said = quote(sentence)
                yield f"Consider {named.name}, which this plan does not mention and [{standing.key}] brings up for {about}: {said}."
                break


def _limits(found: list[Standing]) -> Iterator[str]:
    for standing in found:
        if standing.unfavourable is not None:
            about = listed(standing.shared)
            yield f"Test early, on {about}, whether the limit that [{standing.key}] names applies here, and say what follows if it does."


def _alternatives(idea: str, found: list[Standing], items: dict[str, EvidenceShown]) -> Iterator[str]:
    """Procedures of related papers in which most informative words are new to the plan."""
    known = fingerprint(idea).words
    for standing in found:
        for sentence in sentences(items[standing.key].method):
            telling = [word for word in fingerprint(sentence).words if weight_of(word) == 1.0]
            new = [word for word in telling if word not in known]
            if quotable(sentence) and _tells_what_it_does(sentence) and len(new) >= max(3, len(telling) / 2):
                yield f"Weigh what [{standing.key}] says on {listed(standing.shared)} and this plan does not: {quote(sentence)}."
                break


def _tells_what_it_does(sentence: str) -> bool:
    """Whether the paper speaks of its own doing: not of what others lack, nor of what came of it."""
    reading = read_sentence(sentence)
    return reading.sign != "negative" and not (reading.of_others or reading.finding or speaks_of_others(sentence))


def _conditions(found: list[Standing], items: dict[str, EvidenceShown]) -> Iterator[str]:
    for standing in found:
        for sentence in sentences(items[standing.key].context):
            reading = read_sentence(sentence)
            if standing.favourable is not None and quotable(sentence) and reading.sign != "negative" and not reading.of_others:
                said = quote(sentence)
                yield f"Say in what the conditions here differ from those behind the favourable outcome of [{standing.key}]: {said}."


def _bars(found: list[Standing]) -> Iterator[str]:
    for standing in found:
        if standing.favourable is not None and standing.favourable.figures:
            yield f"Report what [{standing.key}] reports for {listed(standing.shared)}, so that its figures can serve as a bar."


def _sentences(item: EvidenceShown) -> list[str]:
    return [sentence for text in (item.method, item.results, item.context) for sentence in sentences(text)]
