"""Every option is declared once, on its command's model, and is read alike everywhere."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from flows.cli.command_line import application
from schemas.choices import EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.judgement.ranking import Grouping
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.options.commands import EvaluateOptions, PlanOptions, RankOptions, RunOptions
from schemas.options.values import Options
from schemas.run import Module
from schemas.works.check_run import CheckOptions

CONTRACT = {
    "evaluate": "warehouse profile engine api-base literature modules cutoff workers scheduler "
    "max-cost-usd max-requests json",
    "plan": "warehouse profile engine api-base literature modules cutoff max-cost-usd json compare",
    "rank": "warehouse profile engine group-by method votes scores literature modules json",
    "check": "warehouse engine api-base form problems attempts judge repetitions reasons json",
    "benchmark": "data engine modules run limit without baselines seed compare calibrate dry-run",
    "report": "warehouse idea format",
    "sql": "warehouse json",
}
ASKED = (
    EvaluateOptions(
        warehouse=Path("w"),
        engine=EngineChoice("openai/gpt-5"),
        literature=LiteratureChoice(Path("/data/papers"), then_live=True),
        modules=(Module.NOVELTY, Module.SOUNDNESS),
        cutoff=date(2025, 6, 30),
        max_cost_usd=2.5,
        full_text=False,
        rank=True,
        label="--engine=extractive",
    ),
    PlanOptions(compare=("openai/gpt-5,o3", "--help"), full_text=True),
    RankOptions(group_by=Grouping.CLUSTERS, modules=(Module.COMMITTEE,), votes=Path("v.csv")),
    CheckOptions(judge=("litellm:openai/a@http://127.0.0.1:1/v1", "extractive"), problems=3),
    BenchmarkOptions(data=Path("d"), baselines="none", check_links=True, seed=3),
)


def every_option() -> Iterator[tuple[str, Any]]:
    """Commands and their options, as the command line knows them."""

    def walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        for part, below in getattr(command, "commands", {}).items():
            yield from walk(below, f"{name} {part}".strip())
        for parameter in command.params if name else ():
            if parameter.param_type_name == "option":
                yield name, parameter

    yield from walk(get_command(application()), "")


@pytest.mark.parametrize("command", CONTRACT)
def test_names_that_scripts_use_stay(command: str) -> None:
    there = {name for each, option in every_option() if each == command for name in option.opts}
    assert {f"--{name}" for name in CONTRACT[command].split()} <= there


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: type(asked).__name__)
def test_options_written_as_json_are_read_as_the_same_options(asked: Options) -> None:
    assert type(asked).model_validate_json(asked.model_dump_json()) == asked


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"workers": 0}, "--workers 0: Input should be greater than or equal to 1"),
        ({"max_cost_usd": -1.0}, "--max-cost-usd -1.0: Input should be greater than or equal to 0"),
        ({"modules": "taste"}, "--modules 'taste': taste; choose from soundness"),
        ({"cutoff": "yesterday"}, "--cutoff 'yesterday' is not a date; write it as YYYY-MM-DD"),
        ({"cutoff": "9999-12-31"}, "--cutoff '9999-12-31' is not a date"),
        ({"engine": "gpt"}, "unknown engine 'gpt'"),
        ({"literature": "papers.parquet"}, "--literature 'papers.parquet': write snapshot:PATH"),
    ],
)
def test_a_value_that_cannot_be_meant_is_one_line_in_python_too(
    given: dict[str, Any], line: str
) -> None:
    for read in (lambda: RunOptions(**given), lambda: RunOptions.model_validate(given)):
        with pytest.raises(ConfigurationError) as raised:
            read()
        assert str(raised.value).startswith(line)
        assert "\n" not in str(raised.value)
