"""The whole committee at its seam: what is judged, by whom, on what evidence, and what a failure
leaves behind.
"""

from collections.abc import Callable
from datetime import date
from statistics import fmean
from typing import Any

import pytest

from schemas.base import replace
from schemas.failure import SourceFailure
from schemas.judgement.committee import CommitteeEvaluation, Decision, KnowledgePhase, PersonaReview
from schemas.literature.knowledge import SourceKind
from schemas.reasons import Reason
from tasks.committee.evaluate import evaluate_committee
from tasks.committee.steps.reviews import (
    LATER_SUGGESTIONS,
    META_REVIEW,
    PERSONA_REVIEW,
    DimensionReview,
    LaterInput,
    LaterReply,
    MetaInput,
    MetaReply,
    PersonaInput,
    PersonaReply,
)
from tasks.judging.findings import Findings
from tests.support.contribution_fakes import Delays, FakeEngine, WordEmbedder
from tests.support.knowledge_fakes import (
    CUTOFF,
    IDEA,
    FakeSource,
    Library,
    item,
    paper,
    parameters,
    tools,
)

DIMENSIONS = ["clarity", "novelty", "feasibility", "validity", "significance"]
HASHING = (
    "We show that learned hashing improves sparse attention in transformers and halves memory for"
    " long documents."
)
DENSE = "Hashing of queries fails to reach the accuracy of dense attention on long documents."
PAGE = (
    "Sparse attention by learned hashing was faster on long documents and halves memory in every"
    " run."
)
LATER = "Learned hashing improves sparse attention for long documents further when buckets overlap."
DOWN = SourceFailure(
    source="serper",
    endpoint="/search",
    reason=Reason.SERVER_ERROR,
    detail="it answered 500 (4 attempts)",
)
EVERYTHING = """
[[persona]]
persona_id = "omniscient"
name = "The omniscient"
profile = "Knows it all."
habits = "Even-handed."
familiarity_papers_0_to_1 = 1
familiarity_web_0_to_1 = 1
familiarity_code_0_to_1 = 1
"""


def literature(**more: Any) -> Library:
    return Library(
        [paper("hashing", HASHING, url="https://papers.example.org/h"), paper("density", DENSE)],
        **more,
    )


def web(**more: Any) -> FakeSource:
    pages = [
        item(SourceKind.WEB, "https://blog.example.org/a", "Sparse attention in practice", PAGE),
        item(
            SourceKind.WEB,
            "https://blog.example.org/b",
            "Overlapping buckets",
            LATER,
            published=date(2023, 5, 1),
        ),
    ]
    return FakeSource("serper", SourceKind.WEB, pages, **more)


async def evaluated(
    answers: dict[str, Callable[[Any], Any]] | None = None, *sources: FakeSource, **more: Any
) -> Findings[CommitteeEvaluation]:
    found, _ = await evaluated_with_engine(answers, *sources, **more)
    return found


async def evaluated_with_engine(
    answers: dict[str, Callable[[Any], Any]] | None = None,
    *sources: FakeSource,
    seed: int = 7,
    idea: Any = IDEA,
    **more: Any,
) -> tuple[Findings[CommitteeEvaluation], FakeEngine]:
    own = more.pop("library", None) or literature()
    engine = FakeEngine(WordEmbedder(), answers or {}, more.pop("delays", None))
    defaults: dict[str, Any] = {"persona_count": 3, "dimensions_per_call": 5, "search_rounds": 1}
    chosen = parameters(
        sources=("literature", *(source.name for source in sources)), **{**defaults, **more}
    )
    return (
        await evaluate_committee(idea, chosen, seed, engine, tools(*sources, literature=own)),
        engine,
    )


def says(text: str, score: float = 6.0) -> Callable[[PersonaInput], PersonaReply]:
    return lambda question: PersonaReply(
        reviews=[
            DimensionReview(dimension=each.name, review=text, score=score)
            for each in question.dimensions
        ]
    )


def reviews_of(found: Findings[CommitteeEvaluation], dimension: str) -> list[PersonaReview]:
    return [review for review in found.evaluation.reviews if review.dimension == dimension]


@pytest.fixture
def all_knowing(tmp_path: Any) -> str:
    path = tmp_path / "personas.toml"
    path.write_text(EVERYTHING)
    return str(path)


