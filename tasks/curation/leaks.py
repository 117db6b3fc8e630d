"""Leaks: sentences of an idea that reveal results of its paper, by figures or by claims."""

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
_FINDING = bounded(
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
_INTENTION = bounded(
    r"\b(?:will|would|whether|hypothesi[sz]\w{0,6}|expect(?:s|ed)?|aim(?:s|ed)?|goal|could|may"
    r"|might"
    r"|should|if|plan(?:s|ned)?|intend(?:s|ed)?|propose to|to test|to see|to assess|predict"
    r"|anticipate)\b",
    IGNORECASE,
)
"""Words of a plan or an expectation."""
_OTHERS = bounded(
    r"\b(?:existing|previous|prior|current|earlier|recent|other|traditional|conventional)"
    r" (?:\w{1,20} ){0,2}(?:methods?|approaches|models?|works?|systems?|studies|techniques?)\b"
    r"[^.;]{0,40}\b(?:outperform|surpass|beat|exceed|achiev|attain|reach|improv)",
    IGNORECASE,
)
"""Other methods as the subject of the comparison, not as the baseline."""
_CITATION = bounded(
    r"(?:\bet al\.?|[&,] [A-Z]\w{1,30}|\band [A-Z]\w{1,30}),? \((?:19|20)\d\d[a-z]?\)"
)
"""A citation: without "we" or "our", the sentence is about the work of others."""
_FIRST_PERSON = bounded(r"\b(?:we|our|ours)\b", IGNORECASE)
_VERSION = bounded(r"\b[A-Z][\w-]{0,30}[ -]?v?[1-9]\.\d\b(?!\s?%)")
"""A program or model with a version, whose digits are no figure: `Gemini 1.5`, `GPT-3.5`."""
_YEARS = range(1900, 2101)
_FEWEST_DIGITS = 3
_LONGEST_EXCERPT = 160


@dataclass(frozen=True, slots=True)
class Leak:
    """A sentence that reveals an outcome, and the evidence for it."""

    sentence: str
    detail: str


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Outcomes of a paper that its figures reveal.

    Attributes:
        figures: distinctive numbers of the results that are not in the plan, each with a sentence.
    """

    figures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, outcomes: Iterable[str], plan: str) -> "Outcomes":
        """Collect figures from `outcomes`, sentences on results, that are not in the plan's text."""
        plan_numbers = set(_distinctive_numbers(plan))
        figures: dict[str, str] = {}
        for sentence in outcomes:
            for number in _distinctive_numbers(sentence):
                if number not in plan_numbers:
                    figures.setdefault(number, sentence)
        return cls(figures)

    def leak(self, sentence: str) -> Leak | None:
        """Return the leak of a sentence, or None."""
        number = next(
            (each for each in _distinctive_numbers(sentence) if each in self.figures), None
        )
        if number is not None:
            source = self.figures[number]
            return Leak(sentence, f"{number} is a figure of the results: {_shorten(source)}")
        if claims_outcome(sentence):
            return Leak(sentence, "it claims an outcome")
        return None

    def without_leaks(self, text: str) -> tuple[str, list[Leak]]:
        """Return the text without leaking sentences, and the leaks."""
        leaks = [leak for each in sentences(text) if (leak := self.leak(each)) is not None]
        if not leaks:
            return text, []
        leaked_sentences = {leak.sentence for leak in leaks}
        lines = (
            " ".join(each for each in sentences(paragraph) if each not in leaked_sentences)
            for paragraph in text.split("\n\n")
        )
        return "\n\n".join(line for line in lines if line), leaks


def claims_outcome(sentence: str) -> bool:
    """Return whether the sentence reports an outcome of the paper's own work."""
    if _CITATION.search(sentence) is not None and _FIRST_PERSON.search(sentence) is None:
        return False
    if _FINDING.search(sentence) is not None:
        return True
    if _COMPARATIVE.search(sentence) is None or _INTENTION.search(sentence) is not None:
        return False
    return _OTHERS.search(sentence) is None and not read_sentence(sentence).of_others


def _distinctive_numbers(text: str) -> Iterator[str]:
    """Yield numbers unlikely to match by chance: fractions, percentages, three digits or more.

    Years are skipped.
    """
    for match in _NUMBER.finditer(_VERSION.sub(" ", text)):
        number = match.group().replace(",", "").replace(" ", "")
        bare_number = number.removesuffix("%")
        if "." in bare_number:
            yield bare_number.rstrip("0").rstrip(".") if bare_number.strip("0.") else bare_number
        elif number.endswith("%"):
            yield number
        elif len(bare_number) >= _FEWEST_DIGITS and int(bare_number) not in _YEARS:
            yield bare_number


def _shorten(sentence: str) -> str:
    line = " ".join(sentence.split())
    return line if len(line) <= _LONGEST_EXCERPT else f"{line[: _LONGEST_EXCERPT - 1]}…"
