"""Tools of a shard's ideas, opened once for all of them."""

from contextlib import AsyncExitStack

from schemas.judgement.evaluation import Receipt
from schemas.run import Module
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.committee.knowledge.tools import open_knowledge_tools
from tasks.embeddings.sentence_embedder import SentenceEmbedder, bundled_settings
from tasks.evaluation.evaluate_shard import Attempts, evaluate_shard
from tasks.evaluation.modules import IdeaTools
from tasks.evaluation.shard_job import ShardJob
from tasks.work.tools import Tools, open_shared
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore


async def evaluate_job(job: ShardJob, settings: Settings) -> tuple[Receipt, ...]:
    """Evaluate and land the ideas without a complete receipt.

    Return the shard's receipts.
    """
    request, layout = job.request, Layout(job.request.warehouse)
    attempts = Attempts(layout.state / "runs" / job.run_id / "attempts")
    async with AsyncExitStack() as stack:
        batches_path = layout.batches(job.run_id) if request.parameters.batch else None
        shared_tools = await open_shared(
            request, settings, layout, job.run_id, job.gateway_url, stack, batches_path
        )
        # The rule of field coverage was fitted on vectors of the bundled model.
        field_embedder, fitted_model = (
            shared_tools.judging.embedder,
            bundled_settings(settings.embeddings),
        )
        if fitted_model != settings.embeddings:
            store = KeyedStore(layout.cache / "embeddings.sqlite")
            field_embedder = SentenceEmbedder(fitted_model, store)

        def open_tools(ledger: Ledger) -> IdeaTools:
            tools = Tools(shared_tools, ledger)
            literature = tools.literature(with_references=job.knows_references)
            documents = tools.full_texts
            knowledge = None
            if Module.COMMITTEE in request.parameters.modules:
                knowledge = open_knowledge_tools(
                    settings,
                    request.profile.committee,
                    literature=literature,
                    documents=documents,
                    embedder=tools.embedder,
                    source_context=tools.sources,
                    store=shared_tools.texts,
                    slots=tools.document_slots,
                    read_in_full=request.full_text,
                )
            return IdeaTools(
                engine=tools.engine,
                literature=literature,
                documents=documents,
                embedder=tools.embedder,
                ledger=ledger,
                knowledge=knowledge,
                engine_of_repetition=lambda number: tools.engine_of(repetition=number),
                field_embedder=field_embedder,
            )

        return await evaluate_shard(job, layout, attempts, open_tools)
