"""What bundled ideas cost with each profile, against the numbers that are committed.

Three ideas over the bundled papers, default modules, empty caches. The literature and the model
answer on loopback, and what they answer depends on the question alone.

python -m tests.cost_of_an_idea     rewrites the committed numbers
"""

import asyncio
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from flows.profiles import load_profile
from flows.works.evaluate.request import bundled_file
from tasks.ideas.read import read_ideas
from tasks.literature.snapshot.build import build_snapshot
from tests.benchmarks._reader import JudgeOfThePlan, Reader, reading_server
from tests.benchmarks._semantic_scholar import SemanticScholarOverSnapshot
from tests.benchmarks._spending import spend
from tests.support.contribution_fakes import WordEmbedder

COMMITTED = Path(__file__).parent / "flows" / "cost_of_an_idea.toml"
PROFILES = ("economy", "faithful")
# Of three fields, each with another cutoff.
IDEAS = ("ai-conflict-aware-citations", "ns-snn-threshold-potential", "bioc-route-scientist")
COMMAND = "python -m tests.cost_of_an_idea"
HEAD = f"""\
# What three bundled ideas cost together: tests/flows/test_cost_of_an_idea.py
# {COMMAND} rewrites it
"""

Cost = dict[str, dict[str, int]]
"""`requests` by endpoint, `model_calls` and `prompt_tokens` by step."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        COMMITTED.write_text(as_toml(measured(Path(folder))), "utf-8")


def committed() -> dict[str, Cost]:
    return tomllib.loads(COMMITTED.read_text("utf-8"))


def measured(folder: Path, profiles: Sequence[str] = PROFILES) -> dict[str, Cost]:
    """Evaluate the ideas with each profile and count what the servers were asked."""
    ideas = read_ideas(bundled_file("ideas.jsonl"), default_cutoff=None).ideas
    ideas = tuple(idea for idea in ideas if idea.idea_id in IDEAS)
    build_snapshot(bundled_file("papers.jsonl"), folder / "index")
    costs: dict[str, Cost] = {}
    with SemanticScholarOverSnapshot(folder / "index") as literature:
        for name in profiles:
            with reading_server(Reader(JudgeOfThePlan())) as model:
                spent = asyncio.run(
                    spend(
                        load_profile(name),
                        ideas,
                        literature,
                        model.url,
                        # Vectors of words are equal on all machines, those of a network are not.
                        WordEmbedder(),
                        folder / name,
                        one_at_a_time=True,
                    )
                )
                calls = spent.by_step("calls")
                assert calls.total() == len(model.answered), "a model call without a row"
            costs[name] = {
                "requests": dict(spent.upstream),
                "model_calls": dict(calls),
                "prompt_tokens": dict(spent.by_step("prompt")),
            }
    return costs


def changes(before: dict[str, Cost], after: dict[str, Cost]) -> str:
    """What grew or shrank, one line each; empty where all numbers are equal."""
    return "\n".join(
        _change(
            f"{profile}: {quantity.replace('_', ' ')}",
            before.get(profile, {}).get(quantity, {}),
            counts,
        )
        for profile, cost in after.items()
        for quantity, counts in cost.items()
        if counts != before.get(profile, {}).get(quantity)
    )


def _change(name: str, before: dict[str, int], after: dict[str, int]) -> str:
    """The total before and after, and each part of it that differs."""
    old, new = sum(before.values()), sum(after.values())
    parts = ", ".join(
        f"{part} {before.get(part, 0):,} → {after.get(part, 0):,}"
        for part in sorted({*before, *after})
        if before.get(part) != after.get(part)
    )
    verdict = "more" if new > old else "less" if new < old else "the same in all"
    return f"{name}: {old:,} → {new:,} ({new - old:+,}), {verdict}: {parts}"


def as_toml(costs: dict[str, Cost]) -> str:
    """The text of the committed file."""
    tables = (
        f"\n[{profile}.{quantity}]\n"
        + "".join(f'"{name}" = {count}\n' for name, count in sorted(counts.items()))
        for profile, cost in costs.items()
        for quantity, counts in cost.items()
    )
    return HEAD + "".join(tables)


if __name__ == "__main__":
    main()
