"""The loop over items: kept as they come, asked once, and asked again only where it may help; and
files of data sets, whoever made them.
"""

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.benchmarks import records, suite
from tasks.benchmarks.items import ItemContext, ItemResult, OutcomeResult, process_items
from tasks.benchmarks.records import Row, rows_of
from tasks.benchmarks.registry import SUITES
from tasks.benchmarks.steps.judge_coverage import JUDGE_COVERAGE, CoverageInput
from tasks.judging.step import Step
from tests.support.benchmark_sets import benchmark_request, tried, write_expert_reviews
from tests.support.contribution_fakes import provenance_of
from tests.support.evaluations import make_llm_call
from warehouse.stores.keyed_store import KeyedStore


class Length(ItemResult):
    characters: int | None


def through(folder: Path, items: str, work: Any, task: str = "length") -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        store = KeyedStore(folder / "answers.sqlite")
        try:
            return await process_items(
                task,
                {name: name for name in items},
                work,
                Length,
                store=store,
                context_of=lambda name: ItemContext(None, None, Ledger(IdeaId(name))),  # type: ignore[arg-type]
                concurrency=3,
            )
        finally:
            store.close()

    return asyncio.run(run())


def test_a_death_loses_only_what_was_under_way_and_another_task_has_its_own_answers(
    tmp_path: Path,
) -> None:
    done: list[str] = []

    async def dies_at_c(text: str, context: ItemContext) -> Length:
        if text == "c":
            await asyncio.sleep(0.2)
            raise RuntimeError("killed")
        return await counts(text, context)

    async def counts(text: str, context: ItemContext) -> Length:
        done.append(text)
        return Length(characters=len(text))

    with pytest.raises(ExceptionGroup):
        through(tmp_path, "abcd", dies_at_c)
    assert list(through(tmp_path, "abcd", counts)) == list("abcd")
    assert sorted(done) == list("abcd")
    through(tmp_path, "a", counts, "another")
    assert done.count("a") == 2


def test_what_may_go_better_is_asked_again_and_its_earlier_calls_stay_on_the_bill(
    tmp_path: Path,
) -> None:
    answers: Iterator[Length] = iter(
        (Length(characters=None, reason=Reason.TIMED_OUT), Length(characters=1))
    )

    async def second_time_better(text: str, context: ItemContext) -> Length:
        context.ledger.llm_calls.append(make_llm_call(context.ledger.idea_id, 1))
        return next(answers)

    assert through(tmp_path, "a", second_time_better)["a"][0].characters is None
    found = through(tmp_path, "a", second_time_better)["a"]
    assert (found[0].characters, len(found[1])) == (1, 2)
    assert through(tmp_path, "a", second_time_better)["a"] == found


def test_a_result_of_another_version_is_made_anew_and_its_calls_stay_on_the_bill(
    tmp_path: Path,
) -> None:
    class Words(ItemResult):
        words: int

    async def counts(text: str, context: ItemContext) -> Any:
        context.ledger.llm_calls.append(make_llm_call(context.ledger.idea_id, 1))
        return next(made)

    made: Iterator[ItemResult] = iter((Words(words=1), Length(characters=1)))
    assert through(tmp_path, "a", counts)["a"][0] == Words(words=1)
    result, calls = through(tmp_path, "a", counts)["a"]
    assert (result, len(calls)) == (Length(characters=1), 2)


def test_a_configuration_error_of_one_item_comes_out_as_itself(tmp_path: Path) -> None:
    async def refuses(text: str, context: ItemContext) -> Length:
        raise ConfigurationError("no such model")

    with pytest.raises(ConfigurationError, match="no such model"):
        through(tmp_path, "ab", refuses)


def test_work_that_may_go_better_leaves_the_suite_incomplete(tmp_path: Path) -> None:
    async def times_out(_: str, __: ItemContext) -> Length:
        return Length(characters=None, reason=Reason.TIMED_OUT)

    request = benchmark_request(write_expert_reviews(tmp_path), SUITES["agreement"])
    trial, _ = tried(
        SUITES["agreement"],
        request,
        use=lambda trial: trial.each("length", {"a": "a"}, times_out, Length),
    )
    assert trial.missing_reason is Reason.TIMED_OUT


def test_the_first_question_about_a_review_is_answered_before_its_others_set_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a provider's cache has the review for the others."""
    sent: list[str] = []
    answered: list[str] = []

    async def ask(step: Step, question: CoverageInput, context: ItemContext) -> OutcomeResult:
        assert question.review not in sent or question.review in answered, "two at once"
        sent.append(question.review)
        await asyncio.sleep(0)
        answered.append(question.review)
        value = '{"reason": "It says so.", "score": 4}'
        return OutcomeResult(value=value, provenance=provenance_of(step, "fake"))

    monkeypatch.setattr(suite, "ask", ask)
    questions: dict[str, Noun] = {
        f"{review}-{number}": CoverageInput(review=review, statement=f"Statement {number}.")
        for review in ("one", "two")
        for number in range(4)
    }
    request = benchmark_request(write_expert_reviews(tmp_path), SUITES["agreement"])
    _, answers = tried(
        SUITES["agreement"], request, use=lambda trial: trial.ask(JUDGE_COVERAGE, questions)
    )
    assert len(answers) == 8
    assert sorted(sent[:2]) == ["one", "two"], "different reviews wait for each other"


class Entry(Row):
    pass


def test_packed_files_have_bounds_and_one_cut_off_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, entries = tmp_path / "lines.gz", tmp_path / "list.json"
    lines.write_bytes(gzip.compress(b"{}\n" * 10))
    entries.write_bytes(b"[" + b"{}," * 9 + b"{}]")
    monkeypatch.setattr(records, "_MOST_RECORDS", 10)
    for bound, match in (
        ("_MOST_RECORDS", "more than 9 entries: check --data"),
        ("_MOST_BYTES", "unpacks to more than 9 bytes"),
    ):
        for path in (lines, entries):
            assert len(rows_of(path, Entry)) == 10
        with monkeypatch.context() as patch:
            patch.setattr(records, bound, 9)
            for path in (lines, entries):
                with pytest.raises(ConfigurationError, match=match):
                    rows_of(path, Entry)
    lines.write_bytes(lines.read_bytes()[:-12])
    with pytest.raises(ConfigurationError, match="cannot be unpacked"):
        rows_of(lines, Entry)


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.jsonl", "[1, 2]", "line 1: Input should be an object"),
        ("a.jsonl", "{}\nno", "line 2: Invalid JSON"),
        ("a.json", "{}", "entry: Input should be a valid array"),
        ("a.json", "[1]", "entry 0: Input should be an object"),
        ("a.json", "[]", "holds nothing"),
    ],
)
def test_what_is_another_file_is_one_clear_line(
    name: str, content: str, line: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ConfigurationError, match=line) as caught:
        rows_of(tmp_path / name, Entry)
    assert "\n" not in str(caught.value)
