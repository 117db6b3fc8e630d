"""Every mistake on the command line is one clear line, before anything starts."""

from pathlib import Path
from typing import Any

import pytest

from flows.profiles import load_profile
from flows.run.preflight import check_engine
from flows.run.requests import request_of
from flows.works.evaluate.request import bundled_file, resolve_literature
from schemas.base import replace
from schemas.choices import LIVE, EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.judgement.run_request import RunRequest
from schemas.judging import Effort
from schemas.options.commands import RunOptions
from schemas.run import Budget, Module
from schemas.settings import Settings
from tasks.evaluation.work import EVALUATE
from tests.support.checks import check_request


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return Settings()


def asked(**options: Any) -> RunRequest:
    """The request that evaluates the bundled ideas."""
    request: RunRequest = request_of(
        EVALUATE, (bundled_file("ideas.jsonl"),), RunOptions(**options), Settings()
    )
    return request


def one_line(error: pytest.ExceptionInfo[ConfigurationError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


def test_the_faithful_profile_keeps_the_published_parameters() -> None:
    faithful = load_profile("faithful")
    assert faithful.soundness.snippets_per_method <= 20
    assert faithful.contribution.queries_per_statement == 3
    assert faithful.contribution.papers_per_query == 20
    assert faithful.contribution.minimum_relevance == 3
    assert faithful.contribution.recommendations_per_seed == 8
    assert faithful.contribution.references_per_seed == 10
    assert faithful.contribution.embedding_top == 100
    assert faithful.contribution.papers_compared == 25
    assert faithful.soundness.maximum_points == 0, "the review of the plan is not published"
    for part in (faithful.soundness, faithful.contribution):
        assert part.verify_citations == "published"


def own_profile(folder: Path, text: str, name: str = "mine") -> str:
    path = folder / f"{name}.toml"
    path.write_text(f'name = "{name}"\n{text}')
    return str(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('extends = "economy"\nsped = 1', "`sped`: unknown key"),
        (
            'extends = "economy"\n[contribution]\nminimum_relevance = 9',
            "`contribution.minimum_relevance`",
        ),
        ("seed = 7", "`temperature`: Field required"),
        ('extends = "nothing"', "no profile `nothing`: name one of economy, faithful"),
        ('extends = "mine.toml"', "`extends` names one profile"),
        ("extends = 1", "`extends` names one profile"),
        ("extends = ", "is not TOML"),
    ],
)
def test_a_mistake_in_a_profile_is_named(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        load_profile(own_profile(tmp_path, text))
    assert line in one_line(error)


@pytest.mark.parametrize("base", ["", 'extends = "deep.toml"\n'])
def test_a_profile_too_deep_to_read_is_one_line(tmp_path: Path, base: str) -> None:
    deep = f"a{'.a' * 5_000} = 1"
    own_profile(tmp_path, deep, "deep")
    with pytest.raises(ConfigurationError) as error:
        load_profile(own_profile(tmp_path, base + deep))
    assert "is not TOML" in one_line(error)


def test_a_profile_holds_what_differs_from_the_one_it_extends(tmp_path: Path) -> None:
    lab = own_profile(tmp_path, 'extends = "economy"\n[judging.judgement]\neffort = "high"', "lab")
    night = own_profile(tmp_path, 'extends = "lab.toml"\nseed = 8', "night")
    economy, found = load_profile("economy"), load_profile(night)
    effort = replace(economy.judging.judgement, effort=Effort.HIGH)
    judging = replace(economy.judging, judgement=effort)
    assert load_profile(lab) == replace(economy, name="lab", judging=judging)
    assert found == replace(economy, name="night", judging=judging, seed=8)


def test_a_profile_that_extends_another_has_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('extends = "economy"')
    with pytest.raises(ConfigurationError, match="`name`: Field required"):
        load_profile(str(path))


def test_without_a_key_the_bundled_snapshot_is_the_literature(settings: Settings) -> None:
    assert resolve_literature(None, settings) == LiteratureChoice(bundled_file("papers.jsonl"))


def test_with_a_key_the_literature_is_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTIC_SCHOLAR_API_KEY", "a-key")
    assert resolve_literature(None, Settings()) == LIVE


@pytest.mark.parametrize(
    "text", ["snapshot:/nowhere/at/all.parquet", "snapshot:~/nowhere/at/all.parquet+live"]
)
def test_a_snapshot_that_is_not_there_is_refused(text: str, settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match=r"/nowhere/at/all\.parquet does not exist"):
        resolve_literature(LiteratureChoice.parse(text), settings)


def test_a_missing_idea_file_is_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not exist"):
        request_of(EVALUATE, (tmp_path / "none.jsonl",), RunOptions(), settings)


def test_full_text_is_off_for_snapshots_unless_asked(settings: Settings) -> None:
    options: list[dict[str, Any]] = [{}, {"full_text": True}, {"literature": LIVE}]
    assert [asked(**each).full_text for each in options] == [False, True, True]


@pytest.mark.parametrize(
    "engine, api_base",
    [("extractive", "http://localhost:8000/v1"), ("litellm:openai/x", "localhost:8000")],
)
def test_an_api_base_that_cannot_be_used_is_refused(engine: str, api_base: str) -> None:
    with pytest.raises(ConfigurationError, match="--api-base"):
        asked(engine=engine, api_base=api_base)


@pytest.mark.parametrize(
    "line",
    ["seed = 1979-05-27", "name = {a = 07:32:00}", "x = " + "[" * 3000 + "]" * 3000],
    ids=["date", "time", "deep"],
)
def test_a_profile_with_values_of_the_wrong_kind_is_one_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(line)
    with pytest.raises(ConfigurationError, match=r"profile .*mine\.toml") as raised:
        load_profile(str(path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "address",
    [
        "http://user:pass-word-1@host/v1",
        "http://host/v1?api_key=pass-word-1",
        "http://pass-word-1@host",
    ],
)
def test_an_address_with_a_key_in_it_is_refused_wherever_one_is_taken(
    address: str, settings: Settings, tmp_path: Path
) -> None:
    paper, model = bundled_file("ideas.jsonl"), EngineChoice("openai/x")
    takers = {
        "--api-base": [
            lambda: asked(engine=model, api_base=address),
            lambda: check_request([paper], engine=model, api_base=address),
            lambda: check_engine(
                model,
                address,
                settings,
                tmp_path,
                profile=load_profile("economy"),
                steps=(),
                budget=Budget(),
            ),
        ],
        "--literature": [lambda: resolve_literature(LiteratureChoice(url=address), settings)],
        "--judge": [
            lambda: check_request(
                [paper], engine=model, judge=(f"{model}@{address}",), reasons=paper
            )
        ],
    }
    for option, ways in takers.items():
        for take in ways:
            with pytest.raises(
                ConfigurationError, match=f"^{option} http://host.*leave out user, password, key"
            ) as error:
                take()
            assert "pass-word-1" not in one_line(error)


@pytest.mark.parametrize(
    ("engine", "profile", "assessed"),
    [
        ("litellm:openai/gpt-4.1", "economy", True),
        ("litellm:openai/gpt-4.1", "faithful", False),
        ("extractive", "economy", False),
    ],
)
def test_every_plan_is_assessed_by_a_model_unless_the_profile_asks_for_none(
    engine: str, profile: str, assessed: bool, tmp_path: Path
) -> None:
    request = asked(engine=engine, profile=profile, warehouse=tmp_path, modules="soundness")
    more = (Module.ASSESSMENT,) if assessed else ()
    assert request.parameters.modules == (Module.SOUNDNESS, *more)
    assert request.profile.soundness.summarise is not assessed


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"engine": "extractive"}, "the extractive engine assesses no plan"),
        (
            {"engine": "litellm:openai/gpt-4.1", "profile": "faithful"},
            "profile faithful asks for none",
        ),
    ],
)
def test_an_assessment_that_cannot_be_had_is_refused_in_one_line(
    given: dict[str, str], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        asked(warehouse=tmp_path, modules="assessment", **given)
