"""The id of a run changes with everything that could change its results, and with nothing else."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from flows.run.declared_campaign import run_id
from flows.run.requests import request_of
from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.judging import AskingParameters, Effort
from schemas.run import Budget
from schemas.settings import Settings
from schemas.works.curation_run import CurateOptions
from schemas.works.draft_run import WriteOptions
from schemas.works.experiment_run import ExperimentOptions
from schemas.works.ideation_run import IdeateOptions
from schemas.works.survey_run import SurveyOptions
from tasks.curation.work import CURATE
from tasks.experiments.work import EXPERIMENT
from tasks.ideation.work import IDEATE
from tasks.manuscripts.work import CHECK
from tasks.survey.work import SURVEY
from tasks.work.declaration import Work
from tasks.writing.work import WRITE
from tests.support.checks import check_request
from tests.support.reviewed_papers import FIRST_REVIEW, SECOND_REVIEW, peerread_folder
from tests.support.small_task import write_task

LITERATURE = "snapshot:0123456789ab"
ENGINE = EngineChoice.parse("litellm:openai/gpt-5-mini")
ADDRESS = "http://127.0.0.1:8000/v1"


def survey(folder: Path) -> Any:
    asked = (("How do bats find moths?",),)
    return request_of(SURVEY, asked, SurveyOptions(warehouse=folder), Settings())


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> dict[Work[Any, Any, Any], Any]:
    """A request of each kind that a model answers."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "paper.txt").write_text("A study\n\nAbstract\n\nOf 40 patients 12 recovered.\n")
    idea = folder / "idea.jsonl"
    idea.write_text('{"idea_id": "bats", "text": "We record bats at night."}\n')
    papers = peerread_folder(folder / "reviewed", routing=(FIRST_REVIEW, SECOND_REVIEW))
    given = {
        CURATE: ((str(papers), None), CurateOptions),
        EXPERIMENT: (((write_task(folder / "target"),),), ExperimentOptions),
        IDEATE: ((idea,), IdeateOptions),
        WRITE: ((idea, "", None), WriteOptions),
    }
    asked = {
        work: request_of(work, arguments, options(warehouse=folder), Settings())
        for work, (arguments, options) in given.items()
    }
    asked[CHECK] = check_request([folder / "paper.txt"], warehouse=folder)
    asked[SURVEY] = survey(folder)
    for work in (IDEATE, SURVEY):
        asked[work] = replace(asked[work], full_text=True)
    return {work: replace(request, engine=ENGINE) for work, request in asked.items()}


def _judging(request: Any) -> Any:
    profile = request.profile
    judging = replace(profile.judging, judgement=AskingParameters(effort=Effort.HIGH))
    return replace(request, profile=replace(profile, judging=judging))


def _set(section: str, **values: Any) -> Callable[[Settings], Settings]:
    def changed(settings: Settings) -> Settings:
        part = getattr(settings, section).model_copy(update=values)
        return settings.model_copy(update={section: part})

    return changed


def same(anything: Any) -> Any:
    return anything


ALL = (CHECK, CURATE, EXPERIMENT, IDEATE, SURVEY, WRITE)
SEARCHING = (CHECK, IDEATE, SURVEY)
CHANGES: dict[str, tuple[Callable[[Any], Any], Callable[[Settings], Settings], tuple[Any, ...]]] = {
    "another model": (
        lambda request: replace(request, engine=EngineChoice.parse("litellm:openai/gpt-5")),
        same,
        ALL,
    ),
    "another address": (lambda request: replace(request, api_base=ADDRESS), same, ALL),
    "other judging": (_judging, same, ALL),
    "another context window": (same, _set("language_model", context_tokens=9_000), ALL),
    "another embedding model": (same, _set("embeddings", model="another"), SEARCHING),
    "longer embedded texts": (same, _set("embeddings", maximum_tokens=99), SEARCHING),
    "fewer pages of documents": (
        same,
        _set("documents", maximum_pages=3),
        (CHECK, CURATE, IDEATE, SURVEY),
    ),
    "another cutoff": (lambda request: replace(request, cutoff_date=date(2020, 1, 1)), same, ALL),
    "another warehouse, workers and bounds": (
        lambda request: replace(
            request,
            warehouse=Path("elsewhere"),
            workers=3,
            budget=Budget(maximum_cost_usd=1.0, maximum_requests=5),
        ),
        same,
        (),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_id_changes_with_what_could_change_results_alone(
    change: str, requests: dict[Any, Any]
) -> None:
    of_request, of_settings, kinds = CHANGES[change]
    settings = Settings()

    def name(work: Any, request: Any, settings: Settings) -> str:
        return run_id(work, request, LITERATURE if work in SEARCHING else "", settings)

    changed = {
        work
        for work, request in requests.items()
        if name(work, request, settings) != name(work, of_request(request), of_settings(settings))
    }
    assert changed == {*kinds}


def test_the_order_of_tasks_and_how_no_model_is_asked_name_the_same_experiment(
    tmp_path: Path,
) -> None:
    folders = [write_task(tmp_path / name) for name in ("one", "two")]

    def named(tasks: Any, profile: str) -> str:
        options = ExperimentOptions(warehouse=tmp_path, profile=profile)
        request = request_of(EXPERIMENT, (tasks,), options, Settings())
        return run_id(EXPERIMENT, request, "", Settings())

    before = named(folders, "economy")
    assert named(folders[::-1], "faithful") == before
    assert named(folders[:1], "economy") != before


def test_a_full_text_that_is_not_read_changes_no_run_id(tmp_path: Path) -> None:
    settings = Settings()
    other = _set("documents", maximum_pages=3)(settings)
    asked = survey(tmp_path)
    assert not asked.full_text
    assert run_id(SURVEY, asked, LITERATURE, settings) == run_id(SURVEY, asked, LITERATURE, other)
