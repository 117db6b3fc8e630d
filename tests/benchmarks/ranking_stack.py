"""What rating and prior each tell of decisions, offline, with `--data DIR` (InnoEval's sets).

Every labelled submission of the points, groups and pairs is an item, title and abstract its text;
connected ones stay together in folds and intervals. Rating: Bradley–Terry strength within its group
by matches of the extractive engine, with the mean where a submission is in none. Committee and
novelty need evaluations: `assay benchmark decisions --modules …` stacks them.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from schemas.judgement.ranking import RatingMethod
from schemas.profile import RankingParameters
from schemas.settings import Settings
from tasks.benchmarks.submissions import (
    GROUPS_FILE,
    PAIR_FILES,
    POINTS_FILE,
    Submission,
    SubmissionGroup,
    linked_submissions,
    read_groups,
    read_pairs,
    read_points,
)
from tasks.benchmarks.suites.calibrating import RATING, stacked
from tasks.benchmarks.suites.decisions import STACKED_CLASSES, scale_of
from tasks.calibration.examples import Example, item_sha256
from tasks.calibration.fitting import cross_validate
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.step import BaselineTools
from tasks.metrics.chance import stratified_random
from tasks.metrics.classification import accuracy_value, macro_f1_value
from tasks.metrics.labelled import GRADES, merged
from tasks.metrics.rankings import Group, Pair, best_of_group, pairwise_accuracy
from tasks.ranking.dimensions import AS_REVIEWERS
from tasks.ranking.dossier import Dossier
from tasks.ranking.rank import rank_groups

SEED = 7


def main() -> None:
    arguments = sys.argv[1:]
    if "--data" not in arguments:
        print("(--data DIR: InnoEval's submissions, by rating and prior)")
        return
    folder = Path(arguments[arguments.index("--data") + 1])
    groups = read_groups(folder / GROUPS_FILE)
    decided = submissions_of(folder, groups)
    clusters = linked_submissions(folder, list(decided.values()))
    ratings = asyncio.run(ratings_of(groups))
    examples = [
        Example(
            item_sha256(one.idea.text),
            one.decision,
            "reject",  # nobody judged it
            {RATING: ratings.get(name)},
            clusters[name],
            one.idea.text,
        )
        for name, one in decided.items()
    ]
    print_stack(examples)
    print_order(folder, groups, decided, clusters, examples, ratings)


def submissions_of(folder: Path, groups: Sequence[SubmissionGroup]) -> dict[str, Submission]:
    """Every submission with a decision, once."""
    pairs = [pair for kind, name in PAIR_FILES.items() for pair in read_pairs(folder / name, kind)]
    listed = [
        *read_points(folder / POINTS_FILE),
        *(one for group in groups for one in group.members),
        *(one for pair in pairs for one in (pair.first, pair.second)),
    ]
    return {str(one.idea.idea_id): one for one in listed if one.decision is not None}


async def ratings_of(groups: Sequence[SubmissionGroup]) -> dict[str, float]:
    """Log-strengths by submission; of one in several groups that of the first."""
    engine = ExtractiveEngine(BaselineTools(SentenceEmbedder(Settings().embeddings, None)), SEED)
    found: dict[str, float] = {}
    for group in groups:
        dossiers = [
            Dossier(idea_id=one.idea.idea_id, title=one.idea.title, text=one.idea.text)
            for one in group.members
        ]
        ranked = await rank_groups(
            dossiers, RankingParameters(), engine, SEED, dimensions=(AS_REVIEWERS,)
        )
        for rating in ranked.ratings:
            if rating.method is RatingMethod.BRADLEY_TERRY and rating.strength is not None:
                found.setdefault(str(rating.idea_id), rating.strength)
    return found


def print_stack(examples: Sequence[Example]) -> None:
    three = [
        replace(one, label=merged(str(one.label), STACKED_CLASSES), raw_label="reject")
        for one in examples
    ]
    scale = scale_of(STACKED_CLASSES)
    print(f"\n{len(three)} submissions, three classes, nested cross-validation\n")
    print("| from | macro F1 | accuracy |\n|---|---|---|")
    for system, estimates in stacked(three, scale, SEED).items():
        cells = [
            f"{one.value:.3f} ({one.interval.lower:.3f} to {one.interval.upper:.3f})"
            if one.defined
            else f"undefined: {one.undefined_reason}"
            for one in estimates.values()
        ]
        print(f"| {system} | {' | '.join(cells)} |")
    gold: dict[str, str | None] = {one.item_sha256: one.label for one in three}
    f1 = stratified_random(gold, partial(macro_f1_value, classes=scale.labels), SEED)
    drawn = stratified_random(gold, accuracy_value, SEED)
    print(f"| stratified random | {f1.value:.3f} | {drawn.value:.3f} |")


def print_order(
    folder: Path,
    groups: Sequence[SubmissionGroup],
    decided: Mapping[str, Submission],
    clusters: Mapping[str, str],
    examples: Sequence[Example],
    ratings: Mapping[str, float],
) -> None:
    """Pairs and groups, each submission by a model of the other folds."""
    print("\n| from | easy pairs | hard pairs | best of group |\n|---|---|---|---|")
    scale = scale_of(4)
    kinds = {
        "prior": [replace(one, features={}) for one in examples],
        "rating": [replace(one, text=None) for one in examples],
        "rating + prior": list(examples),
    }
    for name, chosen in kinds.items():
        latent = {one.item_sha256: one.latent for one in cross_validate(chosen, scale, SEED)}
        value = {key: latent[item_sha256(one.idea.text)] for key, one in decided.items()}
        cells = []
        for kind, file in PAIR_FILES.items():
            pairs = [
                one
                for pair in read_pairs(folder / file, kind)
                if (one := judged(pair.first, pair.second, value, clusters)) is not None
            ]
            cells.append(pairwise_accuracy(pairs, SEED))
        listed = [
            Group(
                group.name,
                {str(one.idea.idea_id): float(GRADES[one.decision or ""]) for one in group.members},
                {str(one.idea.idea_id): value[str(one.idea.idea_id)] for one in group.members},
                clusters[str(group.members[0].idea.idea_id)],
            )
            for group in groups
        ]
        cells.append(best_of_group(listed, SEED))
        text = " | ".join(
            f"{one.value:.3f} ({one.interval.lower:.3f} to {one.interval.upper:.3f})"
            for one in cells
        )
        print(f"| {name} | {text} |")
    print(f"({len(ratings)} submissions have a rating)")


def judged(
    first: Submission,
    second: Submission,
    value: Mapping[str, float],
    clusters: Mapping[str, str],
) -> Pair | None:
    if first.decision is None or second.decision is None or first.decision == second.decision:
        return None
    better, worse = sorted((first, second), key=lambda one: -GRADES[one.decision or ""])
    names = (str(better.idea.idea_id), str(worse.idea.idea_id))
    return Pair(*names, max(names, key=lambda name: value[name]), "", clusters[names[0]])
