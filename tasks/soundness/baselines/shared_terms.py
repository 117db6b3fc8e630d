"""What a method and a paper have in common, in words a reader can be shown."""

from itertools import pairwise

from tasks.soundness.baselines.closeness import Fingerprint, weight_of
from tasks.soundness.baselines.wording import own_part
from tasks.text.words import content_words, words

_TERMS = 2
_VERB_ENDINGS = ("ing", "ed", "ly", "ise", "ize", "ises", "izes")


def shared_terms(method: str, paper: Fingerprint) -> tuple[str, ...]:
    """Up to two terms in the method's spelling that the paper uses too: its own before those of its context, pairs before words."""
    own = own_part(method)
    chosen: list[str] = []
    for term in dict.fromkeys((*_pairs(own, paper), *_singles(own, paper), *_pairs(method, paper), *_singles(method, paper))):
        stems = set(content_words(term))
        if not any(stems & set(content_words(other)) for other in chosen):
            chosen.append(term)
    return tuple(chosen[:_TERMS])


def _tokens(text: str) -> list[tuple[str, list[str]]]:
    return [(word, content_words(word)) for word in words(text)]


def _pairs(text: str, paper: Fingerprint) -> list[str]:
    """Two words side by side that stand side by side in the paper; at least one says something, and the last is no verb."""
    found: list[str] = []
    for (left, left_stems), (right, right_stems) in pairwise(_tokens(text)):
        if not left_stems or not right_stems or right.endswith(_VERB_ENDINGS):
            continue
        weight = sum(map(weight_of, (*left_stems, *right_stems)))
        if (left_stems[-1], right_stems[0]) in paper.pairs and set(left_stems + right_stems) <= paper.words and weight > 1:
            found.append(f"{left} {right}")
    return found


def _singles(text: str, paper: Fingerprint) -> list[str]:
    """Informative words, likely nouns first, then long ones."""
    found = [word for word, stems in _tokens(text) if stems and set(stems) <= paper.words and max(map(weight_of, stems)) == 1.0]
    return sorted(found, key=lambda word: (word.endswith(_VERB_ENDINGS), -len(word)))
