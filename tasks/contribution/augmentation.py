"""From relevant papers to their neighbours: recommendations and references (ScholarEval §2.2, paper discovery step 3)."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.contribution import CandidateOrigin
from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.paper import Paper
from schemas.retrieval import Answer
from tasks.contribution.discovery import Found
from tasks.contribution.inquiry import Inquiry, look_up_failures


@dataclass(frozen=True, slots=True)
class Augmentation:
    """Papers not found before, each once, in order of seed; of one seed recommendations first."""

    found: tuple[Found, ...] = ()
    failures: tuple[Failure, ...] = ()


async def augment(inquiry: Inquiry, seeds: Sequence[Paper], known: Iterable[PaperId]) -> Augmentation:
    """Recommendations for each seed side by side with the references of all seeds, asked for together so that they travel packed."""
    if not seeds:
        return Augmentation()
    async with asyncio.TaskGroup() as group:
        recommended = [group.create_task(_recommendations(inquiry, seed.paper_id)) for seed in seeds]
        cited = group.create_task(_references(inquiry, [seed.paper_id for seed in seeds]))
    failures = look_up_failures(cited.result().failures, "references of the seeds")
    neighbours: list[tuple[CandidateOrigin, PaperId, Paper]] = []
    for seed, task in zip(seeds, recommended, strict=True):
        failures.extend(look_up_failures(task.result().failures, seed.paper_id))
        neighbours.extend((CandidateOrigin.RECOMMENDATION, seed.paper_id, paper) for paper in task.result().items)
        neighbours.extend(
            (CandidateOrigin.REFERENCE, seed.paper_id, paper) for citing, paper in cited.result().items if citing == seed.paper_id
        )
    known_ids = set(known)
    found: dict[PaperId, Found] = {}
    for origin, seed_id, paper in neighbours:
        if paper.paper_id not in known_ids:
            found.setdefault(paper.paper_id, Found(paper, origin, seed_id))
    return Augmentation(tuple(found.values()), tuple(failures))


async def _recommendations(inquiry: Inquiry, seed: PaperId) -> Answer[Paper]:
    limit = inquiry.parameters.recommendations_per_seed
    return await inquiry.literature.recommendations(seed, limit, inquiry.idea.cutoff_date) if limit else Answer(())


async def _references(inquiry: Inquiry, seeds: Sequence[PaperId]) -> Answer[tuple[PaperId, Paper]]:
    limit = inquiry.parameters.references_per_seed
    return await inquiry.literature.references(seeds, limit, inquiry.idea.cutoff_date) if limit else Answer(())
