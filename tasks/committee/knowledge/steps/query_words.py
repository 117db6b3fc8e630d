"""Other words for the same thing, and how long the queries of a kind of source are.

The words come from a small list of common equivalents and from the abbreviations an idea explains
itself.
"""

from collections.abc import Iterator
from functools import lru_cache

from schemas.knowledge import SourceKind
from schemas.patterns import bounded, linear

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
    """`query` with the first term that has another name replaced by it; None when no term has one."""
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
