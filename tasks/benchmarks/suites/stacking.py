"""What each source of judgement adds to a decision: rating, committee by dimension, prior and
novelty, stacked one on another, by nested cross-validation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from schemas.errors import ConfigurationError
from schemas.judgement.benchmark import BenchmarkScore
from tasks.calibration.examples import FEATURE_KINDS, Example, LabelScale
from tasks.calibration.fitting import cross_validate
from tasks.metrics.classification import accuracy, macro_f1
from tasks.metrics.estimate import Estimate, benchmark_scores, undefined
from tasks.metrics.labelled import pair_up

STACK = "stack"
RATING = "rating"
COMMITTEE = "committee"


@dataclass(frozen=True, slots=True)
class Source:
    """One source: which features are its own, and whether words of the text are learnt from."""

    name: str
    holds: Callable[[str], bool]
    reads_text: bool = False


_OF_NOVELTY = {name for names in FEATURE_KINDS.values() for name in names}
SOURCES = (
    Source(RATING, lambda name: name == RATING),
    Source(COMMITTEE, lambda name: name.startswith(COMMITTEE)),
    Source("prior", lambda name: name.startswith("prior"), reads_text=True),
    Source("novelty", lambda name: name in _OF_NOVELTY or name == "novelty_1_to_5"),
)
"""In the order in which they are stacked."""


def stack_scores(
    examples: Sequence[Example], scale: LabelScale, suite: str, part: str, seed: int
) -> Iterator[BenchmarkScore]:
    """Macro F1 and accuracy for each source alone, then for all up to it.

    Clusters stay whole in the folds and in the intervals. Sources that no example has are left out;
    what cannot be fitted has undefined rows that say why.
    """
    there = [source for source in SOURCES if any(map(_chosen((source,)), examples))]
    sets: list[tuple[Source, ...]] = [(one,) for one in there]
    sets += [tuple(there[: place + 1]) for place in range(1, len(there))]
    for chosen in sets:
        system = f"{STACK}: {' + '.join(one.name for one in chosen)}"
        kept = [_of_sources(one, chosen) for one in examples]
        yield from benchmark_scores(_metrics(kept, scale, seed), suite, system, part)


def _chosen(sources: Sequence[Source]) -> Callable[[Example], bool]:
    def there(example: Example) -> bool:
        kept = _of_sources(example, sources)
        return kept.text is not None or any(one is not None for one in kept.features.values())

    return there


def _of_sources(example: Example, sources: Sequence[Source]) -> Example:
    features = {
        name: value
        for name, value in example.features.items()
        if any(one.holds(name) for one in sources)
    }
    reads = any(one.reads_text for one in sources)
    return replace(example, features=features, text=example.text if reads else None)


def _metrics(examples: Sequence[Example], scale: LabelScale, seed: int) -> Mapping[str, Estimate]:
    try:
        predictions = cross_validate(examples, scale, seed)
    except ConfigurationError as error:
        missing = undefined(str(error), 0, len(examples))
        return {"macro_f1": missing, "accuracy": missing}
    cluster_of = {one.item_sha256: one.cluster or one.item_sha256 for one in examples}
    gold = {one.item_sha256: scale.labels[one.gold] for one in predictions}
    said = {one.item_sha256: scale.labels[one.for_f1] for one in predictions}
    likeliest = {one.item_sha256: scale.labels[one.likeliest] for one in predictions}
    clusters = {name: cluster_of[name] for name in gold}
    return {
        "macro_f1": macro_f1(pair_up(gold, said, clusters), scale.labels, seed),
        "accuracy": accuracy(pair_up(gold, likeliest, clusters), seed),
    }
