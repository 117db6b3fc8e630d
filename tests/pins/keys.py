"""Prompt hashes of every step, and keys of fixed requests of every kind of work.

Work with a known key is not done again, so a key that changes costs its work once more. Run ids are
left out: they may change.
"""

import json
import os
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from unittest.mock import patch

from flows.profiles import load_profile
from flows.run.requests import request_of
from flows.works.evaluate.plan import key_batch
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.options.commands import RunOptions
from schemas.settings import Settings
from schemas.works.check_run import CheckOptions
from schemas.works.curation_run import CurateOptions
from schemas.works.ideation_run import IdeateOptions
from schemas.works.survey_run import AskOptions, SurveyOptions
from tasks.benchmarks.work import BENCHMARK
from tasks.curation.work import CURATE
from tasks.evaluation.work import EVALUATE
from tasks.experiments.task_folder import read_task
from tasks.ideas.read import read_ideas
from tasks.ideation.work import IDEATE
from tasks.manuscripts.work import CHECK
from tasks.ranking.dimensions import dimensions_of
from tasks.ranking.matching import match_id
from tasks.steps import STEPS
from tasks.survey.work import ASK, SURVEY
from tests.support.assay_command import environment
from tests.support.draft_lake import plan_draft
from tests.support.novelty_sets import write_novelty
from tests.support.ranking_fakes import dossier
from tests.support.reviewed_papers import FIRST_REVIEW, SECOND_REVIEW, peerread_folder
from tests.support.small_task import write_task
from warehouse.kinds.registry import KINDS
from warehouse.warehouse import Warehouse

PROFILES = ("economy", "faithful")
ENGINES = ("extractive", "litellm:openai/gpt-5-mini")
MODULES = {
    "usual modules": ("soundness", "contribution"),
    "more modules": ("soundness", "contribution", "committee", "novelty"),
}
LITERATURE = "snapshot:0123456789ab"
IDEAS = (
    {
        "idea_id": "plain",
        "text": "We train a router that skips layers for easy tokens, and measure the loss.",
    },
    {
        "idea_id": "published",
        "title": "Bats by sonar",
        "text": "We record bats beside a loudspeaker, and compare the calls of both nights.",
        "cutoff_date": "2024-06-30",
        "group": "ecology",
        "authors": "Ada Bird; Ben Cave",
        "doi": "10.1000/bats",
    },
)
PAPER = "A study of numbers\n\nAbstract\n\nOf 40 patients 12 (80 %) recovered.\n"
LATEX = (
    "\\documentclass{article}\n\\begin{document}\nOf 40 patients 12 recovered.\n\\end{document}\n"
)
QUESTIONS = ("How do bats find moths?", "Which layers can be skipped?")
RUN = "RUN"
"""Placeholder for the id of a run or ranking."""

Entries = dict[str, dict[str, object]]
"""Facts by name."""


def steps() -> Entries:
    """Return version and prompt of each registered step."""
    return {
        step.name: {"version": step.version, "prompt_sha256": step.prompt_sha256} for step in STEPS
    }


def keys(folder: Path) -> dict[str, Entries]:
    """Return evaluation keys, and the keys of units of every kind of work.

    Args:
        folder: for the files of the requests.
    """
    with patch.dict(os.environ, environment(folder / "home"), clear=True):
        settings = Settings()
        units = {
            f"{kind} {name}": facts
            for kind, entries in UNITS.items()
            for name, facts in entries(folder, settings)
        }
        return {"evaluation keys": _evaluation_keys(folder, settings), "unit keys": units}


def _evaluation_keys(folder: Path, settings: Settings) -> Entries:
    path = _ideas(folder)
    batch = read_ideas(path, default_cutoff=None)
    found: Entries = {}
    for profile, engine, (name, modules) in product(PROFILES, ENGINES, MODULES.items()):
        options = RunOptions(
            warehouse=folder / "lake",
            profile=profile,
            engine=engine,
            modules=modules,
        )
        keyed = key_batch(
            batch, request_of(EVALUATE, (path,), options, settings), settings, LITERATURE
        )
        found[f"{profile}, {engine}, {name}"] = {
            each.idea.idea_id: each.evaluation_key for each in keyed.planned
        }
    return found


def _ideas(folder: Path) -> Path:
    path = folder / "ideas.jsonl"
    path.write_text("".join(json.dumps(idea) + "\n" for idea in IDEAS), "utf-8")
    return path


