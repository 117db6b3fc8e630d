"""Estimates of four runs next to what the runs took: calls and prompt tokens by step.

Survey, curation, evaluation and check over bundled or generated files. Literature and model answer
on loopback; the model reads as `_reader` says, and answers other steps by their schemas, more
briefly than real models do: of surveys and checks the estimate is the upper bound that it says.
Abstracts of the bundled papers have 102 tokens; estimates expect 290, as of 87,106 real ones.

python -m tests.benchmarks estimates
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from flows.run.campaign import run_campaign
from flows.run.campaign_runs import CampaignRuns
from flows.run.estimate import estimate
from flows.run.requests import request_of
from flows.works.evaluate.request import bundled_file
from schemas.settings import Settings
from schemas.work import Request
from tasks.works import work_named
from tests.benchmarks._reader import JudgeOfThePlan, Reader, reading_server
from tests.support.reviewed_papers import FIRST_REVIEW, SECOND_REVIEW, paper_text, review_file
from warehouse.lake import rows_in
from warehouse.warehouse import Warehouse

QUESTION = "How do language models retrieve and cite scientific evidence?"
SECTION = (
    "We compare the routed model with the full model on two datasets of translation, under five"
    " seeds. The difference is largest for long sentences and vanishes below ten words. "
)
WITHIN = 0.15


def requests(folder: Path, api_base: str) -> Iterator[tuple[str, Request[Any, Any]]]:
    """Yield the name and request of each run."""
    papers, reviews = folder / "papers", folder / "reviews"
    for place in (papers, reviews):
        place.mkdir()
    for number in range(4):
        (papers / f"p{number}.md").write_text(
            paper_text().replace("token", f"token of rank {number}")
        )
        (reviews / f"p{number}.json").write_text(review_file(FIRST_REVIEW, SECOND_REVIEW))
    manuscript = folder / "paper.md"
    manuscript.write_text("".join(f"## {number} Part\n{SECTION * 20}\n" for number in range(1, 9)))
    ideas = folder / "ideas.jsonl"
    lines = bundled_file("ideas.jsonl").read_text().splitlines(keepends=True)
    ideas.write_text("".join(lines[:3]))
    arguments: dict[str, tuple[Any, ...]] = {
        "survey": ([QUESTION],),
        "curate": (str(papers), reviews),
        "evaluate": (ideas,),
        "check": ((manuscript,),),
    }
    more = {
        "survey": {"max_judged": 60, "max_papers": 30, "papers_read": 12, "depth": 1},
        "check": {"review": True},
    }
    engine = {"engine": "litellm:openai/reader", "api_base": api_base}
    for name, given in arguments.items():
        work = work_named(name)
        options = work.options(warehouse=folder / name, **engine, **more.get(name, {}))
        yield name, request_of(work, given, options, Settings())


def spent(request: Request[Any, Any]) -> dict[str, tuple[float, float]]:
    """Run a request; return calls and prompt tokens by step."""

    def no_cluster(*_: object) -> Any:
        raise AssertionError("a handful of units runs in this process")

    name = next(
        each for each in ("survey", "curate", "evaluate", "check") if each == request.warehouse.name
    )
    runs = CampaignRuns(lambda campaign: run_campaign(campaign, no_cluster))
    work = work_named(name)
    runs(name, request) if work.run is None else work.run(request, Settings(), runs)
    sql = (
        "select step, count(*) as calls, sum(prompt_tokens) as prompt_tokens from llm_calls"
        " where not cache_hit group by step order by step"
    )
    with Warehouse(request.warehouse).reader() as connection:
        rows = rows_in(connection, sql)
    return {row["step"]: (row["calls"], row["prompt_tokens"]) for row in rows}


def compared(name: str, request: Request[Any, Any]) -> bool:
    """Print the estimate next to the run; return whether it is near enough."""
    planned = {
        each.step: (each.calls, each.prompt_tokens)
        for each in estimate(work_named(name), request, Settings()).steps
    }
    used = spent(request)
    print(
        f"\n{name:22} {'calls':>7} {'run':>6} {'ratio':>6}   {'prompt':>9} {'run':>9} {'ratio':>6}"
    )
    planned["all"] = tuple(map(sum, zip(*planned.values(), strict=True)))
    used["all"] = tuple(map(sum, zip(*used.values(), strict=True)))
    for step in dict.fromkeys((*planned, *used)):
        (calls, tokens), (run_calls, run_tokens) = (
            each.get(step, (0, 0)) for each in (planned, used)
        )
        print(
            f"{step:22} {calls:7.1f} {run_calls:6} {calls / (run_calls or 1):6.2f}"
            f"   {tokens:9.0f} {run_tokens:9} {tokens / (run_tokens or 1):6.2f}"
        )
    ratios = [one / other for one, other in zip(planned["all"], used["all"], strict=True)]
    return all(abs(ratio - 1) <= WITHIN for ratio in ratios)


def main() -> None:
    os.environ.setdefault("OPENAI_API_KEY", "none")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = stack.enter_context(reading_server(Reader(JudgeOfThePlan())))
        near = {name: compared(name, request) for name, request in requests(folder, model.url)}
    print(f"\nwithin {WITHIN:.0%}: {near}")


if __name__ == "__main__":
    main()
