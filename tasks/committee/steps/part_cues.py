"""Which of the six parts a heading names, and which one a sentence serves by its wording."""

from schemas.committee import IdeaPart
from schemas.patterns import IGNORECASE, Pattern, bounded

_HEADINGS: tuple[tuple[IdeaPart, Pattern], ...] = tuple(
    (part, bounded(rf"\b(?:{words})\b", IGNORECASE))
    for part, words in (
        (IdeaPart.TLDR, r"tl;?dr|summary|abstract|overview|in brief|idea in one sentence"),
        (
            IdeaPart.RESEARCH_QUESTIONS,
            r"research questions?|questions?|hypothes[ei]s|objectives?|aims?|goals?",
        ),
        (
            IdeaPart.EXPECTED_RESULTS,
            r"expected (?:results?|outcomes?|findings?|impact)|outcomes?|anticipated|predictions?|success criteria",
        ),
        (
            IdeaPart.EXPERIMENTAL_SETTINGS,
            r"experiments?|experimental|evaluation|validation|data ?sets?|data|materials|set-?up|test(?:ing| plan)?|benchmarks?"
            r"|metrics?|baselines?|analysis plan|study design",
        ),
        (
            IdeaPart.METHODS,
            r"methods?|methodology|approach|proposed|algorithm|technique|model|architecture|design|plan|procedure|implementation",
        ),
        (
            IdeaPart.MOTIVATIONS,
            r"motivations?|problem|background|introduction|context|significance|rationale|challenge|need|gap|related work",
        ),
    )
)
_QUESTION = bounded(
    r"\?\s{0,9}$|\b(?:we (?:ask|hypothesi[sz]e|want to (?:know|find out)|investigate whether|test whether)|whether|hypothes[ei]s"
    r"|research question|it is (?:unclear|unknown|open)|remains (?:unclear|unknown|open))\b",
    IGNORECASE,
)
_EXPECTATION = bounded(
    r"\b(?:expect(?:s|ed)?|anticipat\w++|predict that|should (?:improve|reduce|increase|outperform|yield|show|reach|give|beat|raise|lower)"
    r"|will (?:improve|reduce|increase|outperform|show|demonstrate|enable|lead to|result in)|refuted if|success (?:means|if|is)|"
    r"consider the idea (?:refuted|successful)|would (?:show|confirm|refute|falsify|support))\b",
    IGNORECASE,
)
_SETTING = bounded(
    r"\b(?:evaluat\w++|benchmark\w*+|data ?sets?|baselines?|metrics?|ablat\w++|compare(?:d)? (?:with|to|against)|held[- ]out"
    r"|cross-validat\w++|participants?|cohort|patients|samples? of|test set|measure(?:d|s|ments?)?|accuracy"
    r"|statistical(?:ly)?|control(?:s| group| condition))\b",
    IGNORECASE,
)
_METHOD = bounded(
    r"\b(?:we|i|our|this (?:project|study|work|idea|proposal))\b[^.;]{0,60}\b(?:propos|develop|design|introduc|train|build|us(?:e|ing)\b"
    r"|apply|combin|construct|implement|formulat|deriv|adapt|extend|model|learn|fine-tun|synthesi[sz]|prepar|deposit|split|collect|simulat|calibrat|integrat|replac)\w*+"
    r"|\b(?:first|second|third|next|then|finally),? (?:we|the|each|a)\b"
    r"|\b(?:algorithm|architecture|framework|pipeline|procedure|protocol|loss|objective|module|encoder|decoder|optimi[sz]er)\b",
    IGNORECASE,
)
_MOTIVATION = bounded(
    r"\b(?:however|although|despite|existing|current(?:ly)?|previous|prior|traditional|conventional|challeng\w++|limit(?:ed|ation|ations|s)|lack\w*+"
    r"|problem|difficult\w*+|expensive|costly|fail(?:s|ed|ure)?|suffer\w*+|crucial|important|essential|need(?:s|ed)?|bottleneck|matters?|unreliable"
    r"|struggl\w++|little is known|poorly understood|remains?)\b",
    IGNORECASE,
)


def part_of_heading(heading: str) -> IdeaPart | None:
    """The part a heading names; of several the one that comes first in it. None when it names none."""
    found = [
        (match.start(), order, part)
        for order, (part, pattern) in enumerate(_HEADINGS)
        if (match := pattern.search(heading))
    ]
    return min(found)[2] if found else None


def part_of_sentence(sentence: str, under: IdeaPart | None) -> IdeaPart | None:
    """The part a sentence serves.

    Args:
        under: the part of the heading it stands under; only questions and expectations leave it. None: the wording alone
            decides, and a sentence that words nothing of the kind belongs to no part.
    """
    if _EXPECTATION.search(sentence) and under is not IdeaPart.MOTIVATIONS:
        return IdeaPart.EXPECTED_RESULTS
    if _QUESTION.search(sentence) and under in (None, IdeaPart.MOTIVATIONS, IdeaPart.TLDR):
        return IdeaPart.RESEARCH_QUESTIONS
    if under is not None:
        return under
    for part, pattern in (
        (IdeaPart.METHODS, _METHOD),
        (IdeaPart.EXPERIMENTAL_SETTINGS, _SETTING),
        (IdeaPart.MOTIVATIONS, _MOTIVATION),
    ):
        if pattern.search(sentence):
            return part
    return None
