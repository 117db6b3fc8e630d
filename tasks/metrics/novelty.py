"""RINoBench's nine metrics of novelty judgements and their justifications (§4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.metrics.classification import f1_of_class, macro_f1, mean_absolute_error
from tasks.metrics.estimate import Estimate
from tasks.metrics.labels import pair_up
from tasks.metrics.means import mean

SCALE: tuple[int, ...] = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Aspects:
    """Counts of a justification's known or novel arguments, by a judge.

    Attributes:
        gold: arguments of the gold justification.
        generated: arguments of the model's justification.
        supported: generated ones that the gold justification supports.
        additional: others that the related works (known) or the idea (novel) support.
        hallucinated: generated ones that neither of these supports.
    """

    gold: int
    generated: int
    supported: int
    additional: int
    hallucinated: int

    def __post_init__(self) -> None:
        counts = (self.gold, self.generated, self.supported, self.additional, self.hallucinated)
        if (
            min(counts) < 0
            or self.additional + max(self.supported, self.hallucinated) > self.generated
        ):
            raise ValueError(f"arguments do not add up: {self}")


@dataclass(frozen=True, slots=True)
class Justification:
    """Judgement on one model's justification; None where the judge's answer is missing."""

    alignment_0_to_1: float | None
    known_aspects: Aspects | None
    novel_aspects: Aspects | None


def recall(aspects: Aspects) -> float:
    """Return min(1, supported / gold), 0 without gold arguments (Eq. 1)."""
    return min(1.0, aspects.supported / aspects.gold) if aspects.gold else 0.0


def additional_ratio(aspects: Aspects) -> float:
    """Return additional / max(gold, 1) (Eq. 2); may exceed 1."""
    return aspects.additional / max(aspects.gold, 1)


def hallucination_rate(aspects: Aspects) -> float:
    """Return hallucinated / generated, 0 without generated arguments (Eq. 3)."""
    return aspects.hallucinated / aspects.generated if aspects.generated else 0.0


def score_metrics(
    gold: Mapping[str, int | None], predictions: Mapping[str, int | None], seed: int = 0
) -> dict[str, Estimate]:
    """Estimate `macro_f1`, `f1_1` … `f1_5` (0 to 1) and `mean_absolute_error` (points); §4.2.1.

    Macro F1 is the unweighted mean over the classes that occur.

    Bad input: items without a prediction are unscored; predictions without gold are ignored;
    without a common item the metrics are undefined.

    Raises:
        ValueError: a score outside 1 to 5.
    """
    if any(
        label is not None and label not in SCALE
        for label in (*gold.values(), *predictions.values())
    ):
        raise ValueError("novelty scores are whole numbers from 1 to 5; None where there is none")
    label_pairs = pair_up(gold, predictions)
    estimates = {"macro_f1": macro_f1(label_pairs, SCALE, seed)}
    estimates.update({f"f1_{label}": f1_of_class(label_pairs, label, seed) for label in SCALE})
    return {**estimates, "mean_absolute_error": mean_absolute_error(label_pairs, seed)}


def justification_metrics(
    justifications: Sequence[Justification], seed: int = 0
) -> dict[str, Estimate]:
    """Estimate means over justifications (§4.2.2), by the release's names without `mean_`.

    `alignment`, and for `known` and `novelty` aspects: `…_aspects_recall`,
    `additional_…_aspects_ratio`, `…_aspects_hallucination_rate`. BCa bootstrap over justifications.

    Bad input: missing answers of the judge are unscored; without any answer a metric is undefined.
    """
    estimates = {"alignment": mean([one.alignment_0_to_1 for one in justifications], seed)}
    for kind, lists in (
        ("known", [one.known_aspects for one in justifications]),
        ("novelty", [one.novel_aspects for one in justifications]),
    ):
        for name, metric in (
            (f"{kind}_aspects_recall", recall),
            (f"additional_{kind}_aspects_ratio", additional_ratio),
            (f"{kind}_aspects_hallucination_rate", hallucination_rate),
        ):
            estimates[name] = mean([None if one is None else metric(one) for one in lists], seed)
    return estimates
