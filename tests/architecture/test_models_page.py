"""What docs/guides/models.md says: its tables are those of today's prices and plan, its profiles can be
used.
"""

import re

import pytest

from flows.profiles import load_profile
from flows.works.evaluate.request import check_judging
from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.judging import AskingParameters
from schemas.settings import LanguageModelSettings
from tasks.judging.expected import EXPECTED_THINKING_TOKENS
from tests.model_costs.__main__ import MODELS, PAGE, costs, mixed, with_costs

TEXT = PAGE.read_text("utf-8")


def test_the_tables_of_costs_are_those_of_today() -> None:
    assert with_costs(TEXT) == TEXT, "make costs"


def test_every_model_and_every_assignment_has_its_line_in_every_table() -> None:
    tables = costs(TEXT)
    names = [*MODELS, *(name for name, _ in mixed(TEXT))]
    assert len(names) == len(MODELS) + TEXT.count("```toml") == len(MODELS) + 2
    assert {name: tables.count(f"| {name} |") for name in names} == dict.fromkeys(names, 2)


@pytest.mark.parametrize("name", [name for name, _ in mixed(TEXT)])
def test_every_assignment_shown_can_be_used(name: str) -> None:
    judging = dict(mixed(TEXT))[name]
    check_judging(replace(load_profile("economy"), judging=judging), EngineChoice("openai/gpt-5"))


def test_the_page_names_every_key_of_an_assignment() -> None:
    missing = [key for key in AskingParameters.model_fields if f"| `{key}` |" not in TEXT]
    assert missing == []


def test_the_settings_it_names_exist() -> None:
    named = set(re.findall(r"ASSAY_LANGUAGE_MODEL__([A-Z_]+)", TEXT))
    assert named
    assert {name.lower() for name in named} <= set(LanguageModelSettings.model_fields)


def test_it_tells_the_thinking_a_plan_expects() -> None:
    low, medium, high = (
        f"{EXPECTED_THINKING_TOKENS[effort]:,}" for effort in list(EXPECTED_THINKING_TOKENS)[1:]
    )
    assert (
        f"{low} tokens of it in a call at low effort, {medium} at\nmedium and {high} at high"
        in TEXT
    )
