"""`knowledge_queries`: searches that would bring up what is known about an idea's parts.

Baseline: key phrases of each part's claims in the idea's subject, then the same in other words:
from a small list of common equivalents, and from the abbreviations an idea explains itself.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.committee import IdeaPart
from schemas.literature.knowledge import SourceKind
from schemas.reasons import Reason
from schemas.text.patterns import bounded, linear
from tasks.committee.steps.shown import PartShown
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.phrases import filled, meaningful_words, ranked_phrases, salience, stem_counts

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
_EXPLAINED = linear(r"((?:[A-Za-z][\w-]*[ -]){1,6})\(([A-Z][A-Za-z]{1,7}s?)\)")
_INSIDE_A_WORD = bounded(r"[\w-]")


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[str, str], ...]:
    pairs = [
        tuple(side.strip() for side in line.split("="))
        for line in _EQUIVALENTS.strip().splitlines()
    ]
    return tuple((left, right) for left, right in pairs) + tuple(
        (right, left) for left, right in pairs
    )


def abbreviations(text: str) -> tuple[tuple[str, str], ...]:
    """(long, short) and (short, long) for every abbreviation explained as `long form (LF)`, lower
    case.
    """
    found: dict[str, str] = {}
    for match in _EXPLAINED.finditer(text):
        short = match.group(2).rstrip("s")
        words = match.group(1).replace("-", " ").split()
        long = words[-len(short) :]
        if len(long) == len(short) and all(
            word[0].lower() == letter.lower() for word, letter in zip(long, short, strict=True)
        ):
            found.setdefault(short.lower(), " ".join(long).lower())
    return tuple(found.items()) + tuple((long, short) for short, long in found.items())


def reworded(query: str, explained: tuple[tuple[str, str], ...]) -> str | None:
    """`query` with the first term that has another name replaced by it; None when no term has
    one.
    """
    folded = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in query)
    for term, other in (*explained, *_table()):
        for start in _places(folded, term):
            end = next(
                (
                    start + len(term) + len(ending)
                    for ending in ("s", "es", "")
                    if folded.startswith(ending, start + len(term))
                    and not _INSIDE_A_WORD.match(folded, start + len(term) + len(ending))
                ),
                None,
            )
            if end is not None and (changed := query[:start] + other + query[end:]) != query:
                return changed
    return None


def _places(folded: str, term: str) -> Iterator[int]:
    """Where `term` begins and no word runs into it."""
    place = folded.find(term)
    while place >= 0:
        if not place or not _INSIDE_A_WORD.match(folded, place - 1):
            yield place
        place = folded.find(term, place + 1)


class QueriesInput(Noun):
    """Which searches would bring up what is known about these parts?"""

    idea: str = Field(min_length=1)
    parts: tuple[PartShown, ...] = Field(min_length=1)
    kinds: tuple[str, ...] = Field(min_length=1)
    maximum_queries: int = Field(ge=1, description="Per part and kind.")


class PartQueries(Reply):
    """Queries for one part in one kind of place."""

    part: IdeaPart
    kind: SourceKind
    queries: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Established terms first, then synonyms."
    )


class QueriesReply(Reply):
    entries: Annotated[list[PartQueries], Field(min_length=1), SoundEntries]


SUBJECT_WORDS = 2


async def baseline_queries(inputs: QueriesInput, tools: BaselineTools) -> QueriesReply | NoAnswer:
    """Per part and kind: the two phrases the idea dwells on most, a rewording of them, then the
    next phrases.
    """
    del tools
    frequency = stem_counts(inputs.idea)
    subject = sorted(
        dict.fromkeys(meaningful_words(inputs.idea)), key=lambda word: -salience(word, frequency)
    )[:SUBJECT_WORDS]
    explained = abbreviations(inputs.idea)
    entries = []
    for part in inputs.parts:
        phrases = ranked_phrases("\n".join(part.claims), frequency)
        for kind in inputs.kinds:
            queries = _queries(
                phrases, subject, WORD_LIMITS[SourceKind(kind)], explained, inputs.maximum_queries
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
    explained: tuple[tuple[str, str], ...],
    limit: int,
) -> list[str]:
    found: dict[str, None] = {}
    for start in range(len(phrases)):
        query = filled([*phrases[start : start + 2], *subject], word_limit) or " ".join(
            phrases[start].split()[:word_limit]
        )
        for candidate in (query, reworded(query, explained)):
            if candidate:
                found.setdefault(candidate)
    return list(found)[:limit]


KNOWLEDGE_QUERIES = Step(
    name="knowledge_queries",
    version=1,
    package="tasks.committee",
    input_model=QueriesInput,
    output_model=QueriesReply,
    baseline=baseline_queries,
)
