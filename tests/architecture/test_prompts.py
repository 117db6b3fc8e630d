"""Prompts that do not lead: no example names a value, a limit is said once, every answer is read."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from schemas.base import Reply
from tasks.judging.model_preflight import FIRST_CONTACT
from tasks.judging.step import Step
from tasks.judging.structured_output import strict_schema
from tasks.steps import STEPS

ROOT = Path(__file__).parents[2]
PRODUCT = ("tasks", "dashboards", "flows", "warehouse")
PLACEHOLDER = "…"
_NUMBER = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|fifty)"
)
_UNIT = (
    r"(?:short |whole |plain |full )*(?:words?|sentences?|paragraphs?|entries|claims|queries|boxes)"
)
STATIC_LIMIT = re.compile(
    rf"\b(?:at most|up to|no more than|not more than|in|of) {_NUMBER}"
    rf"(?:(?: to| or|-) ?{_NUMBER})? (?:plain |short |whole )?{_UNIT}\b"
    rf"|\b{_NUMBER} to {_NUMBER} {_UNIT}\b",
    re.IGNORECASE,
)
GIVEN_LIMIT = re.compile(r"\{\{ (maximum_\w+|word\w*|least_\w+) \}\}")
READ_WHOLE = {
    "StructureReply": "by part of the idea",
    "ScoreProbabilities": "by score",
    "PreferenceReply": "by criterion",
    "WeighReply": "as columns of the problem",
    "ReviewReply": "as columns of the review",
    "ProposedChange": "as a replacement in a program",
    "GreetingReply": "as a reply that can be read",
    "Number": "as a part of it",
}
"""Replies whose fields are read together, and how."""
EVERY = (*STEPS, FIRST_CONTACT)
every_step = pytest.mark.parametrize("step", EVERY, ids=lambda step: step.name)


def examples(step: Step[Any, Any]) -> list[str]:
    return [line for line in step.instructions.splitlines() if line.startswith('{"')]


def leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


@every_step
def test_an_example_answer_names_no_value(step: Step[Any, Any]) -> None:
    for example in examples(step):
        # Numbers, truth values and null are a placeholder without quotation marks.
        quoted = re.sub(rf'(?<!"){PLACEHOLDER}(?!")', f'"{PLACEHOLDER}"', example)
        assert set(leaves(json.loads(quoted))) == {PLACEHOLDER}, example


@every_step
def test_an_example_answer_names_the_fields_of_the_reply_and_no_others(
    step: Step[Any, Any],
) -> None:
    for example in examples(step):
        named = set(re.findall(r'"(\w+)":', example))
        assert named == {name for model in models(step.output_model) for name in model.model_fields}


@every_step
def test_a_fixed_limit_is_said_by_the_schema_and_not_by_the_prompt(step: Step[Any, Any]) -> None:
    # "With at most three words beside" is a rule about one sentence, and a program holds it.
    template = step.template.replace("at most three words beside", "")
    said = [match.group() for match in STATIC_LIMIT.finditer(template)]
    assert said == []


@every_step
def test_a_limit_of_the_profile_is_said_once(step: Step[Any, Any]) -> None:
    named = GIVEN_LIMIT.findall(step.template)
    assert len(named) == len(set(named)), named


@every_step
def test_the_schema_says_one_limit_of_a_field(step: Step[Any, Any]) -> None:
    schema = strict_schema(step.output_model)
    for shape in (schema, *schema.get("$defs", {}).values()):
        for name, field in shape.get("properties", {}).items():
            limits = re.findall(r"\bat most\b|\bup to\b", field.get("description", ""), re.I)
            assert len(limits) <= 1 or "maxItems" not in field, name
            assert not re.search(r"\b\d+ to \d+$|\bfrom \d+ to \d+\b", field.get("description", ""))


def models(model: type[Reply]) -> list[type[Reply]]:
    """The model of a reply, and those of its parts."""
    found = {model: None}
    for each in model.model_fields.values():
        for part in parts(each.annotation):
            found |= dict.fromkeys(models(part))
    return list(found)


def parts(annotation: Any) -> Iterator[type[Reply]]:
    if isinstance(annotation, type) and not get_args(annotation):
        if issubclass(annotation, Reply):
            yield annotation
        return
    for argument in get_args(annotation):
        yield from parts(argument)


@cache
def modules() -> dict[str, ast.Module]:
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): ast.parse(path.read_text("utf-8"))
        for folder in PRODUCT
        for path in (ROOT / folder).rglob("*.py")
    }


@cache
def imported(name: str) -> frozenset[str]:
    return frozenset(
        module
        for node in ast.walk(modules()[name])
        for module in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    )


@cache
def read_in(name: str) -> frozenset[str]:
    """Attributes that a module reads, and words by which `getattr` could."""
    return frozenset(
        node.attr if isinstance(node, ast.Attribute) else str(node.value)
        for node in ast.walk(modules()[name])
        if (isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    )


def readers(model: type[Reply]) -> list[str]:
    """The module of a model and those that import it; of a parent model's, too."""
    homes = {base.__module__ for base in model.__mro__ if issubclass(base, Reply)} - {
        Reply.__module__
    }
    return [name for name in modules() if name in homes or homes & imported(name)]


@every_step
def test_every_field_of_a_reply_is_read(step: Step[Any, Any]) -> None:
    for model in models(step.output_model):
        if model.__name__ in READ_WHOLE:
            continue
        seen = frozenset().union(*(read_in(name) for name in readers(model)))
        unread = set(model.model_fields) - seen
        assert not unread, f"{model.__name__} asks for what nobody reads: {sorted(unread)}"
