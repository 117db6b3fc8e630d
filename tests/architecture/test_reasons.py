"""One list says why something was not had and whether it may pass;
no other list of reasons exists.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.reasons import Passes, Reason, first_that_may_pass, may_pass, reason_named

ROOT = Path(__file__).parents[2]
WORDS = frozenset(Reason)
NAMES = frozenset(Reason.__members__)
PROJECT = sorted(
    path
    for folder in ("schemas", "tasks", "warehouse", "flows", "dashboards")
    for path in (ROOT / folder).rglob("*.py")
    if path.relative_to(ROOT).as_posix() != "schemas/reasons.py"
)


def _is_reason(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in WORDS and "_" in node.value
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Reason"
        and node.attr in NAMES
    )


def _lists_of_reasons(tree: ast.AST) -> Iterator[int]:
    """Lines with a set, list, tuple or dictionary of which all members or keys are reasons.

    What a source says of mending its refusals (`mend=`) is no such list.
    """
    hints = {
        id(each.value)
        for each in ast.walk(tree)
        if isinstance(each, ast.keyword) and each.arg == "mend"
    }
    for node in ast.walk(tree):
        if id(node) in hints:
            continue
        members: list[ast.expr | None] = []
        if isinstance(node, ast.Set | ast.List | ast.Tuple):
            members = [*node.elts]
        elif isinstance(node, ast.Dict):
            members = [*node.keys]
        if len(members) > 1 and all(_is_reason(member) for member in members):
            yield node.lineno


def test_no_other_list_of_reasons_exists() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in PROJECT
        for line in _lists_of_reasons(ast.parse(path.read_text()))
    ]
    assert found == [], "derive it from what schemas/reasons.py says of each reason"


@pytest.mark.parametrize(
    "source",
    [
        'MENDABLE = {"rate_limited", "server_error"}',
        "AGAIN = (Reason.TIMEOUT, Reason.UNREACHABLE)",
        'WORDS = {"circuit_open": 1, "not_found": 2}',
    ],
)
def test_a_list_of_reasons_would_be_found(source: str) -> None:
    assert list(_lists_of_reasons(ast.parse(source))) == [1]


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_sentence_for_people(reason: Reason) -> None:
    assert len(reason.sentence.split()) > 2
    assert not reason.sentence.endswith(".")
    assert reason_named(reason.value) is reason


@pytest.mark.parametrize("reason", Reason)
def test_what_is_sent_again_at_once_also_passes_by_itself(reason: Reason) -> None:
    assert reason.passes is Passes.BY_ITSELF or not reason.again_at_once


def test_an_answer_that_could_not_be_read_may_pass_like_a_source_that_failed() -> None:
    assert may_pass(Reason.MALFORMED_ANSWER)
    assert may_pass(Reason.SERVER_ERROR)
    assert not may_pass(Reason.AFTER_CUTOFF)
    assert not may_pass(None)


def test_of_several_reasons_the_budget_is_named_first() -> None:
    reasons = (Reason.RATE_LIMITED, None, Reason.REFUSED, Reason.BUDGET_EXHAUSTED)
    assert first_that_may_pass(reasons) is Reason.BUDGET_EXHAUSTED


def test_a_source_that_did_not_answer_is_asked_again_for_the_reason_of_its_look_up_only() -> None:
    assert first_that_may_pass([Reason.SOURCE_UNAVAILABLE]) is None
    reasons = (Reason.SOURCE_UNAVAILABLE, Reason.UNREACHABLE)
    assert first_that_may_pass(reasons) is Reason.UNREACHABLE
