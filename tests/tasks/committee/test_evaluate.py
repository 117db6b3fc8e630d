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


OTHER_FIELD = "Hospital physician, experienced in trials, safety and populations"


async def evaluated_with_engine(
    answers: dict[str, Callable[[Any], Any]] | None = None,
    *sources: FakeSource,
    seed: int = 7,
    idea: Any = IDEA,
    library: Library | None = None,
    delays: Delays | None = None,
    with_literature: bool = True,
    **more: Any,
) -> tuple[Findings[CommitteeEvaluation], FakeEngine]:
    engine = FakeEngine(WordEmbedder(), answers or {}, delays)
    defaults: dict[str, Any] = {"persona_count": 3, "dimensions_per_call": 5, "search_rounds": 1}
    names = ("literature", *(source.name for source in sources))
    chosen = parameters(**{"sources": names, **defaults, **more})
    found = await evaluate_committee(
        idea,
        chosen,
        seed,
        engine,
        tools(*sources, literature=library or literature()),
        with_literature=with_literature,
    )
    return found, engine


async def evaluated(
    answers: dict[str, Callable[[Any], Any]] | None = None, *sources: FakeSource, **more: Any
) -> Findings[CommitteeEvaluation]:
    return (await evaluated_with_engine(answers, *sources, **more))[0]


def says(text: str, score: float = 6.0, *others: float) -> Callable[[PersonaInput], PersonaReply]:
    """An answer with one review per score for every dimension asked about."""
    return lambda question: PersonaReply(
        reviews=[
            DimensionReview(dimension=each.name, review=text, score=number)
            for each in question.dimensions
            for number in (score, *others)
        ]
    )


def reviews_of(found: Findings[CommitteeEvaluation], dimension: str) -> list[PersonaReview]:
    return [review for review in found.evaluation.reviews if review.dimension == dimension]


def reasons_of(found: Findings[CommitteeEvaluation], dimension: str) -> set[Reason | None]:
    return {review.unscored_reason for review in reviews_of(found, dimension)}


@pytest.fixture
def all_knowing(tmp_path: Any) -> dict[str, Any]:
    """Parameters of a panel of one persona that knows all evidence."""
    path = tmp_path / "personas.toml"
    path.write_text(EVERYTHING)
    return {"persona_count": 1, "personas_file": str(path)}


async def test_every_persona_judges_every_dimension_and_the_total_is_their_mean() -> None:
    evaluation = (await evaluated()).evaluation
    reviews, meta = evaluation.reviews, evaluation.meta_review
    assert [review.dimension for review in reviews] == DIMENSIONS * 3
    assert len({review.persona_id for review in reviews}) == 3
    scores = [review.score_0_to_10 for review in reviews if review.score_0_to_10 is not None]
    assert meta.total_score_0_to_10 == pytest.approx(fmean(scores))
    counts = (meta.scored_review_count, meta.unscored_review_count)
    assert counts == (len(scores), len(reviews) - len(scores))
    assert meta.decision is Decision.REJECT
    assert set(meta.dimension_means) <= set(DIMENSIONS)


async def test_the_same_seed_gives_the_same_result_whoever_answers_first() -> None:
    first, second = [await evaluated(None, web(), delays=Delays(number)) for number in (1, 2)]
    other = await evaluated(None, web(), seed=8)

    def timeless(found: Findings[CommitteeEvaluation]) -> list[Any]:
        rows = [each.model_dump(exclude={"provenance"}) for each in found.evaluation.reviews]
        return [*rows, *found.citations]

    assert timeless(first) == timeless(second)
    masks = [[each.mask_seed for each in one.evaluation.reviews] for one in (first, other)]
    assert masks[0] != masks[1]


async def test_each_dimension_is_a_call_of_its_own_unless_they_are_batched() -> None:
    _, apart = await evaluated_with_engine(dimensions_per_call=1, persona_count=2)
    _, together = await evaluated_with_engine(dimensions_per_call=5, persona_count=2)
    questions = together.inputs_of(PERSONA_REVIEW)
    assert len(questions) == 2
    shown = {question.reviewer.name: question.evidence for question in questions}
    for question in apart.inputs_of(PERSONA_REVIEW):
        assert len(question.dimensions) == 1
        assert question.evidence == shown[question.reviewer.name]


