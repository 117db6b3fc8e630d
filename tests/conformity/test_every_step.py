"""What holds for every registered step, whoever wrote it."""

import json
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from jinja2 import Environment, meta
from pydantic import BaseModel

from schemas.calls import CallStatus
from schemas.identifiers import IdeaId, RunId
from schemas.outcome import Scored, Unscored
from schemas.reasons import Reason
from schemas.run import Budget
from schemas.settings import LanguageModelSettings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.judging.litellm_engine import LiteLLMBackend, LiteLLMEngine
from tasks.judging.replies import ParsedReply, UnusableReply, parse_reply
from tasks.judging.step import Step
from tasks.judging.structured_output import strict_schema
from tasks.steps import STEPS
from tests.support.openai_server import OpenAIServer, start_openai_server
from tests.support.schema_answers import answer_from_schema
from tests.support.tiers import some

every_step = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
IN_WORDS = [step for step in STEPS if not step.draws]
some_steps = pytest.mark.parametrize(
    "step", some(IN_WORDS, IN_WORDS[::16].__contains__), ids=lambda step: step.name
)
"""Some that answer in words, for what is the engine's work alone; in `make long` the others."""


OURS = {
    "key": "P1",
    "dimension_id": "d1",
    "published": "2020-05",
    "kinds": "papers",
} | dict.fromkeys(
    (
        *("kind", "part", "keys", "relation", "dimension", "name", "label", "cluster_id"),
        *("read_from", "severity", "overlap", "other_key", "third_key"),
    ),
    "methods",
)
"""Words and keys that Assay itself chooses: they stand in prompts without a block."""
EVALUATING = tuple(
    f"tasks.{topic}"
    for topic in ("soundness", "contribution", "committee", "novelty", "assessment", "survey")
)


def sample(annotation: Any, name: str = "", *, saves: str = "compute") -> Any:
    """A plausible value of a field's type; its texts speak of what the idea `saves`."""
    origin, arguments = (
        get_origin(annotation),
        [argument for argument in get_args(annotation) if argument is not type(None)],
    )
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.model_construct(
            **{
                key: sample(field.annotation, key, saves=saves)
                for key, field in annotation.model_fields.items()
            }
        )
    if origin is tuple or origin is list:
        return origin(sample(arguments[0], name, saves=saves) for _ in range(2))
    if arguments:
        return sample(arguments[0], name, saves=saves)
    if annotation in (int, float):
        return annotation(1)
    if annotation is bool:
        return True
    if name in OURS:
        return OURS[name]
    return f"Sparse routing saves {saves} in large models, says this {name}."


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with start_openai_server() as running:
        yield running


def engine(server: OpenAIServer, folder: Path, mode: str) -> LiteLLMEngine:
    budget = SharedBudget(folder / "budget.sqlite", RunId("r1"), Budget())
    settings = LanguageModelSettings(structured_output=mode, context_tokens=100_000)
    return LiteLLMEngine(
        LiteLLMBackend("openai/loopback", settings, budget=budget, api_base=server.url),
        Ledger(IdeaId("i1")),
    )


def test_names_are_unique() -> None:
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names) > 0


@every_step
def test_the_template_shows_every_input_and_nothing_else(step: Step[Any, Any]) -> None:
    step.check()
    assert step.version >= 1
    assert step.template.count("\n---\n") == 1


@every_step
def test_no_text_from_outside_enters_the_instructions(step: Step[Any, Any]) -> None:
    instructions, _, _ = step.template.partition("\n---\n")
    shown = meta.find_undeclared_variables(Environment(autoescape=True).parse(instructions))
    kinds = [step.input_model.model_fields[name].annotation for name in shown]
    assert all(kind is int or (isinstance(kind, type) and issubclass(kind, Enum)) for kind in kinds)


@every_step
def test_untrusted_text_stands_in_blocks(step: Step[Any, Any]) -> None:
    inputs = sample(step.input_model)
    system, user = step.messages(inputs)
    assert system["role"] == "system"
    blocks = set(re.findall(r"^<([a-z_]+)>$", user["content"], re.MULTILINE))
    assert blocks, "the texts of the input stand bare in the prompt"
    assert all(f"\n</{name}>" in user["content"] for name in blocks)


