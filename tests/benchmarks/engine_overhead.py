"""CPU-milliseconds per model call of everything that is not the model, against a server that
answers at once.

Run as `python tests/benchmarks/engine_overhead.py [--calls 400]`.
"""

import argparse
import asyncio
import logging
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from schemas.settings import LanguageModelSettings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.judging.litellm_engine import LiteLLMBackend, LiteLLMEngine
from tasks.soundness.steps.soundness_query import SOUNDNESS_QUERY, QueriesInput
from warehouse.stores.keyed_store import KeyedStore

SERVER = Path(__file__).parents[1] / "support" / "openai_server.py"


async def measure(url: str, folder: Path, calls: int, budget: Budget) -> None:
    settings = LanguageModelSettings(
        prompt_price_usd_per_million_tokens=1, completion_price_usd_per_million_tokens=4
    )
    shared = SharedBudget(folder / "budget.sqlite", RunId("r1"), budget)
    backend = LiteLLMBackend(
        "openai/loopback",
        settings,
        budget=shared,
        api_base=url,
        cache=KeyedStore(folder / "replies.sqlite"),
    )
    engine = LiteLLMEngine(backend, Ledger(IdeaId("i1")))
    questions = [
        QueriesInput(idea="We route tokens. " * 150, methods=(f"Method {number}",), word_limit=70)
        for number in range(calls)
    ]
    await engine.run(SOUNDNESS_QUERY, questions[0])
    for name in ("asked", "cached"):
        started, used = time.perf_counter(), time.process_time()
        await asyncio.gather(*(engine.run(SOUNDNESS_QUERY, question) for question in questions))
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - used
        print(
            f"{name}: {cpu_seconds / calls * 1000:.2f} CPU-ms per call, {calls / seconds:.0f}"
            " calls/s"
        )
    await backend.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument(
        "--bounded", action="store_true", help="with a budget that has to be asked each time"
    )
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    with (
        subprocess.Popen(
            [sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True
        ) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        budget = Budget(maximum_cost_usd=1000.0) if options.bounded else Budget()
        asyncio.run(measure(url, Path(folder), options.calls, budget))
        server.terminate()


if __name__ == "__main__":
    main()