async def test_later_knowledge_advises_and_never_judges(all_knowing: dict[str, Any]) -> None:
    advice = LaterReply.model_validate(
        {"suggestions": [{"change": "Overlap them.", "because": "It was tried [P1]."}]}
    )
    answers = {LATER_SUGGESTIONS.name: lambda _: advice}
    found, engine = await evaluated_with_engine(
        answers, web(), use_later_knowledge=True, **all_knowing
    )
    judged = [*engine.inputs_of(PERSONA_REVIEW), *engine.inputs_of(META_REVIEW)]
    assert not any("Overlapping buckets" in each.model_dump_json() for each in judged)
    (advised,) = engine.inputs_of(LATER_SUGGESTIONS)
    assert [each.title for each in advised.knowledge] == ["Overlapping buckets"]
    evaluation = found.evaluation
    assert "https://blog.example.org/b" in evaluation.meta_review.suggestions
    later = {
        record.knowledge_id
        for record in evaluation.knowledge
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
    all_knowing: dict[str, Any],
) -> None:
    cites_all = {PERSONA_REVIEW.name: says("Known work does this [P1][P2][P3], and so does [P9].")}
    found = await evaluated(cites_all, web(), **all_knowing)
    review = reviews_of(found, "validity")[0]
    assert review.removed_citation_count == 1
    assert "P9" not in review.review
    assert "https://blog.example.org/a" in review.review
    assert "https://papers.example.org/h" in review.review
    rows = [row for row in found.citations if row.subject == "omniscient validity"]
    kinds = {record.knowledge_id: record.kind for record in found.evaluation.knowledge}
    assert {(kinds[row.knowledge_id or ""], row.paper_id is None) for row in rows} == {
        (SourceKind.PAPERS, False),
        (SourceKind.WEB, True),
    }


async def test_a_masked_item_cannot_be_cited(tmp_path: Any) -> None:
    path = tmp_path / "personas.toml"
    path.write_text(EVERYTHING.replace("familiarity_web_0_to_1 = 1", "familiarity_web_0_to_1 = 0"))
    text = "See [P1][P2][P3] and https://blog.example.org/a for this."
    answers = {PERSONA_REVIEW.name: says(text)}
    found = await evaluated(answers, web(), persona_count=1, personas_file=str(path))
    review = found.evaluation.reviews[0]
    assert "blog.example.org" not in review.review
    assert review.masked_evidence_count > 0
    assert review.removed_citation_count > 0


async def test_the_meta_review_cites_what_reviews_cite_under_its_own_keys(
    all_knowing: dict[str, Any],
) -> None:
    def concluding(question: MetaInput) -> MetaReply:
        assert "[P1]" in question.reviews[0].review
        assert "example.org" not in question.model_dump_json()
        texts = {"summary": "It holds [P1], says [P7].", "strengths": "Fast [P1]."}
        return MetaReply(**texts, weaknesses="", decision=Decision.ORAL)

    answers = {PERSONA_REVIEW.name: says("Done before [P2]."), META_REVIEW.name: concluding}
    found = await evaluated(answers, web(), **all_knowing)
    meta = found.evaluation.meta_review
    assert (meta.decision, meta.removed_citation_count) == (Decision.ORAL, 1)
    cited: dict[bool, set[str | None]] = {True: set(), False: set()}
    for row in found.citations:
        cited[row.subject == "meta_review"].add(row.knowledge_id)
    assert cited[True] == cited[False]


async def test_nothing_found_is_no_evidence_and_only_clarity_is_judged() -> None:
    found = await evaluated(library=Library())
    assert reasons_of(found, "novelty") == {Reason.NO_EVIDENCE}
    assert reasons_of(found, "clarity") == {None}
    meta = found.evaluation.meta_review
    assert list(meta.dimension_means) == ["clarity"]
    assert (meta.scored_review_count, meta.unscored_review_count) == (3, 12)
    assert meta.krippendorff_alpha is None


async def test_a_source_that_is_down_is_never_evidence_of_novelty() -> None:
    down = FakeSource("serper", SourceKind.WEB, failure=DOWN)
    found, engine = await evaluated_with_engine(None, down, library=Library())
    assert reasons_of(found, "novelty") == {Reason.SOURCE_UNAVAILABLE}
    assert any(failure.reason == "server_error" for failure in found.evaluation.failures)
    assert engine.inputs_of(PERSONA_REVIEW)[0].unanswered_searches > 0


