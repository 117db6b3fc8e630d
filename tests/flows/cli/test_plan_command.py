"""`assay plan --compare`: what the same run would cost with other models, without a key and without
a network.
"""

import json
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from flows.cli.evaluate.plan import plan
from flows.run.gateway import open_gateway
from flows.run.requests import request_of
from flows.works.evaluate.plan import KeyedBatch, key_batch
from flows.works.evaluate.prediction import FieldForecast
from flows.works.evaluate.request import bundled_file
from schemas.base import replace
from schemas.choices import EngineChoice, LiteratureChoice
from schemas.options.commands import PlanOptions
from schemas.reasons import Reason
from schemas.run import Budget, Module, PlannedRun
from schemas.settings import Settings
from tasks.evaluation.work import EVALUATE
from tasks.ideas.read import read_batch
from tests.support.evaluations import make_evaluation
from warehouse.kinds.runs.landing import land
from warehouse.progress import announce
from warehouse.warehouse import Warehouse

IDEAS = bundled_file("ideas.jsonl")
KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "SEMANTIC_SCHOLAR_API_KEY",
    "S2_API_KEY",
)
MODELS = "openai/gpt-5-mini, openai/of-our-own ,anthropic/claude-opus-4-7"
TOKENS = ("model_calls", "prompt_tokens", "cached_tokens", "thinking_tokens", "completion_tokens")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the index of the bundled sample is built once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """No key is set, and nothing can be reached."""
    monkeypatch.setenv("ASSAY_HOME", str(home))
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)

    def refuse(*_: object) -> None:
        raise AssertionError("a plan must not connect to anything")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def unlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ideas are not held against the literature, which takes half a second for each."""
    monkeypatch.setattr(
        "flows.works.evaluate.prediction.forecast_fields", lambda *_: FieldForecast()
    )


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Three ideas in a file, beside the warehouse."""
    path = tmp_path / "few.jsonl"
    path.write_text("".join(IDEAS.read_text().splitlines(keepends=True)[:3]))
    return path


