"""Whether a sentence of an idea tells what came of the paper: a figure of its results, or a claim
that something turned out better.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from schemas.text.patterns import IGNORECASE, bounded
from tasks.text.signs import read_sentence
from tasks.text.words import sentences

_NUMBER = bounded(r"(?<![\w.])\d{1,12}(?:,\d{3}){0,4}(?:\.\d{1,9})?(?:\s?%)?")
_COMPARATIVE = bounded(
    r"\b(?:outperform|surpass|beat)(?:s|ed|ing)?\b|\bexceed(?:s|ed)\b"
    r"|\b(?:achiev|attain|reach|yield)(?:es|ed|s)\b[^.;]{0,60}\b(?:accuracy|performance|results?"
    r"|scores?|gains?|improvements?|state[- ]of[- ]the[- ]art)\b"
    r"|\b(?:significantly|substantially|consistently|considerably) (?:better|higher|lower|faster"
    r"|improves?d?|reduces?d?|outperforms?)\b"
    r"|\bimprov(?:es|ed)\b[^.;]{0,40}\b(?:by|over|upon)\b"
    r"|\bstate[- ]of[- ]the[- ]art (?:results?|performance|accuracy)\b"
    r"|\b(?:perform(?:s|ed)?|works?|worked) (?:\w{1,20} )?(?:best|better|worse|worst)\b",
    IGNORECASE,
)
_FOUND = bounded(
    r"\bwe (?:show|showed|find|found|demonstrate|demonstrated|observe|observed|confirmed"
    r"|conclude|concluded)\b"
    r"|\b(?:fig(?:ure|s?\.)?|tab(?:le|s?\.)?) ?\d{1,3}\b[^.;:]{0,40}\b(?:demonstrates?|reveals?"
    r"|confirms?|indicates?|highlights?|suggests?|shows? that)\b"
    r"|\bit (?:is|was) (?:found|observed) that\b"
    r"|\b(?:similar|same|these) (?:results?|findings?|trends?|patterns?)\b[^.;]{0,30}"
    r"\b(?:observed|found|obtained)\b"
    r"|^(?:surprisingly|interestingly|remarkably|strikingly)\b"
    r"|\b(?:our|the|these|experimental|empirical|extensive) (?:\w{1,20} ){0,2}"
    r"(?:results?|experiments?|findings?|evaluations?|analys[ie]s|observations?)"
    r" (?:clearly |further |also )?(?:shows?|showed|demonstrates?|demonstrated|indicates?"
    r"|indicated|reveals?|revealed|suggests?"
    r"|suggested|confirm|confirmed|highlights?|provides? (?:\w{1,20} ){0,2}evidence)\b",
    IGNORECASE,
)
_AHEAD = bounded(
    r"\b(?:will|would|whether|hypothesi[sz]\w{0,6}|expect(?:s|ed)?|aim(?:s|ed)?|goal|could|may"
    r"|might"
    r"|should|if|plan(?:s|ned)?|intend(?:s|ed)?|propose to|to test|to see|to assess|predict"
    r"|anticipate)\b",
    IGNORECASE,
)
"""Words of somebody who does not know yet."""
_OTHERS = bounded(
    r"\b(?:existing|previous|prior|current|earlier|recent|other|traditional|conventional)"
    r" (?:\w{1,20} ){0,2}(?:methods?|approaches|models?|works?|systems?|studies|techniques?)\b"
    r"[^.;]{0,40}\b(?:outperform|surpass|beat|exceed|achiev|attain|reach|improv)",
    IGNORECASE,
)
"""Others of whom it is said, not those whom it is said to be better than."""
_NAMED = bounded(r"(?:\bet al\.?|[&,] [A-Z]\w{1,30}|\band [A-Z]\w{1,30}),? \((?:19|20)\d\d[a-z]?\)")
"""Authors, of whose work a sentence tells that does not speak of its own."""
_OWN = bounded(r"\b(?:we|our|ours)\b", IGNORECASE)
_VERSION = bounded(r"\b[A-Z][\w-]{0,30}[ -]?v?[1-9]\.\d\b(?!\s?%)")
"""A program or model by name and version, whose digits are no figure: `Gemini 1.5`, `GPT-3.5`."""
_YEARS = range(1900, 2101)
_FEWEST_DIGITS = 3
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Leak:
    """A sentence that tells an outcome, and by what it shows."""

    sentence: str
    detail: str


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Outcomes of a paper, as far as its figures tell.

    Attributes:
        figures: telling numbers of its results that its plan does not have, each with a sentence.
    """

    figures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, outcomes: Iterable[str], plan: str) -> "Outcomes":
        """Of the sentences that tell outcomes, beside the text of the paper's plan."""
        known = set(_telling(plan))
        found: dict[str, str] = {}
        for sentence in outcomes:
            for number in _telling(sentence):
                if number not in known:
                    found.setdefault(number, sentence)
        return cls(found)

    def leak(self, sentence: str) -> Leak | None:
        """Return how the sentence tells what came of it; None: it does not."""
        number = next((each for each in _telling(sentence) if each in self.figures), None)
        if number is not None:
            source = self.figures[number]
            return Leak(sentence, f"{number} is a figure of the results: {_shortly(source)}")
        if claims_outcome(sentence):
            return Leak(sentence, "it claims an outcome")
        return None

    def without_leaks(self, text: str) -> tuple[str, list[Leak]]:
        """The text without the sentences that leak, and those; a text without any as it is."""
        leaks = [leak for each in sentences(text) if (leak := self.leak(each)) is not None]
        if not leaks:
            return text, []
        gone = {leak.sentence for leak in leaks}
        lines = (_kept(line, gone) for line in text.split("\n\n"))
        return "\n\n".join(line for line in lines if line), leaks


def claims_outcome(sentence: str) -> bool:
    """Return whether the sentence says that something turned out so, of the paper's own work."""
    if _NAMED.search(sentence) is not None and _OWN.search(sentence) is None:
        return False
    if _FOUND.search(sentence) is not None:
        return True
    if _COMPARATIVE.search(sentence) is None or _AHEAD.search(sentence) is not None:
        return False
    return _OTHERS.search(sentence) is None and not read_sentence(sentence).of_others


def _kept(paragraph: str, gone: set[str]) -> str:
    return " ".join(each for each in sentences(paragraph) if each not in gone)


def _telling(text: str) -> Iterator[str]:
    """Numbers that hardly stand in two places by chance: with a fraction, in per cent, or of three
    digits and more; years are none.
    """
    for match in _NUMBER.finditer(_VERSION.sub(" ", text)):
        number = match.group().replace(",", "").replace(" ", "")
        bare = number.removesuffix("%")
        if "." in bare:
            yield bare.rstrip("0").rstrip(".") if bare.strip("0.") else bare
        elif number.endswith("%"):
            yield number
        elif len(bare) >= _FEWEST_DIGITS and int(bare) not in _YEARS:
            yield bare


def _shortly(sentence: str) -> str:
    line = " ".join(sentence.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