STYLE = PersonaReply(reviews=[DimensionReview(dimension="style", review="Well.", score=3)])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda _: Reason.REFUSED, Reason.REFUSED),
        (says("  "), Reason.REPLY_EMPTY),
        (lambda _: STYLE, Reason.REPLY_UNPARSABLE),
        (says("Well.", 1, 9), Reason.REPLY_UNPARSABLE),
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
        reviews = says("Reasons.", 4.0)(question).reviews
        return PersonaReply(reviews=[each for each in reviews if each.dimension != "novelty"])

    found = await evaluated({PERSONA_REVIEW.name: without_novelty})
    assert reasons_of(found, "novelty") == {Reason.REPLY_UNPARSABLE}
    meta = found.evaluation.meta_review
    assert (meta.total_score_0_to_10, meta.unscored_review_count) == (4.0, 3)
    assert "novelty" not in meta.dimension_means


async def test_a_failed_meta_review_keeps_the_computed_total_and_has_no_decision() -> None:
    found = await evaluated(
        {META_REVIEW.name: lambda _: Reason.TIMED_OUT, PERSONA_REVIEW.name: says("Reasons.", 8.0)}
    )
    meta = found.evaluation.meta_review
    assert (meta.total_score_0_to_10, meta.decision) == (8.0, None)
    assert (meta.unscored_reason, meta.krippendorff_alpha) == (Reason.TIMED_OUT, None)


async def test_an_idea_that_cannot_be_taken_apart_is_unscored_for_that_reason() -> None:
    found = await evaluated({"structure_idea": lambda _: Reason.ENGINE_UNAVAILABLE})
    meta = found.evaluation.meta_review
    assert (meta.unscored_reason, found.evaluation.reviews) == (Reason.ENGINE_UNAVAILABLE, ())
    assert "taken apart" in meta.unscored_detail
    assert [each.reason for each in found.evaluation.failures] == [Reason.ENGINE_UNAVAILABLE]


async def test_an_idea_without_a_method_is_reviewed_all_the_same() -> None:
    text = (
        "Sparse attention for long documents is limited by memory. However, nobody knows why"
        " documents need it."
    )
    found = await evaluated(idea=replace(IDEA, text=text))
    assert reasons_of(found, "clarity") == {None}
    assert any("does not have: methods" in failure.detail for failure in found.evaluation.failures)


async def test_a_user_s_own_dimension_is_judged_beside_the_five(tmp_path: Any) -> None:
    path = tmp_path / "personas.toml"
    path.write_text('[[dimension]]\nname = "memory_use"\nquestion = "Does it save memory?"\n')
    found = await evaluated(personas_file=str(path))
    judged = [review.dimension for review in found.evaluation.reviews[:6]]
    assert judged == [*DIMENSIONS, "memory_use"]
    assert None in reasons_of(found, "memory_use")


async def test_unusable_suggestions_are_a_failure_and_not_an_empty_advice(
    all_knowing: dict[str, Any],
) -> None:
    refusing = {LATER_SUGGESTIONS.name: lambda _: Reason.REFUSED}
    found = await evaluated(refusing, web(), use_later_knowledge=True, **all_knowing)
    failures = [(each.subject, each.reason) for each in found.evaluation.failures]
    assert (LATER_SUGGESTIONS.name, "refused") in failures
    reply = LaterReply(suggestions="Overlap the buckets [P1][P4].")
    answering = {LATER_SUGGESTIONS.name: lambda _: reply}
    found = await evaluated(answering, web(), use_later_knowledge=True, **all_knowing)
    assert found.evaluation.meta_review.removed_citation_count == 1


async def test_the_panel_of_the_profile_is_the_one_that_reviews() -> None:
    panels = []
    for name in ("one", "other"):
        idea = replace(IDEA, idea_id=name)
        found = await evaluated(idea=idea, same_panel=True, panel_field=OTHER_FIELD)
        panels.append({review.persona_id for review in found.evaluation.reviews})
    assert panels[0] == panels[1]
    assert "clinician" in panels[0]


async def test_a_literature_outside_the_field_is_not_searched_and_reviewers_are_told() -> None:
    found, engine = await evaluated_with_engine(None, web(), with_literature=False)
    assert {record.kind for record in found.evaluation.knowledge} == {SourceKind.WEB}
    assert found.papers == ()
    told = engine.inputs_of(PERSONA_REVIEW)
    assert {(each.field_not_covered, each.unanswered_searches) for each in told} == {(True, 0)}
