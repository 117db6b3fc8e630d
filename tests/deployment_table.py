"""`make costs`: the table of docs/guides/deployment.md, from the plan, today's prices and the figures of
docs/quality/performance.md.

python -m tests.deployment_table     writes it anew
"""

import math
import re
from bisect import bisect_left
from functools import cache
from itertools import cycle, islice
from pathlib import Path

from flows.run.requests import request_of
from flows.works.evaluate.request import bundled_file
from schemas.base import replace
from schemas.choices import EngineChoice, LiteratureChoice
from schemas.judgement.run_request import RunRequest
from schemas.options.commands import RunOptions
from schemas.settings import LanguageModelSettings, LiteratureSettings, Settings
from tasks.evaluation.expected import Estimate, estimate_run
from tasks.evaluation.work import EVALUATE
from tasks.ideas.read import read_ideas
from tests.model_costs.__main__ import rewritten

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "guides" / "deployment.md"
BEGIN = "<!-- night: python -m tests.deployment_table writes what follows -->\n"
END = "<!-- end of night -->\n"
MODEL = "openai/gpt-5-mini"
NIGHT_HOURS = 8.0
IDEAS = (1, 10, 100, 1_000, 10_000)
MACHINE_CORES, MACHINE_GIGABYTES = 4, 14
"""Of one with 16 GB, of which the system keeps two."""
MOST_WORKERS = 64
MEASURED_UP_TO = 100
"""Ideas; `python -m tests.benchmarks cpu_by_part` was run with eighty."""
WORKER_MEGABYTES, OTHER_MEGABYTES = 879, 1980 + 290 + 291 + 180
"""Most memory of a worker, and of command, Prefect's server, Dask's scheduler and gateway together,
as `python -m tests.benchmarks soak` measures it.
"""
HEAD = (
    *("ideas a night", "literature", "keys", "machines", "workers", "memory", "processor"),
    *("disk", "tokens a minute", "hours", "dollars", "limited by"),
)
_SETTINGS = Settings(language_model=LanguageModelSettings(), literature=LiteratureSettings())
_CPU_SECONDS = re.compile(r"\| CPU-seconds per idea \| ([\d.]+) \| ([\d.]+) \|")
_MEGABYTES = re.compile(
    r"adds ([\d.]+) MB to the lake, ([\d.]+) MB to\s+landing and ([\d.]+) MB to the cache"
)


def main() -> None:
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")


def with_table(page: str) -> str:
    """The page with its table made anew."""
    return rewritten(page, BEGIN, END, table())


def table() -> str:
    rows = [_row(count, live=live) for count in IDEAS for live in (True, False)]
    marked = [HEAD, ("--:", "---", *["--:"] * (len(HEAD) - 3), "---"), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in marked)


def _row(count: int, *, live: bool) -> tuple[str, ...]:
    workers, planned = night(count, live=live)
    tokens = planned.prompt_tokens + planned.completion_tokens
    gigabytes = (workers * WORKER_MEGABYTES + OTHER_MEGABYTES) / 1000
    cpu_hours = count * cpu_seconds_an_idea(live=live) / 3600
    machines = max(gigabytes / MACHINE_GIGABYTES, cpu_hours / planned.hours / MACHINE_CORES)
    assert planned.cost_usd is not None
    return (
        f"{count:,}{'' if count <= MEASURED_UP_TO else ' *'}",
        "live" if live else "snapshot",
        "2" if live else "1",
        f"{math.ceil(machines)}",
        f"{workers}",
        f"{math.ceil(gigabytes)} GB",
        _time(cpu_hours),
        _bytes(count * megabytes_an_idea()),
        f"{tokens / planned.hours / 60:,.0f}",
        _time(planned.hours),
        f"${planned.cost_usd:,.2f}",
        planned.bound_by,
    )


def night(count: int, *, live: bool) -> tuple[int, Estimate]:
    """The fewest workers that end within a night, or after which more would not help."""
    most = estimate(count, MOST_WORKERS, live=live)
    bound = max(most.hours, NIGHT_HOURS)
    # A worker more never makes a night longer: what is looked for is found without trying each.
    fewer = bisect_left(
        range(1, MOST_WORKERS),
        True,
        key=lambda workers: estimate(count, workers, live=live).hours <= bound,
    )
    return fewer + 1, estimate(count, fewer + 1, live=live)


@cache
def estimate(count: int, workers: int, *, live: bool) -> Estimate:
    """What the plan says of so many ideas on so many workers."""
    ideas = read_ideas(bundled_file("ideas.jsonl"), default_cutoff=None).ideas
    asked = replace(_request(live), workers=workers)
    return estimate_run(tuple(islice(cycle(ideas), count)), 0, asked, _SETTINGS)


def _request(live: bool) -> RunRequest:
    options = RunOptions(
        engine=EngineChoice.named(MODEL),
        literature=LiteratureChoice(None if live else bundled_file("papers.jsonl")),
    )
    return request_of(EVALUATE, (bundled_file("ideas.jsonl"),), options, _SETTINGS)


def cpu_seconds_an_idea(*, live: bool) -> float:
    """As docs/quality/performance.md has them: of papers nobody has seen, or of a snapshot already embedded."""
    found = _CPU_SECONDS.search(_operating())
    assert found is not None
    return float(found[1 if live else 2])


def megabytes_an_idea() -> float:
    """Of lake, landing and cache together."""
    found = _MEGABYTES.search(_operating())
    assert found is not None
    return sum(map(float, found.groups()))


def _operating() -> str:
    return (DOCS / "quality" / "performance.md").read_text("utf-8")


def _time(hours: float) -> str:
    if hours >= 1:
        return f"{hours:.1f} h"
    seconds = math.ceil(hours * 3600)
    return f"{seconds} s" if seconds < 60 else f"{math.ceil(seconds / 60)} min"


def _bytes(megabytes: float) -> str:
    return f"{megabytes / 1000:,.1f} GB" if megabytes >= 1000 else f"{megabytes:.0f} MB"


if __name__ == "__main__":
    main()
