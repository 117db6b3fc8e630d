"""A judge that may have read the right answers while it was trained is flagged."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from dashboards.views.write_benchmark import BenchmarkPage
from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judgement.benchmark import BenchmarkHead
from schemas.options.benchmark_options import BenchmarkOptions
from tasks.benchmarks.published import training_until
from tasks.benchmarks.suites.decisions import SUITE as DECISIONS
from warehouse.warehouse import Warehouse

HEAD = BenchmarkHead(
    run_id=RunId("benchmark-a"),
    suite="decisions",
    engine="litellm:openai/gpt-4o",
    model_answered=None,
    profile="economy",
    seed=0,
    data_sha256="ab",
    prompt_sha256="cd",
    literature="",
    item_limit=None,
    evaluated_run_ids=(),
    llm_calls=4,
    prompt_tokens=1,
    completion_tokens=1,
    cost_usd=None,
    incomplete_reason=None,
    assay_version="0",
    started_at=datetime(2026, 1, 1, tzinfo=UTC),
    finished_at=datetime(2026, 1, 1, tzinfo=UTC),
    labels_public_since=DECISIONS.labels_public_since,
)


@pytest.mark.parametrize(
    ("engine", "until"),
    [
        ("litellm:openai/gpt-4o-2024-08-06", date(2023, 10, 31)),
        ("litellm:anthropic/claude-sonnet-4-20250514", date(2025, 3, 31)),
        ("litellm:gpt-5", date(2024, 9, 30)),
        ("litellm:anthropic/claude-sonnet-4-9", None),
        ("litellm:ollama/own-model", None),
        ("extractive", None),
    ],
)
def test_a_model_is_known_by_its_name_and_a_variant_is_not(engine: str, until: date | None) -> None:
    assert training_until(EngineChoice.parse(engine), None) == until


def test_what_the_user_states_counts_for_a_model_and_not_without_one() -> None:
    stated = date(2026, 1, 1)
    assert training_until(EngineChoice.parse("litellm:gpt-4o"), stated) == stated
    assert training_until(EngineChoice.parse("extractive"), stated) is None


def test_the_option_is_a_date() -> None:
    assert BenchmarkOptions(training_until="2025-02-01").training_until == date(2025, 2, 1)
    with pytest.raises(ConfigurationError, match="lately"):
        BenchmarkOptions(training_until="lately")


def notes(**changes: object) -> tuple[str, ...]:
    return BenchmarkPage(Warehouse(Path("nowhere")), replace(HEAD, **changes), ()).notes


def test_a_judge_trained_past_the_decisions_is_flagged_and_an_unknown_one_too() -> None:
    assert notes(judge_training_until=date(2023, 10, 31)) == ()
    (flagged,) = notes(judge_training_until=date(2025, 3, 31))
    assert "reach to 2025-03-31" in flagged
    assert "from 2025-01-22 on: it may know them" in flagged
    (unknown,) = notes()
    assert "is not known" in unknown
    assert notes(engine="extractive") == ()


def test_right_answers_whose_day_is_unknown_are_said_to_be() -> None:
    (note,) = notes(judge_training_until=date(2025, 3, 31), labels_public_since=None)
    assert note.endswith("could be read is not known.")
