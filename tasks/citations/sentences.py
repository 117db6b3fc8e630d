"""Sentences of a text, and the number of statements without a citation."""

from schemas.text.patterns import IGNORECASE, bounded
from tasks.citations.quoted import MARK_BEGIN

MINIMUM_WORDS_OF_A_STATEMENT = 5
_ABBREVIATION = bounded(
    r"(?:\b(?:et"
    r" al|e\.g|i\.e|cf|vs|fig|figs|eq|sec|tab|ref|refs|no|approx|resp|dr|prof)|\b[A-Z])\.$",
    IGNORECASE,
)
_TERMINATOR = bounded(r"[.!?][\"'”’)*_]{0,99}+(?=\s|\x01|$)")
_TRAILING_CITATIONS = bounded(
    r"(?:\s{0,9}\x01\d{1,9}\x02){1,200}[.,;]?(?=\s{0,99}+(?:$|(?<=\s)[^a-z\s]))"
)
_LIST_MARK = bounded(r"^\s*+(?:[-*+•]|\d{1,3}[.)])\s+")
_WORD = bounded(r"[^\W\d_]{2,}")


def sentences(line: str) -> list[str]:
    """Return the sentences of one line.

    A citation behind the full stop belongs to the sentence before it, unless the text continues in
    lower case (`[P3] shows …`).
    """
    result: list[str] = []
    start = position = 0
    for match in _TERMINATOR.finditer(line):
        if match.start() < position:
            continue
        position = match.end()
        if match.group().startswith(".") and _ABBREVIATION.search(
            line[max(start, match.start() - 12) : match.start() + 1]
        ):
            continue
        citations = _TRAILING_CITATIONS.match(line, position)
        position = citations.end() if citations else position
        result.append(line[start:position])
        start = position
    if line[start:].strip():
        result.append(line[start:])
    return result


def uncited_sentence_count(text: str) -> int:
    r"""Return how many sentences state something without a citation mark (`\x01<number>\x02`).

    A statement has at least `MINIMUM_WORDS_OF_A_STATEMENT` words, is no heading, no question, and
    does not end in a colon (a line that announces a list).
    """
    return sum(
        1
        for line in text.splitlines()
        if not line.lstrip().startswith("#")
        for sentence in sentences(_LIST_MARK.sub("", line))
        if states(sentence)
    )


def states(sentence: str) -> bool:
    """Return whether a sentence states something without a citation mark."""
    if MARK_BEGIN in sentence or sentence.rstrip(" \t*_\"'”").endswith(("?", ":")):
        return False
    return len(_WORD.findall(sentence)) >= MINIMUM_WORDS_OF_A_STATEMENT
