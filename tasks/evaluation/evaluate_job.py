"""Worker entry point for the evaluation of a shard."""

from schemas.judgement.evaluation import Receipt
from schemas.settings import Settings
from tasks.evaluation.shard_job import ShardJob


async def evaluate_job(job: ShardJob, settings: Settings) -> tuple[Receipt, ...]:
    """Evaluate and land the ideas of a shard; return its receipts."""
    # A late import: a run whose evaluations have all landed does not need the engines.
    from tasks.evaluation import shard_resources

    return await shard_resources.evaluate_job(job, settings)
