"""Evaluation keys and the names of runs and checks stay, so that what landed is found again."""

import dataclasses
from pathlib import Path

import pytest

from flows.profiles import load_profile
from flows.run.declared_campaign import run_id as declared_run_id
from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.profile import ScoreWeights
from schemas.settings import Settings
from schemas.work import Judge
from schemas.works.check_run import CheckParameters, CheckRequest, ManuscriptSource
from tasks.evaluation import shard_job
from tasks.evaluation.shard_job import evaluation_key, run_id_for
from tasks.judging import identity
from tasks.manuscripts.work import CHECK
from tests.support.requests import run_request

IDEA = Idea(idea_id=IdeaId("a"), title="A", text="We will do something new.")
MODEL = "litellm:openai/gpt-4o-mini"
ADDRESS = "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize(
    ("engine", "key", "run_id"),
    [
        ("extractive", "4fce028aee9cec061c765bf0293e9489", "ideas-579992bee2"),
        (MODEL, "3795f42d5249e7174bc947886729e9c0", "ideas-f65acdf040"),
    ],
)
def test_keys_and_runs_keep_their_names(engine: str, key: str, run_id: str) -> None:
    weights = ScoreWeights(soundness=0.5, contribution=0.5)
    request = run_request(
        ideas_path=Path("ideas.jsonl"),
        warehouse=Path("warehouse"),
        profile=replace(load_profile("economy"), seed=7, temperature=0.0, score_weights=weights),
        engine=engine,  # type: ignore[arg-type]
        literature="snapshot:/data/papers.parquet+live",  # type: ignore[arg-type]
        modules=(),
        full_text=False,
    )
    found = evaluation_key(IDEA, request, "snapshot:1a2b", ())
    assert (found, run_id_for(request, [found], [IDEA.description_sha256], [])) == (key, run_id)


def key_with(**metadata: str) -> str:
    request = run_request(
        ideas_path=Path("ideas.jsonl"),
        warehouse=Path("warehouse"),
        profile=load_profile("economy"),
        engine="extractive",  # type: ignore[arg-type]
        literature="live",  # type: ignore[arg-type]
        full_text=False,
    )
    return evaluation_key(replace(IDEA, metadata=metadata), request, "live", ())


def test_a_changed_address_of_a_page_evaluates_nothing_again() -> None:
    key = key_with(url="https://example.org/a", doi="10.1234/abc")
    assert key == key_with(url="https://example.org/b", doi="10.1234/abc")
    assert key == key_with(url="https://example.org/a", doi="https://doi.org/10.1234/ABC")


@pytest.mark.parametrize(
    "metadata",
    [
        {"doi": "10.1234/abd"},
        {"url": "https://arxiv.org/abs/2401.01234"},
        {"openalex_id": "W1234567"},
        {"authors": "Ada Lovelace"},
    ],
)
def test_a_changed_identifier_of_the_publication_evaluates_again(metadata: dict[str, str]) -> None:
    given = {"url": "https://example.org/a", "doi": "10.1234/abc"}
    assert key_with(**given) != key_with(**{**given, **metadata})


def test_work_under_other_rules_of_literature_has_another_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check = asked_check("extractive")

    def names() -> set[str]:
        return {key_with(), declared_run_id(CHECK, check, "live", Settings())}

    before = names()
    for module in (shard_job, identity):
        monkeypatch.setattr(module, "LITERATURE_RULES", "other rules")
    assert before.isdisjoint(names())


def asked_check(engine: str, *judges: Judge) -> CheckRequest:
    source = ManuscriptSource(manuscript_id="m", path=Path("m.pdf"), content_sha256="0" * 64)
    return CheckRequest(
        units=(source,),
        parameters=CheckParameters(judges=judges),
        warehouse=Path("warehouse"),
        profile=replace(load_profile("economy"), seed=42, temperature=0.0),
        engine=engine,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("engine", "run_id"), [("extractive", "check-e5078e8537ae"), (MODEL, "check-e6808f87a8e0")]
)
def test_checks_keep_their_names(engine: str, run_id: str) -> None:
    unasked = dataclasses.replace(CHECK, steps=lambda _: ())
    judges = (Judge(engine=MODEL, api_base=ADDRESS), Judge(engine="extractive"))  # type: ignore[arg-type]
    request = asked_check(engine, *judges)
    assert declared_run_id(unasked, request, "", Settings()) == run_id
