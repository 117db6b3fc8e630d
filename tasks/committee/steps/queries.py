"""Steps that write queries about an idea, and refine them."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.committee import IdeaPart
from schemas.literature.knowledge import SourceKind
from schemas.reasons import Reason
from schemas.text.patterns import bounded, linear
from tasks.committee.steps.prompt_inputs import PartShown
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.phrases import (
    join_phrases,
    meaningful_words,
    mentions,
    ranked_phrases,
    salience,
    specific_phrases,
    specific_stems,
    stem_counts,
)

WORD_LIMITS = {SourceKind.PAPERS: 7, SourceKind.WEB: 8, SourceKind.CODE: 4}


_EQUIVALENTS = """
large language model = llm
language model = language modeling
neural network = deep learning
convolutional neural network = cnn
graph neural network = gnn
reinforcement learning = rl
retrieval augmented generation = rag
natural language processing = nlp
generative adversarial network = gan
variational autoencoder = vae
fine-tuning = finetuning
pre-training = pretraining
in-context learning = few-shot prompting
chain-of-thought = step-by-step reasoning
self-supervised = unsupervised representation
knowledge distillation = model compression
hallucination = factual errors
out-of-distribution = distribution shift
federated learning = distributed private training
differential equation = dynamical system
time series = temporal data
recommendation = recommender system
machine translation = neural translation
question answering = qa
named entity recognition = entity extraction
semantic segmentation = pixel labeling
object detection = detector
multi-agent = multiple agents
benchmark = evaluation suite
uncertainty = calibration
interpretability = explainability
adversarial = robustness attack
sparse = pruned
mixture of experts = moe
human feedback = rlhf
tumor = cancer
gene expression = transcriptomics
protein folding = protein structure prediction
"""
_EXPLAINED_ABBREVIATION = linear(r"((?:[A-Za-z][\w-]*[ -]){1,6})\(([A-Z][A-Za-z]{1,7}s?)\)")
_INSIDE_A_WORD = bounded(r"[\w-]")


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[str, str], ...]:
    pairs = [
        tuple(side.strip() for side in line.split("="))
        for line in _EQUIVALENTS.strip().splitlines()
    ]
    return tuple((term, other) for term, other in pairs) + tuple(
        (other, term) for term, other in pairs
    )


def abbreviations(text: str) -> tuple[tuple[str, str], ...]:
    """Return (long, short) and (short, long) of abbreviations such as `long form (LF)`, lower case."""
    long_forms: dict[str, str] = {}
    for match in _EXPLAINED_ABBREVIATION.finditer(text):
        short = match.group(2).rstrip("s")
        words = match.group(1).replace("-", " ").split()
        long = words[-len(short) :]
        if len(long) == len(short) and all(
            word[0].lower() == letter.lower() for word, letter in zip(long, short, strict=True)
        ):
            long_forms.setdefault(short.lower(), " ".join(long).lower())
    return tuple(long_forms.items()) + tuple((long, short) for short, long in long_forms.items())


def reword(query: str, abbreviation_pairs: tuple[tuple[str, str], ...]) -> str | None:
    """Replace the first term of `query` that has a synonym.

    Returns None without one.
    """
    folded_query = "".join(
        letter.lower() if len(letter.lower()) == 1 else letter for letter in query
    )
    for term, other in (*abbreviation_pairs, *_table()):
        for start in _places(folded_query, term):
            end = next(
                (
                    start + len(term) + len(ending)
                    for ending in ("s", "es", "")
                    if folded_query.startswith(ending, start + len(term))
                    and not _INSIDE_A_WORD.match(folded_query, start + len(term) + len(ending))
                ),
                None,
            )
            if end is not None and (new_query := query[:start] + other + query[end:]) != query:
                return new_query
    return None


def _places(folded_text: str, term: str) -> Iterator[int]:
    """Yield the positions at which `term` starts a word."""
    place = folded_text.find(term)
    while place >= 0:
        if not place or not _INSIDE_A_WORD.match(folded_text, place - 1):
            yield place
        place = folded_text.find(term, place + 1)


class QueriesInput(Noun):
    idea: str = Field(min_length=1)
    parts: tuple[PartShown, ...] = Field(min_length=1)
    kinds: tuple[str, ...] = Field(min_length=1)
    maximum_queries: int = Field(ge=1, description="Per part and kind.")


class PartQueries(Reply):
    """Queries for one part in one kind of place."""

    part: IdeaPart
    kind: SourceKind
    queries: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Of three to eight words, for code of two to four."
    )


class QueriesReply(Reply):
    entries: Annotated[list[PartQueries], Field(min_length=1), SoundEntries]


SUBJECT_WORDS = 2


async def baseline_queries(inputs: QueriesInput, tools: BaselineTools) -> QueriesReply | NoAnswer:
    """Write queries per part and kind from the most salient phrases.

    Each query is followed by a rewording.
    """
    del tools
    frequency = stem_counts(inputs.idea)
    subject = sorted(
        dict.fromkeys(meaningful_words(inputs.idea)), key=lambda word: -salience(word, frequency)
    )[:SUBJECT_WORDS]
    abbreviation_pairs = abbreviations(inputs.idea)
    entries = []
    for part in inputs.parts:
        phrases = ranked_phrases("\n".join(part.claims), frequency)
        for kind in inputs.kinds:
            queries = _queries(
                phrases,
                subject,
                WORD_LIMITS[SourceKind(kind)],
                abbreviation_pairs,
                inputs.maximum_queries,
            )
            if queries:
                entries.append(
                    PartQueries(part=IdeaPart(part.part), kind=SourceKind(kind), queries=queries)
                )
    return (
        QueriesReply(entries=entries)
        if entries
        else NoAnswer(Reason.NOTHING_TO_JUDGE, "the claims name nothing to search for")
    )


def _queries(
    phrases: list[str],
    subject: list[str],
    word_limit: int,
    abbreviation_pairs: tuple[tuple[str, str], ...],
    limit: int,
) -> list[str]:
    queries: dict[str, None] = {}
    for start in range(len(phrases)):
        query = join_phrases([*phrases[start : start + 2], *subject], word_limit) or " ".join(
            phrases[start].split()[:word_limit]
        )
        for candidate in (query, reword(query, abbreviation_pairs)):
            if candidate:
                queries.setdefault(candidate)
    return list(queries)[:limit]


KNOWLEDGE_QUERIES = Step(
    name="knowledge_queries",
    version=2,
    package="tasks.committee",
    input_model=QueriesInput,
    output_model=QueriesReply,
    baseline=baseline_queries,
)


class QueryOutcome(Noun):
    part: str
    kind: str
    query: str
    found_count: int = Field(ge=0)
    kept_count: int = Field(ge=0, description="Of its finds, those among the best of their kind.")
    mean_similarity: float = Field(
        ge=0, le=1, description="Of its finds to the idea; 0 without any."
    )
    gists: tuple[str, ...] = Field(
        default=(), description="Titles and beginnings of its best finds."
    )


class RefinementInput(Noun):
    idea: str = Field(min_length=1)
    parts: tuple[PartShown, ...] = Field(min_length=1)
    kinds: tuple[str, ...] = Field(min_length=1)
    outcomes: tuple[QueryOutcome, ...] = Field(min_length=1)
    maximum_queries: int = Field(ge=1, description="Per part and kind.")


class QueryTrouble(StrEnum):
    """Defect of a query (InnoEval, "Iterative Refinement")."""

    LOW_RELEVANCE = "low_relevance"
    TOO_GENERAL = "too_general"
    TOO_SPECIFIC = "too_specific"
    NONE = "none"


class RefinedQueries(Reply):
    """New queries for one part in one kind of place, if any."""

    part: IdeaPart
    kind: SourceKind
    queries: list[Text] = Field(
        description="Of three to eight words, for code of two to four; may be empty."
    )


class RefinementReply(Reply):
    entries: Annotated[list[RefinedQueries], Field(min_length=1), SoundEntries]


FEW_FINDS = 3
LOW_SIMILARITY = 0.3
GENERAL_SIMILARITY = 0.45
"""Mean cosine to the idea below which finds are off topic, and below which they only share the
field.
"""


async def baseline_refinement(
    inputs: RefinementInput, tools: BaselineTools
) -> RefinementReply | NoAnswer:
    """Write a query per part and kind by number and similarity of their finds."""
    del tools
    frequency = stem_counts(inputs.idea)
    previous_queries = {" ".join(outcome.query.lower().split()) for outcome in inputs.outcomes}
    entries = []
    for part in inputs.parts:
        for kind in inputs.kinds:
            outcomes = [
                outcome
                for outcome in inputs.outcomes
                if (outcome.part, outcome.kind) == (part.part, kind)
            ]
            if outcomes:
                trouble = trouble_of(outcomes)
                words = _words(
                    trouble, part, outcomes, ranked_phrases("\n".join(part.claims), frequency)
                )
                query = join_phrases(words, WORD_LIMITS[SourceKind(kind)])
                fresh = [query] if query and query not in previous_queries else []
                previous_queries.update(fresh)
                entries.append(
                    RefinedQueries(
                        part=IdeaPart(part.part),
                        kind=SourceKind(kind),
                        queries=fresh,
                    )
                )
    return (
        RefinementReply(entries=entries)
        if entries
        else NoAnswer(Reason.NOTHING_TO_JUDGE, "no part shown was searched")
    )


def trouble_of(outcomes: Sequence[QueryOutcome]) -> QueryTrouble:
    if sum(outcome.found_count for outcome in outcomes) < FEW_FINDS:
        return QueryTrouble.TOO_SPECIFIC
    with_finds = [outcome for outcome in outcomes if outcome.found_count]
    mean = sum(outcome.mean_similarity for outcome in with_finds) / len(with_finds)
    if mean < LOW_SIMILARITY:
        return QueryTrouble.LOW_RELEVANCE
    return QueryTrouble.TOO_GENERAL if mean < GENERAL_SIMILARITY else QueryTrouble.NONE


def _words(
    trouble: QueryTrouble, part: PartShown, outcomes: list[QueryOutcome], phrases: list[str]
) -> list[str]:
    """Return phrases for the next query, best first.

    Phrases of finds are used if the claims share them, or if the queries had no defect.
    """
    used_stems = frozenset(stem for outcome in outcomes for stem in specific_stems(outcome.query))
    fresh = [phrase for phrase in phrases if not specific_stems(phrase) <= used_stems]
    gist_phrases = specific_phrases(
        "\n".join(gist for outcome in outcomes for gist in outcome.gists), 8
    )
    claims = specific_stems("\n".join(part.claims))
    shared_phrases = [
        phrase
        for phrase in gist_phrases
        if mentions(claims, phrase) and not specific_stems(phrase) <= used_stems
    ]
    if trouble is QueryTrouble.TOO_SPECIFIC:
        return phrases[:1]
    if trouble is QueryTrouble.LOW_RELEVANCE:
        return [*fresh[:2], *phrases[:1]]
    if trouble is QueryTrouble.TOO_GENERAL:
        return [*shared_phrases[:1], *fresh[:2]]
    unseen = [phrase for phrase in gist_phrases if not specific_stems(phrase) <= used_stems]
    return [*unseen[:1], *phrases[:1]] if unseen else []


REFINE_QUERIES = Step(
    name="refine_queries",
    version=2,
    package="tasks.committee",
    input_model=RefinementInput,
    output_model=RefinementReply,
    baseline=baseline_refinement,
)
