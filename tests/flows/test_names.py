"""Evaluation keys and the names of runs and checks stay, so that what landed is found again."""

from pathlib import Path

import pytest

from flows.profiles import load_profile
from flows.works.check import checking
from flows.works.check.checking import check_run_id
from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.profile import ScoreWeights
from schemas.run import RunRequest
from schemas.settings import Settings
from schemas.works.check_run import CheckRequest, Judge, ManuscriptSource
from tasks.evaluation import planned
from tasks.evaluation.planned import evaluation_key, run_id_for
from tasks.judging import identity

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
    request = RunRequest(
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
    request = RunRequest(
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
    check = CheckRequest(sources=(), warehouse=Path("warehouse"), engine="extractive")  # type: ignore[arg-type]

    def names() -> set[str]:
        return {key_with(), check_run_id(check, Settings(), "live")}

    before = names()
    for module in (planned, identity):
        monkeypatch.setattr(module, "LITERATURE_RULES", "other rules")
    assert before.isdisjoint(names())


@pytest.mark.parametrize(
    ("engine", "run_id", "scope"),
    [
        ("extractive", "check-cf9a35b53197", "check-10dbfb18f103b0af"),
        (MODEL, "check-4ca1d6df1679", "check-6e76306872270cc6"),
    ],
)
def test_checks_keep_their_names(
    engine: str, run_id: str, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_steps", lambda _: ())
    source = ManuscriptSource(manuscript_id="m", path=Path("m.pdf"), content_sha256="0" * 64)
    request = CheckRequest(
        sources=(source,),
        warehouse=Path("warehouse"),
        engine=engine,  # type: ignore[arg-type]
        judges=(Judge(engine=MODEL, api_base=ADDRESS), Judge(engine="extractive")),  # type: ignore[arg-type]
    )
    assert (check_run_id(request, Settings()), request.budget_scope) == (run_id, scope)
