"""Suite `ask` from its data to the lake: what answers rest on, beside what experts cite."""

from pathlib import Path

import pytest

from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import Reason
from tasks.benchmarks.steps.judge_answer import JudgedAnswerReply
from tasks.benchmarks.suites.ask import (
    SUITE,
    AnswerResult,
    RubricCase,
    share_met,
)
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    run_small,
    scores_of,
    write_expert_answers,
)
from tests.support.evaluations import make_provenance

PROVENANCE = make_provenance("judge_answer")
CASE = RubricCase("q", "Who hunts?", (("Who.", 0.3), ("When.", 0.1)))
ANSWER = AnswerResult(text="Bats.")


def test_works_that_experts_cite_are_found_read_and_shown_without_a_model(tmp_path: Path) -> None:
    write_expert_answers(tmp_path)
    request = benchmark_request(tmp_path, SUITE)
    summary = run_small(SUITE, request, never_evaluate)
    assert (summary.published, summary.failed_expectations) == (True, ())
    found = scores_of(request)
    part = "set=expert_answers"
    for metric in ("found_recall", "read_recall", "cited_recall", "answered_share"):
        assert found[metric, part, "assay"][:2] == (1.0, None), metric
    value, reason, _ = found["criteria_met", "set=rubrics", "assay"]
    assert (value, reason) == (None, "the extractive engine writes no answer")


def verdicts(*met: str) -> Outcome[JudgedAnswerReply]:
    entries = [{"criterion": place, "met": word} for place, word in enumerate(met, start=1)]
    return Scored(JudgedAnswerReply.model_validate({"criteria": entries}), PROVENANCE)


@pytest.mark.parametrize(
    ("met", "share"),
    [(("yes", "yes"), 1.0), (("yes", "no"), 0.75), (("no", "partly"), 0.125), (("yes",), None)],
)
def test_criteria_count_by_their_weight_and_without_a_verdict_there_is_no_share(
    met: tuple[str, ...], share: float | None
) -> None:
    assert share_met(CASE, ANSWER, verdicts(*met)) == (share and pytest.approx(share))


def test_no_answer_meets_nothing_and_one_that_was_lost_is_not_counted() -> None:
    lost = AnswerResult(text="", reason=Reason.SERVER_ERROR, detail="503")
    assert share_met(CASE, AnswerResult(text="", reason=Reason.NO_EVIDENCE), None) == 0.0
    assert share_met(CASE, lost, None) is None
    failed: Outcome[JudgedAnswerReply] = Unscored(Reason.REFUSED, "no", PROVENANCE)
    assert share_met(CASE, ANSWER, failed) is None
