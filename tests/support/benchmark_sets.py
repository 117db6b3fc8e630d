"""Small made-up data sets in the formats of the real ones, and an evaluation of their ideas without
running the main job.
"""

import asyncio
import gzip
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from flows.profiles import load_profile
from flows.run.campaign import run_campaign
from flows.run.campaign_runs import campaign_of
from schemas.base import replace
from schemas.choices import LiteratureChoice
from schemas.identifiers import EvaluationKey, IdeaId, RunId, content_hash
from schemas.judgement.benchmark import (
    BenchmarkHead,
    BenchmarkParameters,
    BenchmarkRequest,
    BenchmarkScore,
)
from schemas.judgement.run_request import RunRequest
from schemas.run import Run
from schemas.settings import Settings
from schemas.work import Summary
from tasks.accounting.ledger import Ledger
from tasks.benchmarks.suite import LITERATURE_FILE, Suite, SuiteData, Trial
from tasks.benchmarks.suites.agreement import SCORES
from tasks.benchmarks.suites.ask import ANSWERS_FILE, RUBRICS_FILE
from tasks.benchmarks.suites.votes import FILE as VOTES_FILE
from tasks.benchmarks.survey_sets import CORE_PAPERS_FILE, VIS_FILE
from tasks.benchmarks.work import evaluation_of, run_suites, unit_of
from tasks.ideas.json_lines import write_ideas
from tasks.ideas.read import read_ideas
from tasks.work.tools import Tools, open_shared
from tasks.works import work_named
from tests.benchmarks.studies.injected_errors import MANIFEST_FILE
from tests.support.checker_release import write_release
from tests.support.evaluations import make_evaluation, make_run
from tests.support.novelty_sets import write_novelty
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

Score = tuple[float | None, str | None, int]
DECISIONS = ("Reject", "Accept (Poster)", "Accept (Spotlight)", "Accept (Oral)")
SUBJECTS = (
    "sparse attention over long documents",
    "graph kernels for proteins",
    "robust policies",
    "cheap retrieval",
)
RUBRIC = ("statement", "type", "axis", "severity")
RUBRICS = (
    ("There is no ablation of the sparse kernel.", "weakness", "soundness", "major"),
    ("The data set is new and large.", "strength", "contribution", "minor"),
)
WELL = "We sorted the pebbles by hand, and all of it went well on that day.\n\n" * 6
PLAN = (
    "# Plan {number}\n\n## Problem\n\nLong texts cost much.\n\n## Method\n\nWe will train sparse"
    " attention on {number} corpora."
)


def submission(number: int, decision: str | None = None) -> dict[str, Any]:
    subject = SUBJECTS[number % len(SUBJECTS)]
    fields = {
        "paper_id": f"p{number}",
        "title": f"On {subject}, part {number}",
        "abstract": f"We propose a new method for {subject}. " * 3,
    }
    return {**fields, "decision": decision} if decision is not None else fields


