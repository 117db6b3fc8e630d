"""What could not be had is a value with a reason: never a score, never an empty success."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.base import Reply
from schemas.idea import Idea
from schemas.judgement.soundness import SoundnessEvaluation
from schemas.reasons import Reason
from tasks.soundness.steps.extract_methods import MethodsReply
from tasks.soundness.steps.method_evidence import EvidenceReply, PaperReading
from tasks.soundness.steps.soundness_query import QueriesReply
from tasks.soundness.steps.soundness_review import SOUNDNESS_SUMMARY, ReviewReply, SummaryReply
from tests.support.soundness_fakes import (
    ANSWERS,
    FakeDocuments,
    FakeEngine,
    FakeLiterature,
    evaluate,
    paper,
    passage,
    queries_for,
)

IDEA = Idea(idea_id="i1", title="An idea", text="We will do alpha, beta and gamma.")
PASSAGES = {
    f"query {name}": (passage(number, score=1.0), passage(number + 3, score=0.5))
    for number, name in enumerate(("alpha", "beta", "gamma"), 1)
}
PAPERS = tuple(paper(number) for number in range(1, 7))


async def evaluated(
    answers: dict[str, Any] | None = None,
    engine: FakeEngine | None = None,
    documents: FakeDocuments | None = None,
    **changes: Any,
) -> SoundnessEvaluation:
    source = FakeLiterature(**{"passages": PASSAGES, "fetched": PAPERS, **changes})
    findings = await evaluate(IDEA, source, answers, engine=engine, documents=documents)
    return findings.evaluation


def reasons(evaluation: SoundnessEvaluation) -> set[Reason | None]:
    return {review.unscored_reason for review in evaluation.reviews}


def scores(evaluation: SoundnessEvaluation) -> list[float | None]:
    return [review.score_0_to_10 for review in evaluation.reviews]


def failures(evaluation: SoundnessEvaluation) -> list[tuple[str, str]]:
    return [(failure.subject, failure.reason) for failure in evaluation.failures]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Reason.BUDGET_EXHAUSTED, Reason.BUDGET_EXHAUSTED),
        (MethodsReply(methods=()), Reason.NOTHING_TO_JUDGE),
    ],
)
async def test_an_idea_without_methods_says_why(answer: Any, reason: Reason) -> None:
    evaluation = await evaluated({"extract_methods": lambda _: answer})
    assert (evaluation.methods, evaluation.summary) == ((), None)
    assert failures(evaluation) == [("i1", reason)]


async def test_an_empty_search_that_was_answered_is_no_evidence() -> None:
    evaluation = await evaluated(passages={})
    assert reasons(evaluation) == {Reason.NO_EVIDENCE}
    assert evaluation.failures == ()
    assert evaluation.summary.unscored_reason is Reason.NO_EVIDENCE


@pytest.mark.parametrize("endpoint", ["snippets", "papers"])
async def test_an_empty_search_with_a_failed_source_is_source_unavailable_not_no_evidence(
    endpoint: str,
) -> None:
    evaluation = await evaluated(failing=frozenset({endpoint}))
    assert reasons(evaluation) == {Reason.SOURCE_UNAVAILABLE}
    assert failures(evaluation) == [(f"m{number}", "timeout") for number in (1, 2, 3)]
    assert all(failure.retryable for failure in evaluation.failures)


async def test_papers_without_any_text_are_unread_and_the_review_says_so() -> None:
    documents = FakeDocuments(closed=frozenset(each.paper_id for each in PAPERS))
    evaluation = await evaluated(documents=documents)
    assert {(row.relevant, row.unscored_reason) for row in evaluation.evidence} == {
        (None, Reason.SOURCE_UNAVAILABLE)
    }
    assert reasons(evaluation) == {Reason.SOURCE_UNAVAILABLE}
    unread = [failure.subject for failure in evaluation.failures if failure.stage == "documents"]
    assert unread == [each.paper_id for each in PAPERS]


async def test_one_paper_that_cannot_be_had_leaves_the_others() -> None:
    unread = await evaluated(documents=FakeDocuments(closed=frozenset({"paper01"})))
    assert [review.evidence_count for review in unread.reviews] == [1, 2, 2]
    assert scores(unread)[0] == 7
    unknown = await evaluated(fetched=PAPERS[1:])
    assert [review.evidence_count for review in unknown.reviews] == [1, 2, 2]
    assert failures(unknown) == [("m1", "not_found")]


def keyed(*keys: str) -> dict[str, Any]:
    entries = tuple(PaperReading(key=key, relevance=3, results="It works.") for key in keys)
    return {"method_evidence": lambda _: EvidenceReply(papers=entries)}


async def test_a_key_the_reply_leaves_out_is_unscored_for_that_paper_alone() -> None:
    evaluation = await evaluated(keyed("[p1]"))
    rows = [row for row in evaluation.evidence if row.method_id == "m1"]
    assert [(row.relevant, row.unscored_reason) for row in rows] == [
        (True, None),
        (None, Reason.REPLY_UNPARSABLE),
    ]
    assert scores(evaluation)[0] == 7
    assert evaluation.failures[0].subject == "m1/paper04"


async def test_an_answer_for_a_key_that_was_never_shown_is_left_out_on_record() -> None:
    evaluation = await evaluated(keyed("P1", "P2", "P9"))
    assert [review.evidence_count for review in evaluation.reviews] == [2, 2, 2]
    assert failures(evaluation) == [(f"m{n}", "reply_unparsable") for n in (1, 2, 3)]


async def test_the_summary_is_told_which_methods_have_no_review() -> None:
    def review(inputs: Any) -> Any:
        return Reason.REFUSED if "beta" in inputs.method else ANSWERS["soundness_review"](inputs)

    engine = FakeEngine({"soundness_review": review})
    evaluation = await evaluated(engine=engine)
    (inputs,) = engine.inputs_of("soundness_summary")
    assert [shown.rank for shown in inputs.reviews] == [1, 3]
    assert inputs.unreviewed == (evaluation.methods[1].text,)
    assert evaluation.methods[1].text in SOUNDNESS_SUMMARY.messages(inputs)[1]["content"]


def graded(relevance: int, count: int = 2) -> Any:
    """An answer about the first `count` papers that says nothing of them."""
    return lambda inputs: EvidenceReply(
        papers=tuple(
            PaperReading(key=each.key, relevance=relevance) for each in inputs.papers[:count]
        )
    )


@pytest.mark.parametrize(
    ("reading", "of_papers", "of_methods"),
    [
        (graded(0), {None}, Reason.NO_EVIDENCE),
        (graded(0, 1), {None, Reason.REPLY_UNPARSABLE}, Reason.REPLY_UNPARSABLE),
        (graded(3), {Reason.REPLY_EMPTY}, Reason.REPLY_EMPTY),
        (lambda _: Reason.REPLY_CUT_OFF, {Reason.REPLY_CUT_OFF}, Reason.REPLY_CUT_OFF),
    ],
    ids=["none relevant", "some unjudged", "nothing said", "no reply"],
)
async def test_a_review_without_evidence_has_the_reason_of_its_readings(
    reading: Any, of_papers: set[Reason | None], of_methods: Reason
) -> None:
    evaluation = await evaluated({"method_evidence": reading})
    assert {row.unscored_reason for row in evaluation.evidence} == of_papers
    assert reasons(evaluation) == {of_methods}


@pytest.mark.parametrize("reply", [Reason.REFUSED, " "])
async def test_a_method_without_a_query_is_unscored_and_the_others_go_on(reply: Any) -> None:
    def not_for_beta(inputs: Any) -> Any:
        if "beta" not in inputs.methods[0]:
            return queries_for(inputs)
        return reply if isinstance(reply, Reason) else queries_for(inputs, lambda _: reply)

    evaluation = await evaluated({"soundness_query": not_for_beta})
    assert scores(evaluation) == [7, None, 7]
    assert evaluation.methods[1].queries == ()
    assert evaluation.reviews[1].unscored_detail.startswith("no query could be made for the method")
    assert evaluation.summary.unscored_reason is None


async def test_a_score_without_a_word_for_or_against_is_no_score() -> None:
    wordless = ReviewReply(support=" ", contradictions="", score=3)
    evaluation = await evaluated({"soundness_review": lambda _: wordless})
    assert scores(evaluation) == [None] * 3
    assert reasons(evaluation) == {Reason.REPLY_EMPTY}


async def test_a_summary_that_could_not_be_had_leaves_the_reviews_alone() -> None:
    evaluation = await evaluated({"soundness_summary": lambda _: Reason.TIMED_OUT})
    assert scores(evaluation) == [7, 7, 7]
    assert evaluation.summary.unscored_reason is Reason.TIMED_OUT
    assert failures(evaluation) == [("summary", Reason.TIMED_OUT)]


REVIEW = {"support": ["One [P1].", "Two [P2]."], "contradictions": None, "suggestions": ""}


def test_null_for_nothing_to_say_and_paragraphs_as_a_list_are_understood() -> None:
    reply = ReviewReply.model_validate({**REVIEW, "score": "7"})
    assert (reply.support, reply.contradictions, reply.score) == ("One [P1].\n\nTwo [P2].", "", 7)
    unrelated = {"key": "P1", "relevance": 0, "method": None}
    assert EvidenceReply.model_validate({"papers": [unrelated]}).papers[0].method == ""


@pytest.mark.parametrize(
    ("model", "reply"),
    [
        *((ReviewReply, {**REVIEW, "score": n}) for n in (-1, 10.5, "eleven", None, float("nan"))),
        (QueriesReply, {"queries": [{"method": 1, "queries": [""]}]}),
        (SummaryReply, {"strengths": ["s"], "weaknesses": []}),
    ],
)
def test_a_value_outside_its_scale_or_left_out_is_no_reply(
    model: type[Reply], reply: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(reply)
