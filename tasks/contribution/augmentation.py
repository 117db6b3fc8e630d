"""From relevant papers to their neighbours: recommendations and references (ScholarEval §2.2, paper
discovery step 3).
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.contribution import CandidateOrigin
from schemas.failure import Failure, look_up_failures
from schemas.identifiers import PaperId
from schemas.paper import Paper
from schemas.profile import RecommendationKind
from schemas.retrieval import Answer
from tasks.contribution.context import STAGE, Context
from tasks.contribution.searching import Found
from tasks.judging.packing import even_batches


@dataclass(frozen=True, slots=True)
class Augmentation:
    """Papers not found before, each once, in order of seed; of one seed recommendations first."""

    found: tuple[Found, ...] = ()
    failures: tuple[Failure, ...] = ()


async def augment(
    context: Context, seeds: Sequence[Paper], known: Iterable[PaperId]
) -> Augmentation:
    """Recommendations for the seeds side by side with the references of all of them, asked for
    together so that they travel packed.

    Pooled recommendations belong to several seeds and stand under the most relevant of them.
    """
    if not seeds:
        return Augmentation()
    groups = even_batches([seed.paper_id for seed in seeds], _seeds_per_request(context))
    async with asyncio.TaskGroup() as group:
        recommended = {ids[0]: group.create_task(_recommendations(context, ids)) for ids in groups}
        cited = group.create_task(_references(context, [seed.paper_id for seed in seeds]))
    failures = [*look_up_failures(cited.result().failures, STAGE, "references of the seeds")]
    references: dict[PaperId, list[Paper]] = {}
    for citing, paper in cited.result().items:
        references.setdefault(citing, []).append(paper)
    neighbours: list[tuple[CandidateOrigin, PaperId, Paper]] = []
    for seed in seeds:
        if task := recommended.get(seed.paper_id):
            failures.extend(look_up_failures(task.result().failures, STAGE, seed.paper_id))
            neighbours.extend(
                (CandidateOrigin.RECOMMENDATION, seed.paper_id, paper)
                for paper in task.result().items
            )
        neighbours.extend(
            (CandidateOrigin.REFERENCE, seed.paper_id, paper)
            for paper in references.get(seed.paper_id, ())
        )
    known_ids = set(known)
    found: dict[PaperId, Found] = {}
    for origin, seed_id, paper in neighbours:
        if paper.paper_id not in known_ids:
            found.setdefault(paper.paper_id, Found(paper, origin, seed_id))
    return Augmentation(tuple(found.values()), tuple(failures))


def _seeds_per_request(context: Context) -> int:
    pooled = context.parameters.recommendations is RecommendationKind.POOLED
    return context.parameters.seeds_per_recommendation_request if pooled else 1


async def _recommendations(context: Context, seeds: Sequence[PaperId]) -> Answer[Paper]:
    limit, cutoff = context.parameters.recommendations_per_seed, context.idea.cutoff_date
    if not limit:
        return Answer(())
    if context.parameters.recommendations is RecommendationKind.POOLED:
        return await context.literature.pooled_recommendations(seeds, limit * len(seeds), cutoff)
    return await context.literature.recommendations(seeds[0], limit, cutoff)


async def _references(context: Context, seeds: Sequence[PaperId]) -> Answer[tuple[PaperId, Paper]]:
    limit = context.parameters.references_per_seed
    return (
        await context.literature.references(seeds, limit, context.idea.cutoff_date)
        if limit
        else Answer(())
    )