def write_points(folder: Path, decisions: tuple[str | None, ...]) -> Path:
    lines = [json.dumps(submission(number, decision)) for number, decision in enumerate(decisions)]
    (folder / "innoeval_points.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def write_pairs(folder: Path, count: int = 4) -> Path:
    for name, first, second in (("easy", 0, 3), ("hard", 0, 1)):
        pairs = [
            {
                "pair_type": f"{DECISIONS[first]}-{DECISIONS[second]}",
                "paper_a": submission(2 * number, DECISIONS[first]),
                "paper_b": submission(2 * number + 1, DECISIONS[second]),
            }
            for number in range(count)
        ]
        (folder / f"innoeval_pairs_{name}.json").write_text(json.dumps(pairs))
    return folder


def write_groups(folder: Path, count: int = 3) -> Path:
    """The last group is the first one over again."""
    groups = [
        {
            "query": submission(10 * number, DECISIONS[0]),
            "query_category": "reject",
            "matches": {
                "poster": {"paper": {**submission(10 * number + 1), "id": f"p{10 * number + 1}"}},
                "oral": {"paper": submission(10 * number + 2)},
            },
        }
        for number in range(count)
    ]
    (folder / "innoeval_groups.json").write_text(json.dumps([*groups, groups[0]]))
    return folder


def write_scholarideas(folder: Path, count: int = 3) -> Path:
    ideas = [
        {
            "idea_id": f"ai_{number}",
            "discipline": ("ai", "eco")[number % 2],
            "text": PLAN.format(number=number),
            "cutoff_date": "2024-05-01",
            "rubrics": [dict(zip(RUBRIC, told, strict=True)) for told in RUBRICS],
        }
        for number in range(count)
    ]
    (folder / "scholarideas.jsonl").write_text("\n".join(map(json.dumps, ideas)) + "\n")
    return folder


def write_expert_reviews(folder: Path) -> Path:
    """Two reviews each of three ideas per condition."""
    reviews = [
        {"idea_id": f"{condition}-{idea}", "condition": condition}
        | {
            name: float(1 + (idea + 3 * expert + len(condition) + place) % 9)
            for place, name in enumerate(SCORES)
        }
        for condition in ("Human", "AI", "AI_Rerank")
        for idea in range(3)
        for expert in range(2)
    ]
    schema = {"idea_id": pl.String, "condition": pl.String, **dict.fromkeys(SCORES, pl.Float64)}
    pl.DataFrame(reviews, schema=schema).write_parquet(folder / "expert_reviews.parquet")
    return folder


def write_packed(path: Path, rows: list[dict[str, Any]]) -> Path:
    """JSON lines, packed."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path


def write_resources(folder: Path, count: int = 12) -> Path:
    """Projects on four subjects, each of which used its subject's data set; one used none. And
    leaderboards, three of each subject with a paper in common.
    """
    (folder / "dataset_recommendation").mkdir(exist_ok=True)
    projects = [
        {
            "id": f"q{number:03}",
            "year": 2019,
            "query": f"We will study {SUBJECTS[number % 4]} in project {number}",
            "paper_abstract": f"We study {SUBJECTS[number % 4]}, as part {number}.",
            "datasets_in_corpus": [f"Set {number % 4}"] if number else [],
        }
        for number in range(count)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in projects)
    (folder / "dataset_recommendation" / "queries.jsonl").write_text(lines)
    sets = [{"id": f"Set {number}", "text": f"Numbers, part {number}"} for number in range(6)]
    write_packed(folder / "dataset_recommendation" / "datasets.jsonl.gz", sets)
    boards = [
        {
            "id": f"board {number}",
            "task": SUBJECTS[number % 4],
            "dataset": f"Board {number}",
            "metrics": ["accuracy" if number % 4 else "recall"],
            "rows": [
                {"model": "a", "paper_title": f"The usual method for {SUBJECTS[number % 4]}"},
                {"model": "b", "paper_title": f"A method of board {number} alone"},
            ],
        }
        for number in range(count)
    ]
    write_packed(folder / "leaderboards" / "leaderboards.jsonl.gz", boards)
    return folder


def write_manuscripts(folder: Path, **texts: str) -> Path:
    """A manifest of manuscripts in Markdown, by name."""
    for name, text in texts.items():
        path = folder / "manuscripts" / name / "paper.md"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    rows = [json.dumps({"id": name, "main": "paper.md"}) for name in texts]
    (folder / MANIFEST_FILE).write_text("\n".join(rows) + "\n")
    return folder


def write_all(folder: Path) -> Path:
    """The data of every suite."""
    for write in (
        write_resources,
        write_pairs,
        write_groups,
        write_scholarideas,
        write_release,
        write_expert_reviews,
    ):
        write(folder)
    write_votes(folder)
    write_core_papers(folder, "how does sparse attention read long documents")
    write_novelty(folder, 6)
    write_expert_answers(folder)
    write_venue(folder)
    write_literature(folder)
    write_manuscripts(folder, first=f"# One\n\n{WELL}", second=f"# Two\n\n{WELL}")
    return write_points(folder, DECISIONS)


def write_literature(folder: Path) -> Path:
    """Papers of fourteen years, four a year: each names two concepts that none had together."""
    kinds = ("sparse", "graph", "robust", "cheap", "tactile", "planned")
    concepts = [f"{kind} {noun}" for noun in ("retrieval", "grasping") for kind in kinds]
    pairs = [
        (concepts[first], concepts[second])
        for step in range(1, 6)
        for first in range(len(concepts))
        if (second := (first + step) % len(concepts)) != first
    ]
    rows = [
        {
            "title": f"{first.capitalize()} and {second}",
            "abstract": f"About {first} and {second}.",
            "authors": ["Ada Author"],
            "venue": "Pebbles",
            "year": 2012 + number // 4,
            "url": f"https://example.org/{number}",
        }
        for number, (first, second) in enumerate(pairs[:56])
    ]
    path = folder / LITERATURE_FILE
    pl.DataFrame(rows).write_parquet(path)
    return path


def write_votes(folder: Path, voters: int = 12) -> Path:
    """Six ideas in one survey: every voter but the last prefers the smaller number of each pair."""
    rows = [
        {
            "id": f"v{voter}-{left}-{right}",
            "survey_id": "1",
            "topic": "gpa",
            "voter": f"p{voter:02}",
            "left": str(left),
            "right": str(right),
            "winner": "left" if left < right or voter == voters - 1 else "right",
        }
        for voter in range(voters)
        for left in range(6)
        for right in range(6)
        if left != right and (left + right + voter) % 2
    ]
    return write_packed(folder / VOTES_FILE, rows)


def write_core_papers(folder: Path, topic: str) -> Path:
    """Twelve candidates of one topic, five of them core papers of its surveys."""
    rows = [
        {
            "paper_id": f"p{number}",
            "topic": topic,
            "title": f"Calls of bats {number}",
            "abstract": "Bats call at night.",
            "core": number < 5,
        }
        for number in range(12)
    ]
    return write_packed(folder / CORE_PAPERS_FILE, rows)


def write_expert_answers(folder: Path) -> Path:
    """Two questions, each citing two works that only it speaks of; and one with criteria."""
    subjects = {"bats": "Bats hunt moths by echo calls", "tax": "Tax law grows by court rulings"}
    rows = [
        {
            "id": name,
            "subject": name,
            "question": f"How is it that {said.lower()}?",
            "answer": f"{said} [0][1].",
            "passages": [
                {"title": f"{said}, part {part}", "text": f"{said}. So says part {part}."}
                for part in ("one", "two")
            ],
        }
        for name, said in subjects.items()
    ]
    criteria = [
        {"name": "first", "criterion": "It says who hunts.", "weight": 0.3, "evidence": []},
        {"name": "second", "criterion": "It says when.", "weight": 0.1, "evidence": []},
    ]
    question = {"id": "bats", "question": rows[0]["question"], "criteria": criteria}
    write_packed(folder / RUBRICS_FILE, [question])
    return write_packed(folder / ANSWERS_FILE, rows)


def write_venue(folder: Path) -> Path:
    """A venue of which one paper cites twelve others."""
    cited = [f"10.1/{number}" for number in range(12)]
    rows = [
        {
            "id": name,
            "title": f"Sparse attention reads long documents, part {name}",
            "abstract": "Sparse attention reads long documents at little cost.",
            "authors": ["Ada Author"],
            "venue": "VIS",
            "publication_year": 2020,
            "year": 2020,
            "cited_by_crossref": 3,
            "references": [],
        }
        for name in cited
    ]
    title = "How does sparse attention read long documents"
    rows.append(rows[0] | {"id": "10.1/own", "title": title, "references": cited})
    rows[-1] |= {"publication_year": 2026, "year": 2026}
    return write_packed(folder / VIS_FILE, rows)


def write_nothing(folder: Path) -> Path:
    """The files of every suite, without a row."""
    write_all(folder)
    for path in folder.glob("*/*.jsonl.gz"):
        path.write_bytes(gzip.compress(b""))
    read = ("*.json*", "rinobench/*.json", "dataset_recommendation/*.jsonl", "manuscripts/*.jsonl")
    for path in [each for pattern in read for each in folder.glob(pattern)]:
        path.write_text("" if path.suffix == ".jsonl" else "[]")
    for path in (*folder.glob("*.parquet"), *folder.glob("withdrarxiv/*.parquet")):
        pl.read_parquet(path).clear().write_parquet(path)
    return folder


def benchmark_request(folder: Path, suite: Suite, **changes: Any) -> BenchmarkRequest:
    """Over the data in `folder`, with a warehouse beside it.

    Args:
        changes: fields of the request or of its parameters.
    """
    told = {"literature": f"snapshot:{folder}", "seed": 0} | {
        name: value for name, value in changes.items() if name in BenchmarkParameters.model_fields
    }
    literature = told["literature"]
    if isinstance(literature, str):
        told["literature"] = LiteratureChoice.parse(literature)
    parameters = BenchmarkParameters(**told)
    asked = {"warehouse": folder / "warehouse", "profile": load_profile("economy")} | {
        name: value for name, value in changes.items() if name not in told
    }
    unit = unit_of(suite, folder, asked["profile"], parameters, Settings())
    return BenchmarkRequest(
        **{"engine": "extractive", **asked}, units=(unit,), parameters=parameters
    )


def evaluate_made_up(request: RunRequest) -> Run:
    """Lands and publishes made-up evaluations of the ideas the main job is asked for."""
    ideas = read_ideas(request.ideas.path, default_cutoff=None).ideas
    run_id, warehouse = (
        RunId(f"made-up-{content_hash(str(request.ideas.path), length=8)}"),
        Warehouse(request.warehouse),
    )
    for number, idea in enumerate(ideas):
        evaluation = make_evaluation(number, run_id=run_id, idea=idea)
        land(
            warehouse,
            replace(
                evaluation, evaluation_key=EvaluationKey(content_hash(idea.idea_id, length=32))
            ),
        )
    run = make_run(run_id, ideas=len(ideas))
    assert publish(warehouse, RUNS, run).published
    return run


def never_evaluate(request: RunRequest) -> Run:
    raise AssertionError("this suite has no ideas to evaluate")


@dataclass(frozen=True)
class _Runs:
    """Does benchmarks, and has ideas evaluated by `evaluate`."""

    evaluate: Callable[[RunRequest], Run]

    def __call__(self, name: str, request: Any) -> Summary[Any]:
        if name != "evaluate":
            return run_campaign(campaign_of(work_named(name), request), no_cluster)
        return Summary(
            name="evaluate",
            title="a made-up run",
            head=self.evaluate(request),
            published=True,
            unchanged=False,
            failed_expectations=(),
            report_paths=(),
        )

    def run_id(self, name: str, request: Any) -> RunId:
        campaign = campaign_of(work_named(name), request)
        with campaign.open():
            return RunId(campaign.run_id)


def no_cluster(*_: object) -> Any:
    raise AssertionError("a suite is worked on by the command itself")


def run_small(
    suite: Suite, request: BenchmarkRequest, evaluate: Any = evaluate_made_up
) -> Summary[BenchmarkHead]:
    """Run a suite to its publication."""
    assert request.units[0].suite == suite.name
    return run_suites(request, Settings(), _Runs(evaluate))


def run_id_of(request: BenchmarkRequest) -> RunId:
    """The id of the benchmark."""
    return _Runs(never_evaluate).run_id("benchmark", request)


def tried(
    suite: Suite,
    request: BenchmarkRequest,
    evaluate: Any = evaluate_made_up,
    use: Callable[[Trial], Any] | None = None,
) -> tuple[Trial, Any]:
    """A trial, and what it gives: the suite's scores, or what `use` makes of it."""
    settings, (unit,) = Settings(), request.units
    layout = Warehouse(request.warehouse, settings)
    if suite.ideas is not None and suite.evaluates(request.parameters):
        path = request.warehouse / "ideas.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_ideas(suite.ideas(SuiteData(request, unit, settings)), path)
        run = evaluate(evaluation_of(request, path))
        unit = replace(unit, evaluated_run_id=run.run_id)

    async def done() -> tuple[Trial, Any]:
        async with AsyncExitStack() as stack:
            run_id = RunId(f"benchmark-{suite.name}")
            shared = await open_shared(request, settings, layout, run_id, None, stack)
            tools = Tools(shared, Ledger(IdeaId(suite.name)))
            trial = Trial(unit, tools, asyncio.get_running_loop())
            result = await asyncio.to_thread(use or suite.run, trial)
            return trial, trial.scores if result is None else result

    return asyncio.run(done())


class BareTrial:
    """What scorers need of a trial, without a lake: `score` and what a test gives."""

    seed = 0
    score, score_all = Trial.score, Trial.score_all

    def __init__(self, suite: str, **has: Any) -> None:
        self.unit, self.scores = SimpleNamespace(suite=suite), list[BenchmarkScore]()
        vars(self).update(has)


def measured(
    suite: Suite, request: BenchmarkRequest, evaluate: Any = evaluate_made_up
) -> dict[tuple[str, str, str], BenchmarkScore]:
    """Its scores by metric, slice and system, without a lake and a report."""
    _, scores = tried(suite, request, evaluate)
    return {(score.metric, score.slice, score.system): score for score in scores}


def scores_of(request: BenchmarkRequest, where: str = "true") -> dict[tuple[str, str, str], Score]:
    """(value, undefined_reason, unscored_count) by metric, slice and system, as SQL finds the
    measured ones in the lake.
    """
    query = (
        "select metric, slice, system, value, undefined_reason, unscored_count "
        f"from benchmark_scores where origin = 'measured' and {where}"
    )
    with Warehouse(request.warehouse).reader() as connection:
        return {row[:3]: row[3:] for row in connection.execute(query).fetchall()}


def rows_of(request: BenchmarkRequest, query: str) -> list[tuple[Any, ...]]:
    with Warehouse(request.warehouse).reader() as connection:
        return connection.execute(query).fetchall()