async def test_every_persona_judges_every_dimension_and_the_total_is_their_mean() -> None:
    found = await evaluated()
    reviews = found.evaluation.reviews
    assert [review.dimension for review in reviews] == DIMENSIONS * 3
    assert len({review.persona_id for review in reviews}) == 3
    meta = found.evaluation.meta_review
    scores = [review.score_0_to_10 for review in reviews if review.score_0_to_10 is not None]
    assert meta.total_score_0_to_10 == pytest.approx(fmean(scores))
    assert (meta.scored_review_count, meta.unscored_review_count) == (
        len(scores),
        len(reviews) - len(scores),
    )
    assert meta.decision is Decision.REJECT
    assert set(meta.dimension_means) <= set(DIMENSIONS)


async def test_the_same_seed_gives_the_same_result_whoever_answers_first() -> None:
    first, second = [await evaluated(None, web(), delays=Delays(number)) for number in (1, 2)]

    def timeless(found: Findings[CommitteeEvaluation]) -> list[tuple[Any, ...]]:
        rows = [
            (r.persona_id, r.dimension, r.score_0_to_10, r.review, r.mask_seed)
            for r in found.evaluation.reviews
        ]
        return [*rows, *((row,) for row in found.citations)]

    assert timeless(first) == timeless(second)
    other = await evaluated(None, web(), seed=8)
    assert [r.mask_seed for r in other.evaluation.reviews] != [
        r.mask_seed for r in first.evaluation.reviews
    ]


async def test_each_dimension_is_a_call_of_its_own_unless_they_are_batched() -> None:
    _, apart = await evaluated_with_engine(dimensions_per_call=1, persona_count=2)
    assert all(len(question.dimensions) == 1 for question in apart.inputs_of(PERSONA_REVIEW))
    _, together = await evaluated_with_engine(dimensions_per_call=5, persona_count=2)
    questions = together.inputs_of(PERSONA_REVIEW)
    assert len(questions) == 2
    shown = {question.reviewer.name: question.evidence for question in questions}
    assert all(
        question.evidence == shown[question.reviewer.name]
        for question in apart.inputs_of(PERSONA_REVIEW)
    )


async def test_later_knowledge_advises_and_never_judges(all_knowing: str) -> None:
    advice = LaterReply.model_validate(
        {"suggestions": [{"change": "Overlap them.", "because": "It was tried [P1]."}]}
    )
    found, engine = await evaluated_with_engine(
        {LATER_SUGGESTIONS.name: lambda _: advice},
        web(),
        use_later_knowledge=True,
        persona_count=1,
        personas_file=all_knowing,
    )
    judged = "".join(
        question.model_dump_json()
        for question in (*engine.inputs_of(PERSONA_REVIEW), *engine.inputs_of(META_REVIEW))
    )
    assert "Overlapping buckets" not in judged
    (advised,) = engine.inputs_of(LATER_SUGGESTIONS)
    assert isinstance(advised, LaterInput)
    assert [each.title for each in advised.knowledge] == ["Overlapping buckets"]
    meta = found.evaluation.meta_review
    assert "https://blog.example.org/b" in meta.suggestions
    later = {
        record.knowledge_id
        for record in found.evaluation.knowledge
        if record.phase is KnowledgePhase.AFTER
    }
    assert {row.field for row in found.citations if row.knowledge_id in later} == {"suggestions"}
    (suggestion,) = found.suggestions
    assert (suggestion.subject, suggestion.citation_keys) == ("meta_review", ("P1",))
    assert all(each.admissible(CUTOFF) for each in found.papers)


async def test_without_later_knowledge_nobody_is_asked_for_suggestions() -> None:
    found, engine = await evaluated_with_engine()
    assert engine.inputs_of(LATER_SUGGESTIONS) == []
    assert found.evaluation.meta_review.suggestions == ""


async def test_pages_are_cited_by_key_like_papers_and_invented_keys_are_taken_out_and_counted(
    all_knowing: str,
) -> None:
    cites_all = {PERSONA_REVIEW.name: says("Known work does this [P1][P2][P3], and so does [P9].")}
    found = await evaluated(cites_all, web(), persona_count=1, personas_file=all_knowing)
    review = reviews_of(found, "validity")[0]
    assert review.removed_citation_count == 1
    assert "P9" not in review.review
    assert "https://blog.example.org/a" in review.review
    assert "https://papers.example.org/h" in review.review
    rows = [row for row in found.citations if row.subject == "omniscient validity"]
    by_knowledge = {record.knowledge_id: record for record in found.evaluation.knowledge}
    assert {(by_knowledge[row.knowledge_id or ""].kind, row.paper_id is None) for row in rows} == {
        (SourceKind.PAPERS, False),
        (SourceKind.WEB, True),
    }