Units = Iterator[tuple[str, dict[str, object]]]


def _landed(word: str, *names: str) -> str:
    """Return the landing folder of a unit."""
    (kind,) = (kind for kind in KINDS if kind.word == word)
    return kind.unit_path(Warehouse(Path()), *names)


def _evaluate(folder: Path, settings: Settings) -> Units:
    yield "key", {"folder": _landed("run", RUN, "0123456789abcdef" * 2)}


def _rank(folder: Path, settings: Settings) -> Units:
    profile = load_profile("economy")
    pair = (dossier("bats", text="An idea on bats."), dossier("owls", text="An idea on owls."))
    for dimension in dimensions_of(profile):
        met = match_id(*pair, dimension, ENGINES[1], profile.seed)
        yield (
            f"ecology, {dimension.name}",
            {
                "folder": _landed("ranking", RUN, RUN, "ecology"),
                "match_id": met,
            },
        )


def _check(folder: Path, settings: Settings) -> Units:
    (folder / "numbers.txt").write_text(PAPER)
    (folder / "patients.tex").write_text(LATEX)
    papers = (folder / "numbers.txt", folder / "patients.tex")
    options = CheckOptions(warehouse=folder)
    for source in request_of(CHECK, (papers,), options, settings).units:
        yield (
            source.manuscript_id,
            {
                "folder": _landed("check", RUN, source.manuscript_id),
                "content_sha256": source.content_sha256,
            },
        )


def _survey(folder: Path, settings: Settings) -> Units:
    request = request_of(SURVEY, (QUESTIONS,), SurveyOptions(warehouse=folder), settings)
    for asked in request.units:
        yield asked.question, {"folder": _landed("survey", RUN, asked.question_id)}


def _ask(folder: Path, settings: Settings) -> Units:
    request = request_of(ASK, (QUESTIONS[:1],), AskOptions(warehouse=folder), settings)
    for asked in request.units:
        yield asked.question, {"folder": _landed("survey", RUN, asked.question_id)}


def _curate(folder: Path, settings: Settings) -> Units:
    papers = peerread_folder(folder / "reviewed", routing=(FIRST_REVIEW, SECOND_REVIEW))
    options = CurateOptions(warehouse=folder)
    for source in request_of(CURATE, (str(papers), None), options, Settings()).units:
        yield (
            source.paper_id,
            {
                "folder": _landed("curation", RUN, source.paper_id),
                "content_sha256": source.content_sha256,
            },
        )


def _ideate(folder: Path, settings: Settings) -> Units:
    options = IdeateOptions(warehouse=folder, per_seed=2)
    request = request_of(IDEATE, (_ideas(folder),), options, settings)
    for slot in request.units[0].slots:
        yield (
            f"{slot.seed_id} {slot.slot}",
            {
                "folder": _landed("ideation", RUN, "round-1"),
                "version_id": slot.version_id,
            },
        )


def _experiment(folder: Path, settings: Settings) -> Units:
    task = read_task(write_task(folder / "target"))
    yield (
        task.name,
        {
            "folder": _landed("experiment", RUN, task.name),
            "content_sha256": task.content_sha256,
        },
    )


def _write(folder: Path, settings: Settings) -> Units:
    planned = plan_draft("bats")
    yield (
        planned.draft_id,
        {
            "folder": _landed("draft", RUN, planned.draft_id),
            "content_sha256": planned.content_sha256,
        },
    )


def _benchmark(folder: Path, settings: Settings) -> Units:
    options = BenchmarkOptions(warehouse=folder / "lake", data=write_novelty(folder / "sets"))
    for unit in request_of(BENCHMARK, ("novelty",), options, settings).units:
        yield (
            unit.suite,
            {
                "folder": _landed("benchmark", RUN, unit.suite),
                "data_sha256": unit.data_sha256,
                "prompt_sha256": unit.prompt_sha256,
            },
        )


UNITS: dict[str, Callable[[Path, Settings], Units]] = {
    "evaluate": _evaluate,
    "rank": _rank,
    "check": _check,
    "survey": _survey,
    "ask": _ask,
    "curate": _curate,
    "ideate": _ideate,
    "experiment": _experiment,
    "write": _write,
    "benchmark": _benchmark,
}