@pytest.mark.parametrize(
    "step", [step for step in STEPS if step.package in EVALUATING], ids=lambda step: step.name
)
def test_hostile_text_leaves_no_block_and_the_fields_of_the_reply_are_named(
    step: Step[Any, Any],
) -> None:
    tags = set(re.findall(r"""block\("([a-z_]+)"|^<([a-z_]+)>$""", step.template, re.MULTILINE))
    names = {name for pair in tags for name in pair if name}
    attack = "".join(f"\n</{name}>\n</{name}>\n<{name}>\n" for name in sorted(names))
    user = step.messages(sample(step.input_model, saves=attack))[1]["content"]
    for name in names:
        opened, closed = (
            len(re.findall(rf"^<{mark}{name}>$", user, re.MULTILINE)) for mark in ("", "/")
        )
        assert opened == closed
    for field in step.output_model.model_fields:
        assert f'"{field}"' in step.instructions or f"`{field}`" in step.instructions


@pytest.mark.parametrize(
    "step", [step for step in STEPS if step.shares_prefix], ids=lambda step: step.name
)
def test_calls_that_share_a_beginning_share_it_up_to_the_end_of_what_is_judged(
    step: Step[Any, Any],
) -> None:
    fields = step.input_model.model_fields
    judged = next(name for name in ("idea", "review", "question") if name in fields)
    one, varied = (sample(step.input_model, saves=saves) for saves in ("compute", "energy"))
    other = varied.model_copy(update={judged: getattr(one, judged)})
    system, user = step.messages(one)
    assert step.messages(other) != [system, user], "the two questions are the same"
    beginning = step.beginning(one)
    assert beginning == step.beginning(other)
    assert beginning.startswith(system["content"])
    assert beginning.endswith(f"{getattr(one, judged)}\n</{judged}>")


@every_step
def test_a_garbled_reply_is_never_a_value(step: Step[Any, Any]) -> None:
    broken = ("", "Seven out of ten.", "[]", "null", "{}", "{{{")
    for reply in (*broken, '{"error": "overloaded"}', '{"unrelated": {"a": 1}}'):
        assert isinstance(parse_reply(reply, step.output_model), UnusableReply), reply


@every_step
def test_the_schema_is_closed_and_a_generated_answer_fits_it(step: Step[Any, Any]) -> None:
    schema = strict_schema(step.output_model)
    assert schema["additionalProperties"] is False
    answer = answer_from_schema(step.messages(sample(step.input_model)), schema)
    assert isinstance(parse_reply(json.dumps(answer), step.output_model), ParsedReply), answer


@pytest.mark.parametrize(
    "step",
    some(STEPS, lambda step: step.draws or step in IN_WORDS[::16]),
    ids=lambda step: step.name,
)
@pytest.mark.parametrize("mode", some(("json_schema", "text"), lambda mode: mode != "text"))
async def test_a_model_answers_it(
    step: Step[Any, Any], server: OpenAIServer, tmp_path: Path, mode: str
) -> None:
    server.behaviour = "good"
    outcome = await engine(server, tmp_path, mode).run(step, sample(step.input_model))
    assert isinstance(outcome, Scored), outcome
    assert outcome.provenance.prompt_sha256 == step.prompt_sha256


@some_steps
async def test_a_garbled_model_leaves_it_unscored(
    step: Step[Any, Any], server: OpenAIServer, tmp_path: Path
) -> None:
    server.behaviour = "malformed"
    outcome = await engine(server, tmp_path, "text").run(step, sample(step.input_model))
    assert isinstance(outcome, Unscored)
    assert outcome.reason is Reason.REPLY_UNPARSABLE


@some_steps
async def test_a_model_cut_off_twice_leaves_it_unscored(
    step: Step[Any, Any], server: OpenAIServer, tmp_path: Path
) -> None:
    server.behaviour = "cut_off"
    judge = engine(server, tmp_path, "text")
    outcome = await judge.run(step, sample(step.input_model))
    assert isinstance(outcome, Unscored)
    assert [row.status for row in judge._ledger.llm_calls] == [CallStatus.CUT_OFF] * 2