async def test_a_masked_item_cannot_be_cited(tmp_path: Any) -> None:
    path = tmp_path / "personas.toml"
    path.write_text(EVERYTHING.replace("familiarity_web_0_to_1 = 1", "familiarity_web_0_to_1 = 0"))
    answers = {
        PERSONA_REVIEW.name: says("See [P1][P2][P3] and https://blog.example.org/a for this.")
    }
    found = await evaluated(answers, web(), persona_count=1, personas_file=str(path))
    review = found.evaluation.reviews[0]
    assert "blog.example.org" not in review.review
    assert review.masked_evidence_count > 0
    assert review.removed_citation_count > 0


async def test_the_meta_review_cites_what_reviews_cite_under_its_own_keys(all_knowing: str) -> None:
    def concluding(question: MetaInput) -> MetaReply:
        assert "[P1]" in question.reviews[0].review
        assert "example.org" not in question.model_dump_json()
        return MetaReply(
            summary="It holds [P1], says [P7].",
            strengths="Fast [P1].",
            weaknesses="",
            decision=Decision.ORAL,
        )

    answers = {PERSONA_REVIEW.name: says("Done before [P2]."), META_REVIEW.name: concluding}
    found = await evaluated(answers, web(), persona_count=1, personas_file=all_knowing)
    meta = found.evaluation.meta_review
    assert (meta.decision, meta.removed_citation_count) == (Decision.ORAL, 1)
    cited = {(row.knowledge_id, row.subject) for row in found.citations}
    assert {name for name, subject in cited if subject == "meta_review"} == {
        name for name, subject in cited if subject != "meta_review"
    }


async def test_nothing_found_is_no_evidence_and_only_clarity_is_judged() -> None:
    found = await evaluated(library=Library())
    assert {review.unscored_reason for review in reviews_of(found, "novelty")} == {
        Reason.NO_EVIDENCE
    }
    assert all(review.score_0_to_10 is not None for review in reviews_of(found, "clarity"))
    meta = found.evaluation.meta_review
    assert list(meta.dimension_means) == ["clarity"]
    assert (meta.scored_review_count, meta.unscored_review_count, meta.krippendorff_alpha) == (
        3,
        12,
        None,
    )


async def test_a_source_that_is_down_is_never_evidence_of_novelty() -> None:
    found = await evaluated(
        None, FakeSource("serper", SourceKind.WEB, failure=DOWN), library=Library()
    )
    assert {review.unscored_reason for review in reviews_of(found, "novelty")} == {
        Reason.SOURCE_UNAVAILABLE
    }
    assert any(failure.reason == "server_error" for failure in found.evaluation.failures)


async def test_reviewers_are_told_how_many_searches_got_no_answer(all_knowing: str) -> None:
    down = FakeSource("serper", SourceKind.WEB, failure=DOWN)
    _, engine = await evaluated_with_engine(None, down, persona_count=1, personas_file=all_knowing)
    assert engine.inputs_of(PERSONA_REVIEW)[0].unanswered_searches > 0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda _: Reason.REFUSED, Reason.REFUSED),
        (says("  "), Reason.REPLY_EMPTY),
        (
            lambda _: PersonaReply(
                reviews=[DimensionReview(dimension="style", review="Well.", score=3)]
            ),
            Reason.REPLY_UNPARSABLE,
        ),
        (
            lambda question: PersonaReply(
                reviews=[
                    DimensionReview(dimension=question.dimensions[0].name, review="Well.", score=n)
                    for n in (1, 9)
                ]
            ),
            Reason.REPLY_UNPARSABLE,
        ),
    ],
    ids=["refused", "no reasons", "another dimension", "two scores"],
)
async def test_what_a_reviewer_fails_to_say_is_unscored_and_no_total_is_made_of_it(
    answer: Any, reason: Reason
) -> None:
    found = await evaluated({PERSONA_REVIEW.name: answer}, dimensions_per_call=1)
    assert {review.unscored_reason for review in found.evaluation.reviews} == {reason}
    meta = found.evaluation.meta_review
    assert (meta.total_score_0_to_10, meta.decision, meta.unscored_reason) == (None, None, reason)


