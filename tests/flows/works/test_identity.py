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
from tasks.writing.work import WRITE
from tests.support.checks import check_request
from tests.support.reviewed_papers import FIRST_REVIEW, SECOND_REVIEW, peerread_folder
from tests.support.small_task import write_task

LITERATURE = "snapshot:0123456789ab"
ENGINE = EngineChoice.parse("litellm:openai/gpt-5-mini")
ADDRESS = "http://127.0.0.1:8000/v1"


def check(folder: Path) -> Any:
    (folder / "paper.txt").write_text(
        "A study of numbers\n\nAbstract\n\nOf 40 patients 12 recovered.\n"
    )
    return check_request([folder / "paper.txt"], warehouse=folder)


def curate(folder: Path) -> Any:
    papers = peerread_folder(folder / "reviewed", routing=(FIRST_REVIEW, SECOND_REVIEW))
    return request_of(CURATE, (str(papers), None), CurateOptions(warehouse=folder), Settings())


def experiment(folder: Path) -> Any:
    options = ExperimentOptions(warehouse=folder)
    return request_of(EXPERIMENT, ((write_task(folder / "target"),),), options, Settings())


def ideate(folder: Path) -> Any:
    (folder / "seeds.jsonl").write_text('{"idea_id": "bats", "text": "We record bats at night."}\n')
    options = IdeateOptions(warehouse=folder)
    request = request_of(IDEATE, (folder / "seeds.jsonl",), options, Settings())
    return replace(request, full_text=True)


def survey(folder: Path) -> Any:
    options = SurveyOptions(warehouse=folder)
    return replace(
        request_of(SURVEY, (("How do bats find moths?",),), options, Settings()), full_text=True
    )


def write(folder: Path) -> Any:
    (folder / "idea.jsonl").write_text('{"idea_id": "bats", "text": "We record bats at night."}\n')
    given = (folder / "idea.jsonl", "", None)
    return request_of(WRITE, given, WriteOptions(warehouse=folder), Settings())


def requests_of(folder: Path) -> dict[str, tuple[Any, Callable[[Any, Settings], str]]]:
    """A request of each kind that a model answers, and what names its run."""
    requests = {
        "check": (check, lambda request, settings: run_id(CHECK, request, LITERATURE, settings)),
        "curate": (curate, lambda request, settings: run_id(CURATE, request, "", settings)),
        "experiment": (
            experiment,
            lambda request, settings: run_id(EXPERIMENT, request, "", settings),
        ),
        "ideate": (
            ideate,
            lambda request, settings: run_id(IDEATE, request, LITERATURE, settings),
        ),
        "survey": (survey, lambda request, settings: run_id(SURVEY, request, LITERATURE, settings)),
        "write": (write, lambda request, settings: run_id(WRITE, request, "", settings)),
    }
    return {
        kind: (replace(make(folder), engine=ENGINE), name)
        for kind, (make, name) in requests.items()
    }


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


MODELS = ("check", "curate", "experiment", "ideate", "survey", "write")
CHANGES: dict[str, tuple[Callable[[Any], Any], Callable[[Settings], Settings], tuple[str, ...]]] = {
    "another model": (
        lambda request: replace(request, engine=EngineChoice.parse("litellm:openai/gpt-5")),
        same,
        MODELS,
    ),
    "another address": (lambda request: replace(request, api_base=ADDRESS), same, MODELS),
    "other judging": (_judging, same, MODELS),
    "another context window": (same, _set("language_model", context_tokens=9_000), MODELS),
    "another embedding model": (
        same,
        _set("embeddings", model="another"),
        ("check", "ideate", "survey"),
    ),
    "longer embedded texts": (
        same,
        _set("embeddings", maximum_tokens=99),
        ("check", "ideate", "survey"),
    ),
    "fewer pages of documents": (
        same,
        _set("documents", maximum_pages=3),
        ("check", "curate", "ideate", "survey"),
    ),
    "another cutoff": (
        lambda request: replace(request, cutoff_date=date(2020, 1, 1)),
        same,
        MODELS,
    ),
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
def test_a_run_id_changes_with_what_could_change_results_alone(change: str, tmp_path: Path) -> None:
    of_request, of_settings, kinds = CHANGES[change]
    settings = Settings()
    other = of_settings(settings)
    changed = set()
    for kind, (request, name) in requests_of(tmp_path).items():
        if name(request, settings) != name(of_request(request), other):
            changed.add(kind)
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
    asked = replace(survey(tmp_path), full_text=False)
    assert run_id(SURVEY, asked, LITERATURE, settings) == run_id(SURVEY, asked, LITERATURE, other)