def planned_with(ideas: Path, options: PlanOptions, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert plan(ideas, options, json=True) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("unlooked")
def test_models_are_compared_by_cost_and_an_unknown_price_stands_last(
    few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = PlanOptions(engine="litellm:openai/gpt-4.1", compare=(MODELS, "openai/gpt-5-mini"))
    told = planned_with(few, options, capsys)
    lines = told["comparison"]
    assert [line["engine"] for line in lines] == [
        "litellm:openai/gpt-5-mini",
        "litellm:openai/gpt-4.1",
        "litellm:anthropic/claude-opus-4-7",
        "litellm:openai/of-our-own",
    ]
    assert lines[-1]["cost_usd"] is lines[-1]["cost_usd_per_idea"] is None
    assert lines[-1]["unpriced_models"] == ["openai/of-our-own"]
    own = lines[1]
    assert {name: own[name] for name in TOKENS} == {name: told[name] for name in TOKENS}
    assert (
        own["cost_usd"]
        == pytest.approx(3 * own["cost_usd_per_idea"])
        == pytest.approx(told["cost_usd"])
    )


@pytest.mark.usefixtures("unlooked")
def test_what_scripts_read_from_a_plan_is_still_there(
    few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = planned_with(few, PlanOptions(engine="litellm:openai/gpt-5"), capsys)
    assert "comparison" not in told
    before = (
        "ideas",
        "rejected",
        "literature_requests",
        "model_calls",
        "prompt_tokens",
        "completion_tokens",
    )
    assert {*before, "cost_usd", "hours", "bound_by", "steps", "ranking"} <= set(told)
    assert {"step", "calls", "prompt_tokens", "completion_tokens"} <= set(told["steps"][0])
    assert {
        "groups",
        "pairs",
        "model_calls",
        "prompt_tokens",
        "completion_tokens",
        "cost_usd",
    } <= set(told["ranking"])


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in which a table keeps its lines."""
    monkeypatch.setenv("COLUMNS", "160")


@pytest.mark.usefixtures("wide", "unlooked")
def test_the_table_names_an_unknown_price(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(few, PlanOptions(compare=("openai/of-our-own,openai/o3",))) == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if "of-our-own" in line)
    assert line.count("unknown price") == 2
    assert "litellm:openai/o3" in out
    assert "litellm:extractive" not in out


@pytest.mark.usefixtures("wide", "unlooked")
def test_models_that_a_profile_names_stay_and_that_is_said(
    tmp_path: Path, few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path(__file__).parents[3].joinpath("flows/profiles/economy.toml").read_text("utf-8")
    own = tmp_path / "mixed.toml"
    own.write_text(text.replace("[judging.judgement]", '[judging.judgement]\nmodel = "openai/o3"'))
    options = PlanOptions(
        profile=str(own), engine="litellm:openai/gpt-4.1", compare=("openai/gpt-5",)
    )
    assert plan(few, options) == 0
    out, err = capsys.readouterr()
    assert "openai/o3" in err
    assert "soundness_review" in out
    assert any("soundness_review" in line and "openai/o3" in line for line in out.splitlines())


def test_rejected_entries_are_told_with_place_and_reason_and_what_they_do_to_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ideas = tmp_path / "ideas.jsonl"
    good = IDEAS.read_text().splitlines()[0]
    ideas.write_text(f'{good}\n{{"text": "Use transformers"}}\n')
    place = "ideas.jsonl line 2"
    assert plan(ideas, PlanOptions()) == 0
    err = capsys.readouterr().err
    assert f"rejected: {place} (too short): the text has fewer than 5 words" in err
    assert "will exit 1: 1 of 2 entries are rejected, and 10% are allowed" in err
    assert "literature: the bundled sample of 248 papers, a demonstration" in err
    assert plan(ideas, PlanOptions(), json=True) == 0
    told = json.loads(capsys.readouterr().out)
    (rejected,) = told["rejected_entries"]
    assert (rejected["location"], rejected["reason"]) == (place, "too_short")
    assert told["allowed_unscored_share"] == 0.1
    assert "will exit 1" in told["warnings"][0]


FOREIGN = (
    "Crowding of larvae changes the host seeking of mosquitoes. We will rear Aedes aegypti larvae at"
    " three densities, measure wing length and fecundity of the females, and offer blood meals in an"
    " olfactometer; biting rate and survival are compared by mixed models."
)


def test_a_plan_names_ideas_outside_the_literature_and_leaves_out_their_evidence(
    few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = PlanOptions(engine="litellm:openai/gpt-5")
    assert plan(few, options, json=True) == 0
    covered = json.loads(capsys.readouterr().out)
    assert covered["field_coverage"]["looked_at"] == 3
    assert covered["field_coverage"]["not_covered"] == []
    *kept, _ = few.read_text().splitlines()
    foreign = json.dumps({"idea_id": "mosquitoes", "title": "Mosquitoes", "text": FOREIGN})
    few.write_text("\n".join([*kept, foreign]))
    assert plan(few, options, json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["idea_id"] for each in told["field_coverage"]["not_covered"]] == ["mosquitoes"]
    per_idea = covered["model_calls"] / 3
    # The officer's questions and the plan's review; concerns weighed, challenged; asked three times.
    reviewed_and_assessed = 1 + 1 + 2 + 3
    assert told["model_calls"] == pytest.approx(2 * per_idea + reviewed_and_assessed, abs=1)
    assert told["not_covered"] == 1
    assert told["cost_usd"] < covered["cost_usd"]
    assert plan(few, options) == 0
    err = " ".join(capsys.readouterr().err.split())
    assert "the literature covers the field of 2 of 3 ideas" in err
    assert "no evidence is bought for them: Mosquitoes" in err


def test_a_plan_does_not_look_at_fields_in_the_live_literature(
    few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plan(few, PlanOptions(literature=LiteratureChoice()), json=True) == 0
    assert json.loads(capsys.readouterr().out)["field_coverage"]["looked_at"] == 0


def test_a_plan_says_that_a_large_file_has_no_index_yet(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    papers = tmp_path / "papers.jsonl"
    papers.write_bytes(bundled_file("papers.jsonl").read_bytes())
    monkeypatch.setattr("flows.works.evaluate.prediction._INDEXED_AT_ONCE_BYTES", 1_000)
    assert plan(few, PlanOptions(literature=LiteratureChoice(papers))) == 0
    assert "papers.jsonl has no index yet" in " ".join(capsys.readouterr().err.split())


def key_ideas(ideas: Path, options: PlanOptions) -> KeyedBatch:
    """Ideas with the keys that `assay evaluate` gives them."""
    settings = Settings()
    request = request_of(EVALUATE, (ideas,), options, settings)
    batch = read_batch(ideas, default_cutoff=None)
    with open_gateway(request.literature, Warehouse(options.warehouse, settings)) as gateway:
        return key_batch(batch, request, settings, gateway.literature)


def land_ideas(
    options: PlanOptions, keyed: KeyedBatch, run_id: str, count: int, replies: int = 0
) -> None:
    """Land `count` ideas under `run_id`; the last one ended early after `replies`, if any."""
    for number, entry in enumerate(keyed.planned[:count]):
        partly = replies and number == count - 1
        made = make_evaluation(number, run_id=run_id, calls=replies or 6, idea=entry.idea)
        land(
            Warehouse(options.warehouse),
            replace(made, evaluation_key=entry.evaluation_key),
            incomplete_reason=Reason.BUDGET_EXHAUSTED if partly else None,
        )


def begin(ideas: Path, options: PlanOptions, keyed: KeyedBatch) -> None:
    """Write down that the run of these ideas was begun."""
    begun = PlannedRun(
        run_id=keyed.run_id,
        idea_count=len(keyed.planned),
        rejected_count=0,
        engine=options.engine.text,
        profile="economy",
        modules=(Module.SOUNDNESS, Module.CONTRIBUTION),
        budget=Budget(),
        ideas_path=str(ideas),
        started_at=datetime.now(UTC),
    )
    announce(Warehouse(options.warehouse), begun)


@pytest.mark.usefixtures("unlooked")
@pytest.mark.parametrize("run_id", ["", "an-earlier-run"])
def test_what_is_evaluated_already_costs_nothing_again(
    tmp_path: Path, few: Path, capsys: pytest.CaptureFixture[str], run_id: str
) -> None:
    engine = EngineChoice.named("openai/gpt-4.1")
    options = PlanOptions(engine=engine, warehouse=tmp_path / "warehouse")
    before = planned_with(few, options, capsys)
    keyed = key_ideas(few, options)
    land_ideas(options, keyed, run_id or keyed.run_id, 2)
    told = planned_with(few, options, capsys)
    assert (told["ideas"], told["evaluated"]) == (3, 2)
    assert told["cost_usd"] == pytest.approx(before["cost_usd"] / 3)
    assert told["without_earlier_runs"]["cost_usd"] == pytest.approx(before["cost_usd"])
    with_another = replace(options, engine=EngineChoice.named("openai/o3"))
    assert planned_with(few, with_another, capsys)["evaluated"] == 0
    land_ideas(options, keyed, run_id or keyed.run_id, 3)
    told = planned_with(few, options, capsys)
    figures = ("literature_requests", "model_calls", "prompt_tokens", "completion_tokens")
    assert [told[name] for name in (*figures, "cost_usd", "hours")] == [0] * 6
    assert told["without_earlier_runs"]["model_calls"] == before["model_calls"]
    assert plan(few, options) == 0
    assert "3 of 3 ideas are already evaluated; nothing to pay" in capsys.readouterr().err


@pytest.mark.usefixtures("unlooked")
def test_replies_to_partly_evaluated_ideas_are_subtracted_and_others_named(
    tmp_path: Path, few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = EngineChoice.named("openai/gpt-4.1")
    options = PlanOptions(engine=engine, warehouse=tmp_path / "warehouse")
    before = planned_with(few, options, capsys)
    keyed = key_ideas(few, options)
    land_ideas(options, keyed, keyed.run_id, 2, replies=10)
    begin(few, options, keyed)
    told = planned_with(few, options, capsys)
    assert (told["evaluated"], told["partly_evaluated"], told["interrupted_ideas"]) == (1, 1, 1)
    assert told["model_calls"] == round(before["model_calls"] * 2 / 3 - 10)
    assert plan(few, options) == 0
    err = capsys.readouterr().err
    assert "1 of 3 ideas partly evaluated; cached replies that are not counted again: 10" in err
    assert "a stopped run left 1 idea unfinished" in err


@pytest.mark.usefixtures("unlooked")
def test_a_run_that_was_stopped_before_anything_landed_is_named(
    tmp_path: Path, few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = EngineChoice.named("openai/gpt-4.1")
    options = PlanOptions(engine=engine, warehouse=tmp_path / "warehouse")
    begin(few, options, key_ideas(few, options))
    assert planned_with(few, options, capsys)["interrupted_ideas"] == 3
    assert plan(few, options) == 0
    assert "a stopped run left 3 ideas unfinished" in capsys.readouterr().err


def test_ideas_evaluated_against_live_literature_are_subtracted_without_a_gateway(
    tmp_path: Path, few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = PlanOptions(warehouse=tmp_path / "warehouse", literature=LiteratureChoice())
    keyed = key_ideas(few, options)
    land_ideas(options, keyed, keyed.run_id, 2)
    assert planned_with(few, options, capsys)["evaluated"] == 2
    assert not Warehouse(options.warehouse).cache.exists()


@pytest.mark.usefixtures("unlooked")
@pytest.mark.parametrize("reason", ["snapshot", "catalogue"])
def test_a_snapshot_or_catalogue_out_of_reach_leaves_a_plan_with_a_note(
    reason: str,
    tmp_path: Path,
    few: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = PlanOptions(warehouse=tmp_path / "warehouse")
    keyed = key_ideas(few, options)
    land_ideas(options, keyed, keyed.run_id, 3)
    if reason == "snapshot":
        (tmp_path / "empty").mkdir()
        options = replace(options, literature=LiteratureChoice(tmp_path / "empty"))
    else:
        monkeypatch.setenv("ASSAY_CATALOGUE_URL", "postgresql://127.0.0.1:9/assay")
    assert plan(few, options) == 0
    (note,) = (line for line in capsys.readouterr().err.splitlines() if "looked up" in line)
    assert "earlier runs could not be looked up because" in note
    assert reason in note


def test_a_plan_says_when_earlier_runs_cannot_be_looked_up(
    tmp_path: Path, few: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # a gateway may be asked
    Warehouse(tmp_path).receipts.mkdir(parents=True)
    literature = LiteratureChoice(url="http://127.0.0.1:9")
    told = planned_with(few, PlanOptions(warehouse=tmp_path, literature=literature), capsys)
    assert told["evaluated"] == 0
    assert "no literature gateway answers" in told["earlier_runs_unknown_because"]
