"""`extract_dimensions`: dimensions of the contributions that an idea claims.

Baseline: the idea's sentences, classified by the wording of their claims.
"""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.reasons import Reason
from schemas.text.patterns import Pattern, bounded
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.phrases import specific_stems
from tasks.text.signs import BACKGROUND, CLAIM, DEPENDENT, GAP, NOVELTY, any_of
from tasks.text.words import overlap_0_to_1, sections_of_markdown, sentences, shorten_words, words


class ShownDimension(Noun):
    dimension_id: str
    name: str
    statements: tuple[str, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class DimensionCues:
    name: str
    wording: Pattern
    headings: Pattern


_CUES = {
    "Methodology": (
        (
            r"methods? approach(?:es)?\b algorithms? architectures? models? modell?ing"
            r" train(?:s|ing|ed)? objectives? "
            r"loss(?:es)?\b procedures? techniques? modules? optimi[sz] fine-tun encod(?:e|ing)"
            r" decod(?:e|ing) estimat "
            r"learn(?:s|ing)?\b embed(?:s|ding) mechanisms? pipelines? strateg(?:y|ies) simulat"
            r" protocols? assays? "
            r"sequencing imaging regression classif(?:y|ier) infer(?:ence|ring)?\b"
        ),
        r"method approach technical model algorithm solution",
    ),
    "Theory": (
        (
            r"theor(?:y|ies|em|ems|etical|etically)\b prov(?:e|es|ing)\b proofs? lemmas? bounds?\b"
            r" deriv(?:e|es|ing|ation) "
            r"formali[sz] formulat mathematical guarantees? convergence closed-form axioms?"
            r" asymptotic regret equilibri "
            r"principled manifold"
        ),
        r"theor formal math",
    ),
    "Data": (
        (
            r"data-?sets? corpus corpora collect(?:s|ing|ed|ion)?\b annotat curat recordings?"
            r" measurements? surveys? "
            r"samples? specimens? cohorts? field-?work databases? crowd-?sourc labell?(?:ed|ing|s)"
            r" records? sites? archives? "
            r"repositor"
        ),
        r"data dataset corpus collection sampl",
    ),
    "Evaluation": (
        (
            r"evaluat benchmark metrics? baselines? compar(?:e|es|ed|ing|ison) ablation user.stud"
            r" cross-validat validat "
            r"assess human.rat test(?:s|ed|ing)?\b statistical accuracy significance"
            r" measur(?:e|es|ed|ing)\b"
        ),
        r"experiment evaluat validation metric ablation baseline benchmark",
    ),
    "Tool or system": (
        (
            r"systems?\b tools?\b toolkits? software platforms? librar(?:y|ies)\b open-source"
            r" interfaces? prototypes? deploy "
            r"devices? infrastructure implement(?:s|ing|ation)? web-?(?:site|app) package\b"
        ),
        r"system tool implementation software platform",
    ),
    "Conceptual framework": (
        (
            r"framework taxonom concept(?:s|ual|uali[sz]e)?\b defin(?:e|es|ing|ition|itions)\b"
            r" perspectives? paradigms? "
            r"refram(?:e|ing) unif(?:y|ied|ies|ying) typolog notion principles?\b criteria rethink"
        ),
        r"framework concept definition taxonomy",
    ),
    "Empirical findings": (
        (
            r"hypothes[ei] investigat examin understand(?:ing)?\b whether reveal(?:s|ing)?"
            r" effects?\b relationship correlat "
            r"role\b influenc determin(?:e|es|ing)\b mechanis(?:m|ms|tic) explain(?:s|ing)?"
            r" associat characteri[sz] "
            r"identif(?:y|ies|ying) variation uncover"
        ),
        r"hypothes question analys finding aim objective",
    ),
    "Application": (
        (
            r"appl(?:y|ies|ying|ication|ications)\b real-world clinical practical practitioners"
            r" domains?\b use.cases? "
            r"industr downstream patients? policy conservation management therapeutic diagnos"
            r" education deployment"
        ),
        r"application use impact case",
    ),
}
DIMENSIONS = tuple(
    DimensionCues(name, any_of(wording), any_of(headings))
    for name, (wording, headings) in _CUES.items()
)
"""Dimensions, in order of precedence if a sentence fits several equally."""


class DimensionsInput(Noun):
    idea: str = Field(min_length=1)
    maximum_dimensions: int = Field(ge=1)


class DimensionEntry(Reply):
    name: Text = Field(description="Two to five words.")
    statements: Annotated[list[Text], Field(min_length=1), SoundEntries] = Field(
        description="Self-contained; one to three are usual."
    )


class DimensionsReply(Reply):
    dimensions: Annotated[list[DimensionEntry], SoundEntries] = Field(
        description="None where the idea claims to contribute nothing."
    )


STATEMENTS_PER_DIMENSION = 2
STATEMENT_WORD_LIMIT = 60
"""Limit of a sentence; longer ones end in an ellipsis.

Nearly every real sentence is shorter.
"""
MINIMUM_WORDS = 6
REDUNDANT_OVERLAP = 0.55
ENOUGH_CLAIMS = 4
"""Number of claiming sentences that suffice.

With fewer, descriptive ones outside the background count too.
"""
MINIMUM_STRENGTH = 2.0
"""Strength that one sentence of a dimension needs.

It both claims something and has the dimension's wording.
"""
_FIGURE = bounded(r"\b\d")
_EMPHASIS = bounded(r"[*_`#]{1,3}")


@dataclass(frozen=True, slots=True)
class ClaimSentence:
    text: str
    weight: float
    strengths: tuple[float, ...]

    def strength(self, place: int) -> float:
        """Return the sentence's strength for the dimension at `place`.

        It is 0 without the dimension's wording.
        """
        return self.strengths[place] + self.weight if self.strengths[place] else 0.0


async def baseline_dimensions(
    inputs: DimensionsInput, tools: BaselineTools
) -> DimensionsReply | NoAnswer:
    """Assign claiming sentences to dimensions by cues, and keep the strongest dimensions.

    An idea without any cue gets one dimension of its central sentences.
    """
    del tools
    claims = _claims(inputs.idea)
    if not claims:
        return NoAnswer(
            Reason.NOTHING_TO_JUDGE,
            "the idea has no sentence of six words or more; write it out in sentences",
        )
    by_dimension = {
        place: _statements(_of_dimension(claims, place)) for place in range(len(DIMENSIONS))
    }
    strengths = {
        place: sum(claim.strength(place) for claim in dimension_claims)
        for place, dimension_claims in by_dimension.items()
        if dimension_claims
    }
    strongest_places = sorted(strengths, key=lambda place: (-strengths[place], place))[
        : inputs.maximum_dimensions
    ]
    if not strongest_places:
        central = sorted(claims, key=lambda claim: -claim.weight)
        return DimensionsReply(dimensions=[_answer("Central claim", _statements(central))])
    return DimensionsReply(
        dimensions=[
            _answer(DIMENSIONS[place].name, by_dimension[place]) for place in strongest_places
        ]
    )


def _answer(name: str, claims: list[ClaimSentence]) -> DimensionEntry:
    return DimensionEntry(name=name, statements=[claim.text for claim in claims])


def _claims(idea: str) -> list[ClaimSentence]:
    sections = sections_of_markdown(idea)
    subject = specific_stems(" ".join(heading for heading, _ in sections[:1])) or specific_stems(
        idea[:200]
    )
    by_text: dict[str, ClaimSentence] = {}
    background: set[str] = set()
    for heading, body in sections:
        for sentence in sentences(body):
            text = _plain(sentence)
            if len(words(text)) >= MINIMUM_WORDS and specific_stems(text):
                by_text.setdefault(text, _weigh(text, heading, subject))
                if BACKGROUND.search(heading) or GAP.search(text):
                    background.add(text)
    explicit_claims = [claim for text, claim in by_text.items() if CLAIM.search(text)]
    if len(explicit_claims) >= ENOUGH_CLAIMS:
        return explicit_claims
    return [
        claim for text, claim in by_text.items() if CLAIM.search(text) or text not in background
    ] or list(by_text.values())


def _plain(sentence: str) -> str:
    text, left_out = shorten_words(_EMPHASIS.sub("", sentence).strip(), STATEMENT_WORD_LIMIT)
    return f"{text} …" if left_out else text


def _weigh(text: str, heading: str, subject: frozenset[str]) -> ClaimSentence:
    stems = specific_stems(text)
    weight = (
        1.0 * bool(CLAIM.search(text))
        + 1.0 * min(len(NOVELTY.findall(text)), 2)
        + 2.0 * len(stems & subject) / (len(subject) or 1)
        + 0.05 * min(len(stems), 16)
        - 0.8 * bool(BACKGROUND.search(heading))
        - (0.8 if CLAIM.search(text) else 2.5) * bool(GAP.search(text))
        - 1.0 * bool(DEPENDENT.match(text))
        - 3.0 * text.endswith(":")
        - 0.3 * min(len(_FIGURE.findall(text)), 5)
    )
    return ClaimSentence(text, weight, tuple(_strength(text, heading, cues) for cues in DIMENSIONS))


def _strength(text: str, heading: str, cues: DimensionCues) -> float:
    distinct = {match.lower() for match in cues.wording.findall(text)}
    return (
        0.0
        if not distinct
        else min(len(distinct), 3) * 0.7 + 0.5 * bool(cues.headings.search(heading))
    )


def _of_dimension(claims: list[ClaimSentence], place: int) -> list[ClaimSentence]:
    dimension_claims = [
        claim
        for claim in claims
        if claim.strengths[place] and claim.strengths.index(max(claim.strengths)) == place
    ]
    strong_claims = [
        claim for claim in dimension_claims if claim.strength(place) >= MINIMUM_STRENGTH
    ]
    return sorted(strong_claims, key=lambda claim: -claim.strength(place))


def _statements(claims: list[ClaimSentence]) -> list[ClaimSentence]:
    chosen_claims: list[ClaimSentence] = []
    for claim in claims:
        if len(chosen_claims) < STATEMENTS_PER_DIMENSION and all(
            overlap_0_to_1(claim.text, other.text) < REDUNDANT_OVERLAP for other in chosen_claims
        ):
            chosen_claims.append(claim)
    return chosen_claims


EXTRACT_DIMENSIONS = Step(
    name="extract_dimensions",
    version=3,
    package="tasks.contribution",
    input_model=DimensionsInput,
    output_model=DimensionsReply,
    baseline=baseline_dimensions,
)