async def test_one_garbled_dimension_leaves_the_others_alone() -> None:
    def without_novelty(question: PersonaInput) -> Any:
        scored = says("Reasons.", 4.0)(question)
        return PersonaReply(
            reviews=[each for each in scored.reviews if each.dimension != "novelty"]
        )

    found = await evaluated({PERSONA_REVIEW.name: without_novelty})
    assert {review.unscored_reason for review in reviews_of(found, "novelty")} == {
        Reason.REPLY_UNPARSABLE
    }
    meta = found.evaluation.meta_review
    assert (meta.total_score_0_to_10, meta.unscored_review_count) == (4.0, 3)
    assert "novelty" not in meta.dimension_means


async def test_a_failed_meta_review_keeps_the_computed_total_and_has_no_decision() -> None:
    found = await evaluated(
        {META_REVIEW.name: lambda _: Reason.TIMED_OUT, PERSONA_REVIEW.name: says("Reasons.", 8.0)}
    )
    meta = found.evaluation.meta_review
    assert (meta.total_score_0_to_10, meta.decision, meta.unscored_reason) == (
        8.0,
        None,
        Reason.TIMED_OUT,
    )
    assert meta.krippendorff_alpha is None


async def test_an_idea_that_cannot_be_taken_apart_is_unscored_for_that_reason() -> None:
    found = await evaluated({"structure_idea": lambda _: Reason.ENGINE_UNAVAILABLE})
    meta = found.evaluation.meta_review
    assert (meta.unscored_reason, found.evaluation.reviews) == (Reason.ENGINE_UNAVAILABLE, ())
    assert "taken apart" in meta.unscored_detail


async def test_an_idea_without_a_method_is_reviewed_all_the_same() -> None:
    bare = replace(
        IDEA,
        text=(
            "Sparse attention for long documents is limited by memory. However, nobody knows why"
            " documents need it."
        ),
    )
    found = await evaluated(idea=bare)
    assert all(review.score_0_to_10 is not None for review in reviews_of(found, "clarity"))
    assert any("does not have: methods" in failure.detail for failure in found.evaluation.failures)


async def test_a_user_s_own_dimension_is_judged_beside_the_five(tmp_path: Any) -> None:
    path = tmp_path / "personas.toml"
    path.write_text(
        '[[dimension]]\nname = "memory_use"\nquestion = "Does it save memory on long documents?"\n'
    )
    found = await evaluated(personas_file=str(path))
    assert [review.dimension for review in found.evaluation.reviews[:6]] == [
        *DIMENSIONS,
        "memory_use",
    ]
    assert any(review.score_0_to_10 is not None for review in reviews_of(found, "memory_use"))


async def test_unusable_suggestions_are_a_failure_and_not_an_empty_advice(all_knowing: str) -> None:
    refusing = {LATER_SUGGESTIONS.name: lambda _: Reason.REFUSED}
    found = await evaluated(
        refusing, web(), use_later_knowledge=True, persona_count=1, personas_file=all_knowing
    )
    assert [f.reason for f in found.evaluation.failures if f.subject == LATER_SUGGESTIONS.name] == [
        "refused"
    ]
    answering = {
        LATER_SUGGESTIONS.name: lambda _: LaterReply(suggestions="Overlap the buckets [P1][P4].")
    }
    found = await evaluated(
        answering, web(), use_later_knowledge=True, persona_count=1, personas_file=all_knowing
    )
    assert found.evaluation.meta_review.removed_citation_count == 1


async def test_the_panel_of_the_profile_is_the_one_that_reviews() -> None:
    field = "Hospital physician, experienced in trials, safety and populations"
    found = [
        await evaluated(idea=replace(IDEA, idea_id=name), same_panel=True, panel_field=field)
        for name in ("one", "other")
    ]
    panels = [{review.persona_id for review in one.evaluation.reviews} for one in found]
    assert panels[0] == panels[1]
    assert "clinician" in panels[0]


async def test_a_literature_outside_the_field_is_not_searched_and_reviewers_are_told() -> None:
    own, engine = literature(), FakeEngine(WordEmbedder(), {}, None)
    chosen = parameters(
        sources=("literature", "serper"), persona_count=3, dimensions_per_call=5, search_rounds=1
    )
    found = await evaluate_committee(
        IDEA, chosen, 7, engine, tools(web(), literature=own), with_literature=False
    )
    assert {record.kind for record in found.evaluation.knowledge} == {SourceKind.WEB}
    assert found.papers == ()
    told = [inputs for step, inputs in engine.asked if step == "persona_review"]
    assert {(each.field_not_covered, each.unanswered_searches) for each in told} == {(True, 0)}
