"""What a calibrator learns from: judgements and their evidence as numbers."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from schemas.contribution import Overlap
from schemas.evaluation import IdeaEvaluation
from schemas.novelty import Difference, NoveltyEvaluation, WorkOverlap

FEATURE_KINDS: Mapping[str, tuple[str, ...]] = {
    "closeness": (
        "mean_closeness_0_to_1",
        "greatest_closeness_0_to_1",
        "covered_share_0_to_1",
        "related_work_count",
        "unanswered_search_count",
    ),
    "probabilities": tuple(f"probability_of_{score}_or_more" for score in (2, 3, 4, 5)),
    "overlap grades": (
        "full_overlap_share",
        "no_overlap_share",
        "trivial_difference_share",
        "new_difference_share",
    ),
    "aspect counts": ("known_aspect_count", "novel_aspect_count", "contribution_count"),
    "neighbour density": ("neighbour_density_0_to_1",),
}
"""What a calibrator learns from, by where it comes from."""
NOVELTY_FEATURES = tuple(name for names in FEATURE_KINDS.values() for name in names)


def novelty_features(evaluation: NoveltyEvaluation) -> dict[str, float | None]:
    """The judgement and its evidence as numbers, by the names of `NOVELTY_FEATURES`."""
    judgement, claimed = evaluation.judgement, evaluation.contributions
    percent = [judgement.probabilities_percent.get(str(score)) for score in range(1, 6)]
    overlaps = [one.overlap for one in claimed if one.overlap is not None]
    differences = [one.difference for one in claimed if one.difference is not None]
    found: dict[str, float | None] = {
        "related_work_count": float(len(judgement.related_paper_ids)),
        "known_aspect_count": float(len(judgement.known_aspects)),
        "novel_aspect_count": float(len(judgement.novel_aspects)),
        "contribution_count": float(len(claimed)),
        "full_overlap_share": _share(overlaps, WorkOverlap.FULL),
        "no_overlap_share": _share(overlaps, WorkOverlap.NONE),
        "trivial_difference_share": _share(differences, Difference.TRIVIAL),
        "new_difference_share": _share(differences, Difference.NEW),
    }
    for score in (2, 3, 4, 5):
        above = percent[score - 1 :]
        known = [one for one in above if one is not None]
        found[f"probability_of_{score}_or_more"] = (
            sum(known) / 100 if len(known) == len(above) else None
        )
    for name in NOVELTY_FEATURES:
        if name not in found:
            value = getattr(judgement, name)
            found[name] = None if value is None else float(value)
    return {name: found[name] for name in NOVELTY_FEATURES}


def _share(words: Sequence[StrEnum], wanted: StrEnum) -> float | None:
    return sum(word is wanted for word in words) / len(words) if words else None


def evidence_features(evaluation: IdeaEvaluation) -> dict[str, float | None]:
    """What was found about an idea, without what any judge made of it as a whole: density and
    closeness of related works, grades of overlap, counts. A module that was not asked for has none.
    """
    found: dict[str, float | None] = {}
    if evaluation.novelty is not None:
        of_judge = FEATURE_KINDS["probabilities"]
        measured = novelty_features(evaluation.novelty)
        found |= {name: value for name, value in measured.items() if name not in of_judge}
    if evaluation.contribution is not None:
        grades = [one.overlap for one in evaluation.contribution.comparisons if one.overlap]
        found |= {f"overlap_{grade.value}_share": _share(grades, grade) for grade in Overlap}
        found["compared_paper_count"] = float(
            len({one.paper_id for one in evaluation.contribution.comparisons})
        )
    if evaluation.soundness is not None:
        found["method_count"] = float(len(evaluation.soundness.methods))
        found["passage_count"] = float(len(evaluation.soundness.passages))
    found["citation_count"] = float(len(evaluation.citations))
    return found
