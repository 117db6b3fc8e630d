"""Text processing for baselines: sentences, words, key phrases, overlap, ranking, cues.

The functions are pure and never raise.

The splitter and the stemmer are our own. pysbd takes quadratic time over hostile text (8,000
characters of `a. a. …` take 1.2 s) and fifty times as long over prose. Snowball's stemmer gives
other stems, and the committed thresholds and calibrations of the baselines were fitted on these.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from schemas.text.patterns import IGNORECASE, bounded
from tasks.text.vocabulary import ABBREVIATIONS, NEGATIVE_CUES, POSITIVE_CUES, STOP_WORDS

_WORD = bounded(r"[^\W_]+(?:[-'’./][^\W_]+)*")
_ATX_HEADING = bounded(r"^ {0,3}#{1,6}(?=[ \t]|$)")
_BOLD_HEADING = bounded(r"^[ \t]*+(?:\*\*|__)([^*_]{1,120})(?:\*\*|__)[ \t]*+:?[ \t]*+$")
_LABEL_HEADING = bounded(r"^[ \t]*+([A-Z][\w-]*+(?: [\w-]++){0,2}):[ \t]*+$")
_UNDERLINE = bounded(r"^ {0,3}(?:=++|-{3,}+)[ \t]*+$")
_FENCE = bounded(r"^ {0,3}(?:```|~~~)")
_BULLET = bounded(r"^[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_SENTENCE_END = bounded(
    r"(?<![.!?…])[.!?…]{1,99}+[\"'”’)\]*_]{0,99}+\s{1,9}+(?=[\"'“‘(\[*_]{0,99}[A-Z0-9À-ÞΑ-Ω])|[。"
    r"！？]\s*"
)
_LAST_TOKEN = bounded(r"([^\s(\[“\"']{1,40})$")
_NUMBER = bounded(r"\d")
_NEGATIVE = bounded(r"\b(?:" + "|".join(NEGATIVE_CUES) + r")\b", IGNORECASE)
_POSITIVE = bounded(r"\b(?:" + "|".join(POSITIVE_CUES) + r")\b", IGNORECASE)
_PHRASE_BREAK = bounded(r"[.,;:!?()\[\]{}\"“”\n\r\t|•*_#<>=]|\s[-–—]\s|—")
_TOKEN = bounded(r"\S+")
# The first match counts, so a longer ending precedes the shorter ones that it ends in.
_SUFFIXES = (
    ("ational", "ate"), ("ization", "ize"), ("isation", "ize"), ("fulness", "ful"),
    ("iveness", "ive"), ("ations", "ate"), ("ation", "ate"), ("ments", "ment"),
    ("ities", "ity"), ("ising", "ize"), ("ised", "ize"), ("ises", "ize"),
    ("ise", "ize"), ("ies", "y"), ("ness", ""), ("sses", "ss"),
    ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("ings", ""),
    ("ing", ""), ("edly", ""), ("ed", ""), ("ly", ""),
    ("es", "e"),
)  # fmt: skip


def sections_of_markdown(text: str) -> list[tuple[str, str]]:
    """Return (heading, body) in order.

    Text before the first heading has the heading ``""``. Headings are `#` lines, underlined lines,
    lines wholly in bold, and labels of up to three words alone on a line (`Method:`). A heading
    without a body is kept with an empty one; lines in code fences are body. A Markdown parser would
    not recognize bold lines and labels as headings.
    """
    line_groups: list[tuple[str, list[str]]] = [("", [])]
    for heading, line in _lines(text):
        if heading is None:
            line_groups[-1][1].append(line)
        else:
            line_groups.append((heading, []))
    sections = [(heading, "\n".join(lines).strip()) for heading, lines in line_groups]
    return [(heading, body) for heading, body in sections if heading or body]


def _lines(text: str) -> list[tuple[str | None, str]]:
    """Return each line with its heading text, None in the body."""
    lines = text.splitlines()
    result: list[tuple[str | None, str]] = []
    in_fence = False
    for line in lines:
        if _FENCE.match(line):
            in_fence = not in_fence
            continue
        if not in_fence and _UNDERLINE.match(line) and result:
            heading, above = result[-1]
            if heading is None and 0 < len(above.strip()) <= 120 and not _BULLET.match(above):
                result[-1] = (above.strip(), "")
                continue
        result.append((None if in_fence else _heading_of(line), line))
    return result


def _heading_of(line: str) -> str | None:
    if match := _ATX_HEADING.match(line):
        return line[match.end() :].strip().rstrip("#").strip()
    for pattern in (_BOLD_HEADING, _LABEL_HEADING):
        if match := pattern.match(line):
            return match.group(1).strip().rstrip(":").strip()
    return None


def sentences(text: str) -> list[str]:
    """Return the sentences in order, with normalized white space.

    Headings are dropped; a bullet starts a sentence and loses its mark; a full stop after an
    abbreviation, an initial or inside a number ends nothing.
    """
    all_sentences: list[str] = []
    paragraph: list[str] = []
    for heading, line in [*_lines(text), (None, "")]:
        bullet = _BULLET.match(line)
        if paragraph and (heading is not None or bullet or not line.strip()):
            all_sentences.extend(_split(" ".join(" ".join(paragraph).split())))
            paragraph = []
        if heading is None and line.strip():
            paragraph.append(line[bullet.end() :] if bullet else line)
    return all_sentences


def _split(paragraph: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(paragraph):
        if not _ends_with_abbreviation(
            paragraph[max(start, end.start() - 40) : end.start()], end.group()
        ):
            parts.append(paragraph[start : end.end()].strip())
            start = end.end()
    parts.append(paragraph[start:].strip())
    return [part for part in parts if _WORD.search(part)]


def _ends_with_abbreviation(before: str, mark: str) -> bool:
    token = _LAST_TOKEN.search(before)
    if token is None or not mark.startswith(".") or mark.startswith(".."):
        return False
    word = token.group(1).strip("*_").lower()
    return (
        word in ABBREVIATIONS
        or word.replace(".", "") in ABBREVIATIONS
        or (len(word) == 1 and token.group(1).isupper())
    )


def words(text: str) -> list[str]:
    """Return lower-case words and numbers in order.

    Inner hyphens, dots and slashes are kept.
    """
    return [match.lower() for match in _WORD.findall(text)]


def content_words(text: str) -> list[str]:
    """Return `words` without stop words and single letters, lightly stemmed."""
    stems: list[str] = []
    for word in words(text):
        for part in word.replace("/", "-").split("-") if "-" in word or "/" in word else (word,):
            if len(part) > 1 and part not in STOP_WORDS:
                stems.append(_stem(part))
    return stems


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    word = word.removesuffix("'s").removesuffix("’s")
    for suffix, instead in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            stem = word[: -len(suffix)] + instead
            if not instead and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
                stem = stem[:-1]
            return stem.removesuffix("e") if len(stem) > 3 else stem
    if (
        word.endswith("s")
        and len(word) > 3
        and word[-2] not in "su"
        and not word.endswith(("is", "ias"))
    ):
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


def key_phrases(text: str, limit: int) -> list[str]:
    """Return the `limit` best lower-case phrases, best first (RAKE).

    A phrase has up to four words.

    Source: Rose et al., Automatic keyword extraction from individual documents, 2010.
    """
    phrases = [phrase for part in _PHRASE_BREAK.split(text) for phrase in _phrases(part)]
    frequency: Counter[str] = Counter()
    degree: Counter[str] = Counter()
    for phrase in phrases:
        for word in phrase:
            frequency[word] += 1
            degree[word] += len(phrase)
    occurrences = Counter(phrases)
    first = {phrase: place for place, phrase in reversed(list(enumerate(phrases)))}

    def value(phrase: tuple[str, ...]) -> float:
        return sum(degree[word] / frequency[word] for word in phrase) * (
            1 + math.log(occurrences[phrase])
        )

    best = sorted(occurrences, key=lambda phrase: (-value(phrase), first[phrase]))
    return [" ".join(phrase) for phrase in best[: max(limit, 0)]]


def _phrases(part: str) -> list[tuple[str, ...]]:
    phrases: list[tuple[str, ...]] = []
    current: list[str] = []
    for word in [*words(part), ""]:
        if word and word not in STOP_WORDS and not word[0].isdigit() and (len(word) > 2 or current):
            current.append(word)
            continue
        if current and len(current) <= 4 and (len(current) > 1 or len(current[0]) > 3):
            phrases.append(tuple(current))
        current = []
    return phrases


def overlap_0_to_1(a: str, b: str) -> float:
    """Return the mean of containment and Jaccard similarity of content words."""
    left, right = set(content_words(a)), set(content_words(b))
    if not left or not right:
        return 0.0
    shared_count = len(left & right)
    return 0.5 * shared_count / min(len(left), len(right)) + 0.5 * shared_count / len(left | right)


def rank_sentences(query: str, sentences: Sequence[str], limit: int) -> list[tuple[float, str]]:
    """Return (cosine, sentence) of the `limit` nearest sentences by TF-IDF.

    Sentences that share nothing with the query come last with 0; ties keep their order.
    """
    bags = [Counter(content_words(sentence)) for sentence in sentences]
    containing = Counter(word for bag in bags for word in bag)
    weight = {
        word: 1.0 + math.log((1 + len(bags)) / (1 + count)) for word, count in containing.items()
    }
    question = {
        word: count * weight[word]
        for word, count in Counter(content_words(query)).items()
        if word in weight
    }
    length = math.sqrt(sum(value * value for value in question.values()))
    scored_places: list[tuple[float, int]] = []
    for place, bag in enumerate(bags):
        dot = sum(count * weight[word] * question.get(word, 0.0) for word, count in bag.items())
        norm = length * math.sqrt(sum((count * weight[word]) ** 2 for word, count in bag.items()))
        scored_places.append((min(dot / norm, 1.0) if norm else 0.0, place))
    best = sorted(scored_places, key=lambda pair: (-pair[0], pair[1]))[: max(limit, 0)]
    return [(score, sentences[place]) for score, place in best]


def shorten_words(text: str, limit: int) -> tuple[str, int]:
    """Cut `text` after `limit` words.

    Return it and the number of words removed.
    """
    ends = [match.end() for match in _TOKEN.finditer(text)]
    if len(ends) <= limit:
        return text, 0
    return (text[: ends[limit - 1]] if limit > 0 else ""), len(ends) - max(limit, 0)


class Excerpt(NamedTuple):
    """A possibly shortened text."""

    text: str
    words_left_out: int


def nearest_sentences(query: str, text: str, limit: int | None) -> Excerpt:
    """Return the sentences nearest to `query`, at most `limit` words.

    If `limit` is None, return all of `text`. The sentences keep their order, and a text that fits
    stays unchanged. If no sentence fits, the nearest one is cut.
    """
    total = len(_TOKEN.findall(text))
    if limit is None or total <= limit:
        return Excerpt(text, 0)
    unique = list(dict.fromkeys(sentences(text)))
    chosen_sentences: set[str] = set()
    room = limit
    by_nearness = [sentence for _, sentence in rank_sentences(query, unique, len(unique))]
    for sentence in by_nearness:
        length = len(_TOKEN.findall(sentence))
        if length <= room:
            chosen_sentences.add(sentence)
            room -= length
    if not chosen_sentences:
        nearest_part, _ = shorten_words(by_nearness[0] if by_nearness else text, limit)
        return Excerpt(nearest_part, total - limit)
    excerpt = " ".join(sentence for sentence in unique if sentence in chosen_sentences)
    return Excerpt(excerpt, total - (limit - room))


def has_numbers(sentence: str) -> bool:
    """Return whether the sentence states a figure."""
    return _NUMBER.search(sentence) is not None


def outcome_cue(sentence: str) -> Literal["positive", "negative", "neutral"]:
    """Classify the outcome in a sentence by its wording.

    A negated success counts as negative, and so does a tie.
    """
    negative = len(_NEGATIVE.findall(sentence))
    positive = len(_POSITIVE.findall(_NEGATIVE.sub(" ", sentence)))
    if negative == positive == 0:
        return "neutral"
    return "positive" if positive > negative else "negative"
