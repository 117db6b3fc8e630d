"""What could not be had is a value with a reason: never a score, never an empty success."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.idea import Idea
from schemas.judgement.soundness import SoundnessEvaluation
from schemas.reasons import Reason
from tasks.soundness.evaluate import evaluate_soundness
from tasks.soundness.steps.extract_methods import MethodsReply
from tasks.soundness.steps.method_evidence import EvidenceReply, PaperReading
from tasks.soundness.steps.soundness_query import QueriesReply
from tasks.soundness.steps.soundness_review import (
    SOUNDNESS_SUMMARY,
    ReviewReply,
    SummaryInput,
    SummaryReply,
)
from tests.support.soundness_fakes import (
    ANSWERS,
    PARAMETERS,
    FakeDocuments,
    FakeEngine,
    FakeLiterature,
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
    answers: dict[str, Any] | None = None, documents: FakeDocuments | None = None, **literature: Any
) -> SoundnessEvaluation:
    source = FakeLiterature(**{"passages": PASSAGES, "fetched": PAPERS, **literature})
    findings = await evaluate_soundness(
        IDEA, PARAMETERS, FakeEngine(answers or {}), source, documents or FakeDocuments()
    )
    return findings.evaluation


def irrelevant(inputs: Any) -> EvidenceReply:
    return EvidenceReply(
        papers=tuple(PaperReading(key=each.key, relevance=0) for each in inputs.papers)
    )


async def test_methods_that_could_not_be_extracted_are_a_failure_not_an_idea_without_methods() -> (
    None
):
    evaluation = await evaluated({"extract_methods": lambda _: Reason.BUDGET_EXHAUSTED})
    assert evaluation.methods == ()
    assert evaluation.summary is None
    assert [
        (failure.stage, failure.subject, failure.reason) for failure in evaluation.failures
    ] == [("soundness", "i1", "budget_exhausted")]


async def test_an_idea_that_proposes_nothing_has_nothing_to_judge() -> None:
    evaluation = await evaluated({"extract_methods": lambda _: MethodsReply(methods=())})
    assert [failure.reason for failure in evaluation.failures] == ["nothing_to_judge"]


async def test_an_empty_search_that_was_answered_is_no_evidence() -> None:
    evaluation = await evaluated(passages={})
    assert {review.unscored_reason for review in evaluation.reviews} == {Reason.NO_EVIDENCE}
    assert evaluation.failures == ()
    assert evaluation.summary.unscored_reason is Reason.NO_EVIDENCE


@pytest.mark.parametrize("endpoint", ["snippets", "papers"])
async def test_an_empty_search_with_a_failed_source_is_source_unavailable_not_no_evidence(
    endpoint: str,
) -> None:
    evaluation = await evaluated(failing=frozenset({endpoint}))
    assert {review.unscored_reason for review in evaluation.reviews} == {Reason.SOURCE_UNAVAILABLE}
    assert [
        (failure.subject, failure.reason, failure.retryable) for failure in evaluation.failures
    ] == [
        ("m1", "timeout", True),
        ("m2", "timeout", True),
        ("m3", "timeout", True),
    ]


async def test_papers_without_any_text_are_unread_and_the_review_says_so() -> None:
    documents = FakeDocuments(closed=frozenset(each.paper_id for each in PAPERS))
    evaluation = await evaluated(documents=documents)
    assert {(row.relevant, row.unscored_reason) for row in evaluation.evidence} == {
        (None, Reason.SOURCE_UNAVAILABLE)
    }
    assert {review.unscored_reason for review in evaluation.reviews} == {Reason.SOURCE_UNAVAILABLE}
    assert [failure.subject for failure in evaluation.failures if failure.stage == "documents"] == [
        each.paper_id for each in PAPERS
    ]


async def test_a_paper_whose_full_text_failed_is_still_read_from_its_abstract() -> None:
    documents = FakeDocuments(closed=frozenset({"paper01"}))
    evaluation = await evaluated(documents=documents)
    assert [review.evidence_count for review in evaluation.reviews] == [1, 2, 2]
    assert evaluation.reviews[0].score_0_to_10 == 7


async def test_a_key_the_reply_leaves_out_is_unscored_for_that_paper_alone() -> None:
    def first_only(inputs: Any) -> EvidenceReply:
        return EvidenceReply(papers=(PaperReading(key="[p1]", relevance=3, results="It works."),))

    evaluation = await evaluated({"method_evidence": first_only})
    rows = [
        (row.relevant, row.unscored_reason) for row in evaluation.evidence if row.method_id == "m1"
    ]
    assert rows == [(True, None), (None, Reason.REPLY_UNPARSABLE)]
    assert evaluation.reviews[0].score_0_to_10 == 7
    assert evaluation.failures[0].subject == "m1/paper04"


async def test_the_summary_is_told_which_methods_have_no_review() -> None:
    told: list[SummaryInput] = []

    def review(inputs: Any) -> Any:
        return Reason.REFUSED if "beta" in inputs.method else ANSWERS["soundness_review"](inputs)

    def summary(inputs: SummaryInput) -> Any:
        told.append(inputs)
        return ANSWERS["soundness_summary"](inputs)

    evaluation = await evaluated({"soundness_review": review, "soundness_summary": summary})
    (inputs,) = told
    assert [shown.rank for shown in inputs.reviews] == [1, 3]
    assert inputs.unreviewed == (evaluation.methods[1].text,)
    _, question = SOUNDNESS_SUMMARY.messages(inputs)
    assert evaluation.methods[1].text in question["content"]


async def test_an_answer_for_a_key_that_was_never_shown_is_left_out_on_record() -> None:
    def one_too_many(inputs: Any) -> EvidenceReply:
        return EvidenceReply(
            papers=tuple(
                PaperReading(key=f"P{number}", relevance=3, results="r") for number in (1, 2, 9)
            )
        )

    evaluation = await evaluated({"method_evidence": one_too_many})
    assert [review.evidence_count for review in evaluation.reviews] == [2, 2, 2]
    assert [(failure.subject, failure.reason) for failure in evaluation.failures] == [
        (f"m{n}", "reply_unparsable") for n in (1, 2, 3)
    ]


def half(inputs: Any) -> EvidenceReply:
    return EvidenceReply(papers=(PaperReading(key="P1", relevance=0),))


def silent(inputs: Any) -> EvidenceReply:
    return EvidenceReply(
        papers=tuple(PaperReading(key=each.key, relevance=3) for each in inputs.papers)
    )


@pytest.mark.parametrize(
    ("reading", "of_papers", "of_methods"),
    [
        (irrelevant, {None}, Reason.NO_EVIDENCE),
        (half, {None, Reason.REPLY_UNPARSABLE}, Reason.REPLY_UNPARSABLE),
        (silent, {Reason.REPLY_EMPTY}, Reason.REPLY_EMPTY),
        (lambda _: Reason.REPLY_CUT_OFF, {Reason.REPLY_CUT_OFF}, Reason.REPLY_CUT_OFF),
    ],
    ids=["none relevant", "some unjudged", "nothing said", "no reply"],
)
async def test_a_review_without_evidence_has_the_reason_of_its_readings(
    reading: Any, of_papers: set[Reason | None], of_methods: Reason
) -> None:
    evaluation = await evaluated({"method_evidence": reading})
    assert {row.unscored_reason for row in evaluation.evidence} == of_papers
    assert {review.unscored_reason for review in evaluation.reviews} == {of_methods}


@pytest.mark.parametrize("reply", [Reason.REFUSED, " "])
async def test_a_method_without_a_query_is_unscored_and_the_others_go_on(reply: Any) -> None:
    def not_for_beta(inputs: Any) -> Any:
        if "beta" not in inputs.methods[0]:
            return queries_for(inputs)
        return reply if isinstance(reply, Reason) else queries_for(inputs, lambda _: reply)

    evaluation = await evaluated({"soundness_query": not_for_beta})
    assert [review.score_0_to_10 for review in evaluation.reviews] == [7, None, 7]
    assert evaluation.methods[1].queries == ()
    assert evaluation.reviews[1].unscored_detail.startswith("no query could be made for the method")
    assert evaluation.summary.unscored_reason is None


async def test_a_score_without_a_word_for_or_against_is_no_score() -> None:
    evaluation = await evaluated(
        {"soundness_review": lambda _: ReviewReply(support=" ", contradictions="", score=3)}
    )
    assert {(review.score_0_to_10, review.unscored_reason) for review in evaluation.reviews} == {
        (None, Reason.REPLY_EMPTY)
    }


async def test_a_summary_that_could_not_be_had_leaves_the_reviews_alone() -> None:
    evaluation = await evaluated({"soundness_summary": lambda _: Reason.TIMED_OUT})
    assert [review.score_0_to_10 for review in evaluation.reviews] == [7, 7, 7]
    assert evaluation.summary.unscored_reason is Reason.TIMED_OUT
    assert [failure.subject for failure in evaluation.failures] == ["summary"]


async def test_papers_the_source_does_not_know_are_left_out_on_record() -> None:
    evaluation = await evaluated(fetched=PAPERS[1:])
    assert [review.evidence_count for review in evaluation.reviews] == [1, 2, 2]
    assert [(failure.subject, failure.reason) for failure in evaluation.failures] == [
        ("m1", "not_found")
    ]


def test_null_for_nothing_to_say_and_paragraphs_as_a_list_are_understood() -> None:
    reply = ReviewReply.model_validate(
        {
            "support": ["One [P1].", "Two [P2]."],
            "contradictions": None,
            "suggestions": "",
            "score": "7",
        }
    )
    assert (reply.support, reply.contradictions, reply.score) == ("One [P1].\n\nTwo [P2].", "", 7)


@pytest.mark.parametrize("score", [-1, 10.5, "eleven", None, float("nan")])
def test_a_score_outside_its_scale_is_no_reply(score: object) -> None:
    with pytest.raises(ValidationError):
        ReviewReply.model_validate(
            {"support": "s", "contradictions": "c", "suggestions": "x", "score": score}
        )


def test_an_empty_query_is_no_reply() -> None:
    with pytest.raises(ValidationError):
        QueriesReply.model_validate({"queries": [{"method": 1, "queries": [""]}]})


def test_an_irrelevant_paper_needs_no_texts() -> None:
    reply = EvidenceReply.model_validate(
        {"papers": [{"key": "P1", "relevance": 0, "method": None}]}
    )
    assert reply.papers[0].method == ""


def test_a_summary_needs_all_three_lists() -> None:
    with pytest.raises(ValidationError):
        SummaryReply.model_validate({"strengths": ["s"], "weaknesses": []})
