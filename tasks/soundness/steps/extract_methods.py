"""`extract_methods`: the methods of an idea, and the elements that the plan rests on.

Baseline: blocks (paragraphs and lists of sections) that state actions, ranked by centrality, and
sentences that explicitly state a hypothesis, an assumption or an evaluation choice.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.soundness import ElementKind, ElementStanding
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, bounded
from tasks.judging.reply_fields import Prose, word_of
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.soundness.steps.wording import CONTEXT_MARK, opening, plain, without_opening
from tasks.text.words import (
    content_words,
    key_phrases,
    overlap_0_to_1,
    rank_sentences,
    sections_of_markdown,
    sentences,
)

_BACKGROUND = bounded(
    r"problem|background|motivat|introduc|related|prior"
    r" work|literature|hypothes|goal|aims?\b|objective|question|abstract|reference|budget"
    r"|timeline|expected|impact|significance|contribution|novelty|limitation|gap|title|context"
    r"|rationale|conclusion|summary",
    IGNORECASE,
)
_METHOD = bounded(
    r"method|approach|design|procedure|protocol|architecture|algorithm|implementation|framework"
    r"|model|technique|system|training|pipeline|setup"
    r"|analys|strategy|development|step|stage|phase",
    IGNORECASE,
)
_EXPERIMENT = bounded(
    r"experiment|evaluat|validat|benchmark|ablation|baseline|metric|stud(?:y|ies)|participant"
    r"|dataset|data\b|measure|test|stimul",
    IGNORECASE,
)
_BULLET = bounded(r"^[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_INLINE_LABEL = bounded(
    r"^[ \t]*+(?:(?:[-*+•]|\d{1,3}[.)])[ \t]++)?\*\*(.{2,90}?)(?::\*\*|\*\*:|\*\*)[ \t]*"
)
_PLAN = bounded(
    r"^(?:research (?:plan|idea|proposal)|proposal|idea|plan)\b\s*+[:\-–—]*+\s*+", IGNORECASE
)
_WORDS = bounded(r"\w+")
_LONG_BULLET_WORDS = 18
_MAXIMUM_BLOCK_WORDS = 200


class Part(Enum):
    BACKGROUND = "background"
    UNKNOWN = "unknown"
    METHOD = "method"
    EXPERIMENT = "experiment"


@dataclass(frozen=True, slots=True)
class Block:
    """A contiguous part of the idea: a paragraph, a long list item, or several short ones."""

    part: Part
    label: str
    text: str


def blocks_of(idea: str) -> list[Block]:
    """Split `idea` into blocks, in order.

    A subheading that names no part belongs to the part before it.
    """
    blocks: list[Block] = []
    part = Part.UNKNOWN
    for heading, body in sections_of_markdown(idea):
        part = _part_of(heading, part)
        for paragraph in _paragraphs(body):
            label = _INLINE_LABEL.match(paragraph)
            inline_label = label.group(1).strip(" :") if label else ""
            block = Block(part, inline_label or _specific_label(heading), paragraph)
            previous_block = blocks[-1] if blocks else None
            # Neighbors under one specific label form one method of limited length.
            if (
                previous_block is not None
                and block.label
                and (previous_block.part, previous_block.label) == (block.part, block.label)
                and len(previous_block.text.split()) + len(paragraph.split())
                <= _MAXIMUM_BLOCK_WORDS
            ):
                blocks[-1] = Block(part, block.label, f"{previous_block.text}\n\n{paragraph}")
            else:
                blocks.append(block)
    return blocks


def topic_of(idea: str) -> str:
    """Return the topic in the first heading; empty if there is none.

    Words such as `Research Plan:` are removed.
    """
    for heading, _ in sections_of_markdown(idea):
        if heading and (topic := _PLAN.sub("", heading).strip()):
            return topic if _specific_label(topic) and len(topic.split()) > 2 else ""
    return ""


def _part_of(heading: str, previous_part: Part) -> Part:
    if not heading:
        return previous_part
    if _PLAN.match(heading):
        return Part.UNKNOWN
    for part, pattern in (
        (Part.EXPERIMENT, _EXPERIMENT),
        (Part.BACKGROUND, _BACKGROUND),
        (Part.METHOD, _METHOD),
    ):
        if pattern.search(heading):
            return part
    return previous_part


def _specific_label(heading: str) -> str:
    """Return the heading if it names more than a part of a plan, else an empty text."""
    is_specific = any(
        len(word) > 3
        and word.lower() not in ("proposed", "plan", "research")
        and not (_METHOD.search(word) or _EXPERIMENT.search(word) or _BACKGROUND.search(word))
        for word in _WORDS.findall(heading)
    )
    return heading.strip(" :") if is_specific else ""


def _paragraphs(body: str) -> list[str]:
    """Split a section into paragraphs.

    A long or labeled list item is a paragraph; short items stay with the line before the list.
    """
    paragraphs: list[list[str]] = [[]]
    for line in body.splitlines():
        has_label = _INLINE_LABEL.match(line) is not None
        bullet = _BULLET.match(line) is not None
        follows_colon = bool(paragraphs[-1]) and paragraphs[-1][-1].rstrip(" *").endswith(":")
        starts_paragraph = has_label or (bullet and len(line.split()) >= _LONG_BULLET_WORDS)
        if not line.strip():
            if paragraphs[-1] and not follows_colon:
                paragraphs.append([])
            continue
        if paragraphs[-1] and starts_paragraph and not (follows_colon and not has_label):
            paragraphs.append([])
        paragraphs[-1].append(line)
    return ["\n".join(lines).strip() for lines in paragraphs if lines]


class MethodsInput(Noun):
    idea: str
    maximum_methods: int = Field(ge=1)


class ProposedMethod(Reply):
    """One method of the idea."""

    text: Prose = Field(
        description="Two to four sentences: what is done, how, on what and what for."
    )
    quote: Prose = Field(default="", description="The idea's own words, copied.")


class ProposedElement(Reply):
    """One assumption, hypothesis or evaluation choice."""

    kind: Annotated[ElementKind | None, word_of(ElementKind)]
    standing: Annotated[ElementStanding | None, word_of(ElementStanding)]
    text: Prose = Field(description="One sentence of at most 20 words.")
    quote: Prose = Field(
        default="", description="At most 20 of the idea's own words; empty when unstated."
    )


class MethodsReply(Reply):
    """Reply to `extract_methods`: most important first."""

    methods: tuple[ProposedMethod, ...]
    elements: tuple[ProposedElement, ...] = Field(default=(), description="At most ten.")


_ACTION = bounded(
    r"\b(?:we|i)\s{1,9}(?:(?:then|also|next|first|further|finally|instead|additionally"
    r"|\w{1,40}ly)\s{1,9})?"
    r"(?!hypothes|expect|believ|hope|assum|note\b|previous|have\b|had\b|know|argu|anticipat|are\b"
    r"|recogni|acknowledg|identif)[a-z]+"
    r"|\b(?:will|shall)\s{1,9}(?!not\b)[a-z]+"
    r"|\b(?:our|the proposed) (?:\w{1,40}[ -]){0,3}"
    r"(?:approach|method|methodology|framework|model|system|pipeline|algorithm|design|study"
    r"|experiment|analysis)s?\b"
    r"|\b(?:baselines|metrics|ablations|controls|outcomes|participants|measures|comparisons"
    r"|analyses)\s{1,9}"
    r"(?:are|include|remove|vary|test|compare|cover|complete|receive)\b",
    IGNORECASE,
)
_IMPERATIVE = bounded(
    r"^(?:use|apply|compare|perform|conduct|train|test|measure|collect|recruit|build|develop"
    r"|design|create|generate|analy[sz]e|evaluate|implement"
    r"|employ|extract|compute|calculate|assess|examine|integrate|correlate|define|construct|run"
    r"|fit|estimate|identify|quantify|synthesi[sz]e"
    r"|crosslink|combine|incorporate|simulate|record|randomi[sz]e|validate|deploy|map|fine-tune"
    r"|prompt|annotate|survey|interview|model)\b",
    IGNORECASE,
)
_HOPE = bounded(
    r"\b(?:will|would|should|can) (?:also"
    r" )?(?:enable|allow|provide|help|contribute|offer|ensure|lead to|include appropriate)\b",
    IGNORECASE,
)
_PART_WEIGHT = {Part.METHOD: 1.0, Part.EXPERIMENT: 0.75, Part.UNKNOWN: 0.7, Part.BACKGROUND: 0.0}
_NEXT = bounded(
    r"(?:first|second|third|fourth|fifth|next|then|finally|lastly|after|in parallel|to \w++|we"
    r" then)\b",
    IGNORECASE,
)
_LONG_PARAGRAPH_WORDS = 70
_STEPS_OF_A_SEQUENCE = 3
_STEP_WORDS = 36
_REPEATED = 0.6
_MAXIMUM_WORDS = 75
_MAXIMUM_QUOTE_WORDS = 120
_MAXIMUM_ELEMENTS = 10
_CUES = {
    ElementKind.HYPOTHESIS: bounded(
        r"\bhypothes[ie][sz]|\b(?:we|i) (?:expect|predict|anticipate)\b", IGNORECASE
    ),
    ElementKind.ASSUMPTION: bounded(r"\bassum(?:e|es|ed|ing|ption|ptions)\b", IGNORECASE),
    ElementKind.EVALUATION_CHOICE: bounded(
        r"\b(?:metrics?|baselines?|primary outcome|significance|held-out|test set|measured by)\b",
        IGNORECASE,
    ),
}


async def baseline_methods(inputs: MethodsInput, _tools: BaselineTools) -> MethodsReply | NoAnswer:
    """Select blocks that state actions, by centrality, part, position and wording.

    NoAnswer(nothing_to_judge) when the idea proposes nothing.
    """
    blocks = _proposal_blocks(blocks_of(inputs.idea))
    if not blocks:
        return NoAnswer(
            Reason.NOTHING_TO_JUDGE,
            "no sentence of the idea says what would be done; describe the method in full"
            " sentences",
        )
    topic = topic_of(inputs.idea)
    context = opening(topic, 20) if topic else "; ".join(key_phrases(inputs.idea, 3))
    selected_blocks: list[Block] = []
    for block in _by_importance(blocks, inputs.idea):
        if len(selected_blocks) == inputs.maximum_methods:
            break
        if all(overlap_0_to_1(block.text, other.text) < _REPEATED for other in selected_blocks):
            selected_blocks.append(block)
    return MethodsReply(
        methods=tuple(_method(block, inputs.idea, context) for block in selected_blocks),
        elements=_stated_elements(inputs.idea),
    )


def _stated_elements(idea: str) -> tuple[ProposedElement, ...]:
    """Return the elements that the plan states explicitly."""
    kinds = (
        (sentence, next((kind for kind, cue in _CUES.items() if cue.search(sentence)), None))
        for sentence in sentences(idea)
        if len(sentence.split()) <= _MAXIMUM_WORDS
    )
    elements = [
        ProposedElement(
            kind=kind, standing=ElementStanding.STATED, text=plain(sentence), quote=sentence
        )
        for sentence, kind in kinds
        if kind is not None
    ]
    return tuple(elements[:_MAXIMUM_ELEMENTS])


def _proposal_blocks(blocks: list[Block]) -> list[Block]:
    """Return blocks that state an action, preferably outside the background; else any statement."""
    parts = [
        part
        for block in blocks
        if content_words(block.text) and sentences(block.text)
        for part in _parts(block)
    ]
    proposals = [block for block in parts if block.part is not Part.BACKGROUND]
    active = [block for block in proposals if _actions(block)]
    if active:
        return active
    return [block for block in parts if _actions(block)] or [
        block
        for block in proposals
        if (sum(1 for word in content_words(block.text) if word.isalpha()) > 2)
    ]


def _parts(block: Block) -> list[Block]:
    """Split a long paragraph that lists several steps before each step.

    Any other block is returned unchanged.
    """
    block_sentences = sentences(block.text)
    if (
        block.label
        or len(block.text.split()) <= _LONG_PARAGRAPH_WORDS
        or sum(map(_acts, block_sentences)) < _STEPS_OF_A_SEQUENCE
    ):
        return [block]
    groups: list[list[str]] = [[]]
    for sentence in block_sentences:
        size = sum(len(other.split()) for other in groups[-1])
        if (
            groups[-1]
            and _acts(sentence)
            and (size >= _STEP_WORDS or (_NEXT.match(sentence) and size >= _STEP_WORDS / 2))
        ):
            groups.append([])
        groups[-1].append(sentence)
    steps = [" ".join(group) for group in groups]
    bare = "".join(block.text.split())
    return (
        [Block(block.part, "", step) for step in steps]
        if all("".join(step.split()) in bare for step in steps)
        else [block]
    )


def _actions(block: Block) -> int:
    return sum(1 for sentence in sentences(block.text) if _acts(sentence))


def _acts(sentence: str) -> bool:
    return bool(
        _ACTION.search(sentence) or _IMPERATIVE.match(plain(sentence))
    ) and not _HOPE.search(sentence)


def _by_importance(blocks: list[Block], idea: str) -> list[Block]:
    texts = [block.text for block in blocks]
    centrality = {text: score for score, text in rank_sentences(idea, texts, len(texts))}
    top = max(centrality.values()) or 1.0

    def importance(place: int) -> float:
        block = blocks[place]
        return (
            _PART_WEIGHT[block.part]
            + 0.8 * centrality[block.text] / top
            + 0.35 * (1.0 - place / len(blocks))
            + 0.25 * (min(_actions(block), 3) / 3)
        )

    # The sort is stable: ties keep the order of the text.
    return [blocks[place] for place in sorted(range(len(blocks)), key=lambda at: -importance(at))]


def _method(block: Block, idea: str, context: str) -> ProposedMethod:
    """Write a method from the most central sentences of a block.

    Sentences with actions are preferred.
    """
    texts = sentences(block.text)
    central = {text: score for score, text in rank_sentences(idea, texts, len(texts))}
    order = sorted(
        range(len(texts)), key=lambda place: (not _acts(texts[place]), -central[texts[place]])
    )
    places: list[int] = []
    for place in order:
        length = sum(len(texts[other].split()) for other in (*places, place))
        if not places or length <= _MAXIMUM_WORDS:
            places.append(place)
    # Lines that announce an omitted one (`Our design includes:`) are dropped.
    useful = [
        place for place in sorted(places) if not texts[place].endswith(":") or place + 1 in places
    ]
    parts = []
    for place in useful or sorted(places):
        sentence = without_opening(plain(texts[place]))
        is_announcement = sentence.endswith(":") and place + 1 in places
        is_whole = sentence.endswith((".", "!", "?", "…")) or is_announcement
        parts.append(sentence if is_whole else f"{sentence.rstrip(':;,')}.")
    wording = " ".join(parts)
    label = plain(block.label).strip(" :")
    if label and not wording.lower().startswith(label.lower()):
        wording = f"{label}: {wording}"
    block_quote = block.text if len(block.text.split()) <= _MAXIMUM_QUOTE_WORDS else ""
    return ProposedMethod(
        text=f"{wording} {CONTEXT_MARK}{context}." if context else wording,
        quote=_verbatim(block_quote, idea) or _verbatim(texts[order[0]], idea),
    )


def _verbatim(text: str, idea: str) -> str:
    """Return `text` if the idea contains it, ignoring white space; else an empty text.

    A block may lack Markdown marks between its lines.
    """
    return text if "".join(text.split()) in "".join(idea.split()) else ""


EXTRACT_METHODS = Step(
    name="extract_methods",
    version=3,
    package="tasks.soundness",
    input_model=MethodsInput,
    output_model=MethodsReply,
    baseline=baseline_methods,
)
