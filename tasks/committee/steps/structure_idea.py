"""`structure_idea`: the six parts of an idea, each a list of atomic claims.

Baseline: sentences assigned to the parts by their headings and wording.
"""

from typing import Annotated

from pydantic import BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judgement.committee import IdeaPart
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, Pattern, bounded
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.words import rank_sentences, sections_of_markdown, sentences, words

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
            (
                r"expected"
                r" (?:results?|outcomes?|findings?|impact)|outcomes?|anticipated|predictions?"
                r"|success"
                r" criteria"
            ),
        ),
        (
            IdeaPart.EXPERIMENTAL_SETTINGS,
            r"experiments?|experimental|evaluation|validation|data"
            r" ?sets?|data|materials|set-?up|test(?:ing| plan)?|benchmarks?"
            r"|metrics?|baselines?|analysis plan|study design",
        ),
        (
            IdeaPart.METHODS,
            (
                r"methods?|methodology|approach|proposed|algorithm|technique|model|architecture"
                r"|design|plan|procedure|implementation"
            ),
        ),
        (
            IdeaPart.MOTIVATIONS,
            (
                r"motivations?|problem|background|introduction|context|significance|rationale"
                r"|challenge|need|gap|related"
                r" work"
            ),
        ),
    )
)
_QUESTION = bounded(
    r"\?\s{0,9}$|\b(?:we (?:ask|hypothesi[sz]e|want to (?:know|find out)|investigate whether|test"
    r" whether)|whether|hypothes[ei]s"
    r"|research question|it is (?:unclear|unknown|open)|remains (?:unclear|unknown|open))\b",
    IGNORECASE,
)
_EXPECTATION = bounded(
    r"\b(?:expect(?:s|ed)?|anticipat\w++|predict that|should"
    r" (?:improve|reduce|increase|outperform|yield|show|reach|give|beat|raise|lower)"
    r"|will (?:improve|reduce|increase|outperform|show|demonstrate|enable|lead to|result"
    r" in)|refuted if|success (?:means|if|is)|"
    r"consider the idea (?:refuted|successful)|would (?:show|confirm|refute|falsify|support))\b",
    IGNORECASE,
)
_SETTING = bounded(
    r"\b(?:evaluat\w++|benchmark\w*+|data ?sets?|baselines?|metrics?|ablat\w++|compare(?:d)?"
    r" (?:with|to|against)|held[- ]out"
    r"|cross-validat\w++|participants?|cohort|patients|samples? of|test"
    r" set|measure(?:d|s|ments?)?|accuracy"
    r"|statistical(?:ly)?|control(?:s| group| condition))\b",
    IGNORECASE,
)
_METHOD = bounded(
    r"\b(?:we|i|our|this"
    r" (?:project|study|work|idea|proposal))\b[^.;]{0,60}\b(?:propos|develop|design|introduc"
    r"|train|build|us(?:e|ing)\b"
    r"|apply|combin|construct|implement|formulat|deriv|adapt|extend|model|learn|fine-tun"
    r"|synthesi[sz]|prepar|deposit|split|collect|simulat|calibrat|integrat|replac)\w*+"
    r"|\b(?:first|second|third|next|then|finally),? (?:we|the|each|a)\b"
    r"|\b(?:algorithm|architecture|framework|pipeline|procedure|protocol|loss|objective|module"
    r"|encoder|decoder|optimi[sz]er)\b",
    IGNORECASE,
)
_MOTIVATION = bounded(
    r"\b(?:however|although|despite|existing|current(?:ly)?|previous|prior|traditional"
    r"|conventional|challeng\w++|limit(?:ed|ation|ations|s)|lack\w*+"
    r"|problem|difficult\w*+|expensive|costly|fail(?:s|ed|ure)?|suffer\w*+|crucial|important"
    r"|essential|need(?:s|ed)?|bottleneck|matters?|unreliable"
    r"|struggl\w++|little is known|poorly understood|remains?)\b",
    IGNORECASE,
)


def part_of_heading(heading: str) -> IdeaPart | None:
    """Return the part that a heading names, the first of several; else None."""
    matches = [
        (match.start(), order, part)
        for order, (part, pattern) in enumerate(_HEADINGS)
        if (match := pattern.search(heading))
    ]
    return min(matches)[2] if matches else None


