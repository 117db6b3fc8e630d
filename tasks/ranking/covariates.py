"""What must count for nothing between two ideas, recorded so that anyone can see whether it did."""

from typing import Any

from tasks.ranking.steps.measures import NEWNESS
from tasks.text.words import sentences, words


def covariates(first: str, second: str) -> dict[str, Any]:
    """Columns of a match: length, length of sentences and claims to be new, first less second."""
    counted = _counted(first), _counted(second)
    return {name: counted[0][name] - counted[1][name] for name in counted[0]}


def _counted(text: str) -> dict[str, int | float]:
    found = [len(words(sentence)) for sentence in sentences(text)]
    return {
        "words_difference": sum(found),
        "sentence_words_difference": sum(found) / len(found) if found else 0.0,
        "novelty_claims_difference": sum(1 for _ in NEWNESS.finditer(text)),
    }
