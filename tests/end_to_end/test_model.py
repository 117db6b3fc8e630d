"""A real engine over HTTP: an OpenAI-shaped server on loopback."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dashboards.views.write_nightly import write_nightly
from tests.support.assay_command import assay, evaluation, rows, some_ideas
from tests.support.demo_run import DemoRun
from tests.support.openai_server import OpenAIServer, Recorded, start_openai_server
from tests.support.reports import run_report
from tests.support.site import opened as page_of
from tests.support.site import site_of
from warehouse.warehouse import Warehouse

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with start_openai_server() as running:
        yield running


@pytest.fixture(scope="module")
def ideas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return some_ideas(tmp_path_factory.mktemp("ideas") / "two.jsonl", 2)


def arguments(ideas: Path, warehouse: Path, server: OpenAIServer) -> list[str]:
    engine = ["--engine", "litellm:openai/judge", "--api-base", server.url]
    return evaluation(ideas, warehouse, *engine, "--json")


@pytest.fixture(scope="module")
def model_env(env: dict[str, str]) -> dict[str, str]:
    prices = {
        "ASSAY_LANGUAGE_MODEL__PROMPT_PRICE_USD_PER_MILLION_TOKENS": "2.0",
        "ASSAY_LANGUAGE_MODEL__COMPLETION_PRICE_USD_PER_MILLION_TOKENS": "8.0",
    }
    return {**env, **prices, "OPENAI_API_KEY": "sk-very-secret-key"}


@pytest.fixture(scope="module")
def judged(
    server: OpenAIServer,
    ideas: Path,
    model_env: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> DemoRun:
    """A batch that a model has judged."""
    warehouse = tmp_path_factory.mktemp("judged") / "warehouse"
    done = assay(*arguments(ideas, warehouse, server), env=model_env)
    assert done.returncode == 0, done.stderr
    return DemoRun(warehouse, done.stdout, done.stderr)


def test_every_call_of_a_batch_judged_by_a_model_is_on_the_bill(judged: DemoRun) -> None:
    calls = rows(
        judged.warehouse,
        "select status, cost_usd, prompt_tokens, model_answered, prompt_sha256 from llm_calls",
    )
    assert len(calls) >= 20
    assert all(call["cost_usd"] > 0 for call in calls if call["status"] != "cached")
    (costs,) = rows(judged.warehouse, "from run_costs")
    assert costs["cost_usd"] == pytest.approx(sum(call["cost_usd"] for call in calls))
    scores = rows(judged.warehouse, "select score from idea_scores")
    assert len([row for row in scores if row["score"] is not None]) == 2


def test_a_second_run_under_another_label_pays_for_nothing_again(
    judged: DemoRun, server: OpenAIServer, ideas: Path, model_env: dict[str, str], tmp_path: Path
) -> None:
    warehouse = Path(shutil.copytree(judged.warehouse, tmp_path / "warehouse"))
    paid = len(server.requests)
    again = assay(*arguments(ideas, warehouse, server), "--label", "again", env=model_env)
    assert again.returncode == 0, again.stderr
    assert len(server.requests) - paid <= 1, "only the preflight call may be new"


def test_a_run_that_reaches_its_budget_ends_with_exit_code_3_and_lands_what_it_paid_for(
    server: OpenAIServer, ideas: Path, model_env: dict[str, str], tmp_path: Path
) -> None:
    warehouse = tmp_path / "warehouse"
    done = assay(*arguments(ideas, warehouse, server), "--max-cost-usd", "0.05", env=model_env)
    assert done.returncode == 3, done.stderr
    run = json.loads(done.stdout)["run"]
    assert run["state"] == "budget_exhausted"
    calls = rows(warehouse, "select cost_usd from llm_calls")
    assert calls
    assert sum(call["cost_usd"] or 0 for call in calls) < 0.15
    richer = assay(*arguments(ideas, warehouse, server), env=model_env)
    assert richer.returncode == 0, richer.stderr
    assert json.loads(richer.stdout)["run"]["state"] == "published"


def test_a_run_whose_every_reply_is_unusable_exits_1_and_every_place_says_why_first(
    ideas: Path, model_env: dict[str, str], tmp_path: Path
) -> None:
    warehouse = tmp_path / "warehouse"
    why = (
        "2 of 2 ideas without any score: the engine's reply could not be read (2, most often: no"
        " JSON in the reply: As I said, it depends)"
    )
    with start_openai_server(_only_the_first_is_good) as garbling:
        command = [each for each in arguments(ideas, warehouse, garbling) if each != "--json"]
        done = assay(*command, env=model_env)
    assert done.returncode == 1, done.stderr
    said = next(line for line in (done.stdout + done.stderr).splitlines() if "in order" in line)
    assert why in said
    opened = Warehouse(warehouse)
    with opened.queries() as queries:
        (run,) = queries.list_runs()
    assert (run.in_order, run.states_in_words) == (
        False,
        "0 scored, 0 partly scored, 2 unscored, 0 rejected",
    )
    opening = run_report(opened, run.run_id, "md").splitlines()[2]
    assert why in opening
    today = page_of(site_of(opened), "/")
    assert why in today.tree.xpath("//*[@role='status']")[0].text
    assert "2 unscored" in today.words
    night = write_nightly(opened, datetime.now(UTC), {"two.jsonl": ""}, [run.run_id])
    assert why in night.markdown.split("## Run")[1].splitlines()[2]


def _only_the_first_is_good(recorded: Recorded) -> str:
    """The check before a run is answered; whatever the run asks is not."""
    return "good" if recorded.number == 1 else "text:As I said, it depends."