def part_of_sentence(sentence: str, under: IdeaPart | None) -> IdeaPart | None:
    """Return the part of a sentence.

    Args:
        under: part of its heading, which only questions and expectations leave. None: the wording
            alone decides, possibly for no part.
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


class StructureInput(Noun):
    idea: str = Field(min_length=1)


def _as_list(value: object) -> object:
    """Read null as no claims and a plain text as one claim, as models write them."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


Claims = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
_EIGHT = Field(description="At most eight claims, the weightiest first.")


class StructureReply(Reply):
    """Reply to `structure_idea`: each part a list of atomic claims, empty where the idea has
    none.
    """

    tldr: Claims = Field(description="One or two claims.")
    motivations: Claims = _EIGHT
    research_questions: Claims = _EIGHT
    methods: Claims = _EIGHT
    experimental_settings: Claims = _EIGHT
    expected_results: Claims = _EIGHT

    def claims(self) -> dict[IdeaPart, tuple[str, ...]]:
        """Return statements by part, in the order of the parts.

        Blank and repeated statements are left out.
        """
        texts_by_part = {
            part: (" ".join(text.split()) for text in getattr(self, part.value))
            for part in IdeaPart
        }
        return {
            part: tuple(dict.fromkeys(text for text in texts if text))
            for part, texts in texts_by_part.items()
        }


CLAIMS_PER_PART = 8
_SHORTEST_CLAIM_WORDS = 4


async def baseline_structure(
    inputs: StructureInput, tools: BaselineTools
) -> StructureReply | NoAnswer:
    """Assign sentences of the idea to parts, verbatim.

    A part may stay empty.
    """
    del tools
    sorted_claims = _sort_claims(inputs.idea)
    if not any(sorted_claims.values()):
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "the text holds no sentence that claims anything")
    return StructureReply(
        **{
            part.value: tuple(_weightiest(inputs.idea, claims))
            for part, claims in sorted_claims.items()
        }
    )


def _sort_claims(idea: str) -> dict[IdeaPart, list[str]]:
    by_part: dict[IdeaPart, list[str]] = {part: [] for part in IdeaPart}
    unsorted_claims: list[str] = []
    sections = sections_of_markdown(idea)
    for heading, body in sections:
        heading_part = part_of_heading(heading)
        for claim in _claims(body):
            part = part_of_sentence(claim, heading_part)
            (by_part[part] if part is not None else unsorted_claims).append(claim)
    if not by_part[IdeaPart.TLDR]:
        by_part[IdeaPart.TLDR] = _gist(
            sections,
            [claim for claims in by_part.values() for claim in claims] or unsorted_claims,
            idea,
        )
    return by_part


def _claims(body: str) -> list[str]:
    """Return sentences, split at semicolons if all pieces are long enough."""
    claims: list[str] = []
    for sentence in sentences(body):
        pieces = [piece.strip() for piece in sentence.split("; ")]
        splits = all(len(words(piece)) >= 2 * _SHORTEST_CLAIM_WORDS for piece in pieces)
        claims.extend(
            piece
            for piece in (pieces if splits else [sentence])
            if len(words(piece)) >= _SHORTEST_CLAIM_WORDS
        )
    return claims


def _gist(sections: list[tuple[str, str]], claims: list[str], idea: str) -> list[str]:
    """Return the title if it is informative, else the most central sentence."""
    title = next((heading for heading, _ in sections if heading), "")
    if len(words(title)) >= _SHORTEST_CLAIM_WORDS and part_of_heading(title) is None:
        return [title]
    return [claim for _, claim in rank_sentences(idea, claims, 1)]


def _weightiest(idea: str, claims: list[str]) -> list[str]:
    """Return the `CLAIMS_PER_PART` most central claims, in the order of the text."""
    unique = list(dict.fromkeys(claims))
    central = {claim for _, claim in rank_sentences(idea, unique, CLAIMS_PER_PART)}
    return [claim for claim in unique if claim in central]


STRUCTURE_IDEA = Step(
    name="structure_idea",
    version=2,
    package="tasks.committee",
    input_model=StructureInput,
    output_model=StructureReply,
    baseline=baseline_structure,
)
