"""The whole module against fakes: what is found, what is not, what fails."""

from datetime import date
from typing import Any

import pytest

from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import IdeaId, PaperId
from schemas.judgement.contribution import CandidateOrigin, ContributionEvaluation
from schemas.literature.paper import CitationEdge
from schemas.reasons import Reason
from tasks.contribution.evaluate import evaluate_contribution
from tasks.contribution.steps.compare_paper import COMPARE_PAPER, ComparisonReply
from tasks.contribution.steps.contribution_queries import QueriesReply
from tasks.contribution.steps.contribution_review import CONTRIBUTION_REVIEW, ReviewReply
from tasks.contribution.steps.extract_dimensions import DimensionsReply
from tasks.contribution.steps.relevance import RELEVANCE, RelevanceReply
from tasks.judging.findings import Findings
from tasks.judging.steps import VERIFY_CITATIONS, VerifyReply
from tasks.judging.suggestions import ProposedSuggestion
from tasks.literature.edges import PASSAGE_WORDS, relevant_passages
from tests.support.contribution_fakes import (
    Delays,
    FakeEngine,
    FakeLiterature,
    WordEmbedder,
    paper,
    parameters,
)

IDEA = Idea(
    idea_id=IdeaId("bats"),
    title="Bats",
    text=(
        "We will build a recorder for bats. We propose a theory of echo calls and a data set of"
        " calls."
    ),
    cutoff_date=date(2024, 1, 1),
)
SCORES = {
    "bats-5": 5,
    "bats-4": 4,
    "bats-3": 3,
    "bats-1": 1,
    "bats-near": 4,
    "bats-cited": 3,
    "bats-far": 0,
}
FOUND = tuple(
    paper(name, f"The calls of bats, {name}.") for name in ("bats-1", "bats-3", "bats-5", "bats-4")
)
NEIGHBOURS = {
    "bats-5": (
        paper("bats-near", "Echo and bats."),
        paper("bats-4", "Known."),
        paper("bats-far", "Bats and tax law."),
    )
}
CITED = {
    "bats-4": (paper("bats-cited", "Bats, cited."),),
    "bats-3": (paper("bats-near", "Echo and bats."),),
}


def two_dimensions(question: Any) -> DimensionsReply:
    return DimensionsReply.model_validate(
        {
            "dimensions": [
                {"name": "Tool", "statements": ["A recorder for bats."]},
                {"name": "Theory", "statements": ["A theory of calls."]},
            ]
        }
    )


def queries(question: Any) -> QueriesReply:
    queries = [f"{question.dimensions[0].name} bats", "bats calls"]
    return QueriesReply.model_validate({"statements": [{"statement": 1, "queries": queries}]})


def relevance(question: Any) -> RelevanceReply:
    entries = [
        {"key": p.key, "rationale": p.title, "score": SCORES[p.title.removeprefix("On ")]}
        for p in question.papers
    ]
    return RelevanceReply.model_validate({"papers": entries})


def comparison(question: Any) -> ComparisonReply:
    along = [
        {"dimension": d.dimension_id, "comparison": f"along {d.name}", "score": 1}
        for d in question.dimensions
    ]
    papers = [
        {"key": p.key, "overall_comparison": f"against {p.title}", "dimensions": along}
        for p in question.papers
    ]
    return ComparisonReply.model_validate({"papers": papers})


def review(question: Any) -> ReviewReply:
    return ReviewReply(
        strengths="New against [P1]. Also against [P2].",
        weaknesses="Seen in [P1] and [P99].",
        suggestions=(
            ProposedSuggestion(change="Compare with it.", because="It is nearest [P2] [P99]."),
        ),
    )


ANSWERS = {
    "extract_dimensions": two_dimensions,
    "contribution_queries": queries,
    "relevance": relevance,
    "compare_paper": comparison,
    "contribution_review": review,
}


def literature(**options: Any) -> FakeLiterature:
    return FakeLiterature(FOUND, recommended=NEIGHBOURS, cited=CITED, **options)


async def evaluated(
    source: FakeLiterature | None = None,
    *,
    delays: Delays | None = None,
    embedder: WordEmbedder | None = None,
    answers: dict[str, Any] | None = None,
    **changes: Any,
) -> tuple[Findings[ContributionEvaluation], FakeEngine]:
    embedder = embedder or WordEmbedder()
    engine = FakeEngine(embedder, {**ANSWERS, **(answers or {})}, delays)
    return (
        await evaluate_contribution(
            IDEA, parameters(**changes), engine, source or literature(), embedder
        ),
        engine,
    )


def by_paper(findings: Findings[ContributionEvaluation]) -> dict[str, Any]:
    return {candidate.paper_id: candidate for candidate in findings.evaluation.candidates}


async def test_the_way_of_the_papers_is_recorded() -> None:
    findings, _ = await evaluated()
    candidates = by_paper(findings)
    assert {name: one.relevance_0_to_5 for name, one in candidates.items()} == SCORES
    assert {name for name, one in candidates.items() if one.seed} == {"bats-5", "bats-4", "bats-3"}
    assert {name for name, one in candidates.items() if one.compared} == {
        "bats-5",
        "bats-4",
        "bats-3",
        "bats-near",
        "bats-cited",
    }
    assert (candidates["bats-near"].origin, candidates["bats-near"].found_by) == (
        CandidateOrigin.RECOMMENDATION,
        "bats-5",
    )
    assert (candidates["bats-cited"].origin, candidates["bats-cited"].found_by) == (
        CandidateOrigin.REFERENCE,
        "bats-4",
    )
    assert candidates["bats-4"].origin is CandidateOrigin.SEARCH
    assert [one.paper_id for one in findings.papers] == list(candidates)
    assert findings.evaluation.failures == ()


async def test_comparisons_cover_every_compared_paper_and_dimension() -> None:
    findings, _ = await evaluated()
    compared = {name for name, one in by_paper(findings).items() if one.compared}
    cells = [(one.paper_id, one.dimension_id) for one in findings.evaluation.comparisons]
    assert sorted(cells) == sorted(
        (name, dimension) for name in compared for dimension in ("d1", "d2")
    )


async def test_papers_are_compared_most_relevant_first_and_keep_their_key_in_every_review() -> None:
    findings, engine = await evaluated(papers_compared=2)
    assert findings.evaluation.comparisons[0].paper_id == "bats-5"
    shown = [
        [(one.key, one.title) for one in question.comparisons]
        for question in engine.inputs_of(CONTRIBUTION_REVIEW)
    ]
    assert len(shown) == 2
    assert shown[0] == shown[1]
    assert shown[0][0] == ("P1", "On bats-5")


async def test_citations_are_settled_and_made_up_keys_counted() -> None:
    findings, _ = await evaluated(papers_compared=2)
    first = findings.evaluation.reviews[0]
    assert "bats-5, 2020" in first.strengths
    assert "P99" not in first.weaknesses
    assert first.removed_citation_count == 2
    suggestion = findings.suggestions[0]
    assert (suggestion.module, suggestion.subject) == ("contribution", "d1")
    assert suggestion.citation_keys == ("P2",)
    assert "P99" not in suggestion.because
    cited = {(one.paper_id, one.citation_key, one.subject, one.field) for one in findings.citations}
    assert ("bats-5", "P1", "d1", "strengths") in cited
    assert {one.module for one in findings.citations} == {"contribution"}


async def test_removed_citations_of_comparisons_add_up_over_the_rows_of_a_paper() -> None:
    def reply(question: Any) -> ComparisonReply:
        along = [
            {"dimension": each.dimension_id, "comparison": "As in [P98].", "score": 1}
            for each in question.dimensions
        ]
        paper = {
            "overall_comparison": "See [P97] [P99].",
            "remains": "Not [P96].",
            "dimensions": along,
        }
        return ComparisonReply.model_validate(
            {"papers": [{**paper, "key": each.key} for each in question.papers]}
        )

    findings, _ = await evaluated(papers_compared=2, answers={"compare_paper": reply})
    counts = [each.removed_citation_count for each in findings.evaluation.comparisons]
    assert counts == [4, 1, 4, 1]


async def test_the_cutoff_travels_with_every_search_and_a_query_is_sent_once() -> None:
    source = literature()
    findings, _ = await evaluated(source)
    assert source.cutoffs == {IDEA.cutoff_date}
    assert sorted(source.queries) == ["Theory bats", "Tool bats", "bats calls"]
    assert findings.evaluation.dimensions[0].queries == ("Tool bats", "bats calls")


async def test_references_of_all_seeds_are_asked_for_together() -> None:
    source = literature()
    await evaluated(source)
    assert source.reference_calls == [("bats-5", "bats-4", "bats-3")]


async def test_nothing_is_looked_up_where_the_profile_asks_for_none() -> None:
    source = literature()
    findings, _ = await evaluated(source, recommendations_per_seed=0, references_per_seed=0)
    assert source.reference_calls == []
    assert set(by_paper(findings)) == {"bats-1", "bats-3", "bats-4", "bats-5"}


@pytest.mark.parametrize("seed", range(4))
async def test_the_result_does_not_depend_on_who_answers_first(seed: int) -> None:
    calm, _ = await evaluated()
    hurried, _ = await evaluated(literature(delays=Delays(seed)), delays=Delays(seed + 100))
    assert without_times(calm) == without_times(hurried)


def without_times(findings: Findings[ContributionEvaluation]) -> tuple[Any, ...]:
    def cleaned(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: cleaned(one) for name, one in value.items() if name != "created_at"}
        return [cleaned(one) for one in value] if isinstance(value, list | tuple) else value

    return cleaned(findings.evaluation.model_dump()), findings.papers, findings.citations


async def test_each_text_is_embedded_once() -> None:
    embedder = WordEmbedder()
    await evaluated(embedder=embedder, maximum_judged_papers=3, embedding_top=1)
    assert len(embedder.texts) == len(set(embedder.texts))


async def test_papers_beyond_the_limit_stay_in_the_table_unjudged_with_their_similarity() -> None:
    findings, _ = await evaluated(maximum_judged_papers=2, embedding_top=1)
    unjudged = [
        one
        for one in findings.evaluation.candidates
        if one.origin is CandidateOrigin.SEARCH and one.relevance_0_to_5 is None
    ]
    assert unjudged
    assert all(
        one.provenance is None and one.unscored_reason is None and one.similarity_0_to_1 is not None
        for one in unjudged
    )


NONE_RELEVANT = {
    "relevance": lambda q: RelevanceReply.model_validate(
        {"papers": [{"key": p.key, "rationale": "", "score": 0} for p in q.papers]}
    )
}


async def test_the_lexical_prefilter_embeds_no_more_than_three_times_what_is_needed() -> None:
    many = tuple(
        paper(f"bats-{number}", f"Bats and {'calls ' * (number % 5)} item {number}.")
        for number in range(40)
    )
    embedder = WordEmbedder()
    source = FakeLiterature(many)
    findings, _ = await evaluated(
        source,
        embedder=embedder,
        answers=NONE_RELEVANT,
        papers_per_query=40,
        maximum_judged_papers=5,
        embedding_top=1,
        lexical_prefilter=True,
    )
    assert 15 <= sum(text.startswith("On bats") for text in embedder.texts) <= 15 + 3
    assert len(findings.evaluation.candidates) == 40


async def test_papers_are_chosen_by_as_many_words_as_the_profile_says() -> None:
    long = tuple(paper(f"bats-{number}", "Echo calls of bats. " * 30) for number in range(8))
    embedder = WordEmbedder()
    await evaluated(
        FakeLiterature(long),
        embedder=embedder,
        answers=NONE_RELEVANT,
        maximum_judged_papers=2,
        embedded_word_limit=20,
    )
    of_papers = [text for text in embedder.texts if "Echo calls" in text]
    assert of_papers
    assert all(len(text.split()) <= 20 for text in of_papers)


async def test_a_paper_without_abstract_is_unscored_and_never_shown() -> None:
    source = FakeLiterature(
        (*FOUND, paper("bats-calls-mute", None)), recommended=NEIGHBOURS, cited=CITED
    )
    findings, engine = await evaluated(source)
    mute = by_paper(findings)["bats-calls-mute"]
    assert (mute.relevance_0_to_5, mute.unscored_reason, mute.seed, mute.compared) == (
        None,
        Reason.NO_EVIDENCE,
        False,
        False,
    )
    assert all(
        "mute" not in p.title for question in engine.inputs_of(RELEVANCE) for p in question.papers
    )


async def test_a_paper_the_relevance_reply_omits_is_unscored_and_no_seed() -> None:
    def forgetful(question: Any) -> RelevanceReply:
        kept = [entry for entry in relevance(question).papers if entry.rationale != "On bats-5"]
        return RelevanceReply(papers=kept)

    findings, _ = await evaluated(answers={"relevance": forgetful})
    left_out = by_paper(findings)["bats-5"]
    assert (left_out.relevance_0_to_5, left_out.unscored_reason, left_out.seed) == (
        None,
        Reason.REPLY_UNPARSABLE,
        False,
    )
    assert left_out.provenance is not None
    assert [(one.subject, one.reason) for one in findings.evaluation.failures] == [
        ("bats-5", Reason.REPLY_UNPARSABLE)
    ]


async def test_a_dimension_the_comparison_omits_is_unscored_and_outside_the_mean() -> None:
    def forgetful(question: Any) -> ComparisonReply:
        entries = comparison(question).papers
        return ComparisonReply(
            papers=[
                entries[0].model_copy(update={"dimensions": entries[0].dimensions[:1]}),
                *entries[1:],
            ]
        )

    findings, _ = await evaluated(
        answers={"compare_paper": forgetful}, papers_per_comparison_call=10
    )
    missing = [one for one in findings.evaluation.comparisons if one.score is None]
    assert [(one.paper_id, one.dimension_id, one.unscored_reason) for one in missing] == [
        ("bats-5", "d2", Reason.REPLY_UNPARSABLE)
    ]
    theory = findings.evaluation.reviews[1]
    assert (
        theory.mean_comparison_score,
        theory.scored_comparison_count,
        theory.unscored_comparison_count,
    ) == (1.0, 4, 1)


async def test_dimensions_answered_by_name_are_understood_and_two_answers_that_differ_are_none() -> (
    None
):
    def odd(question: Any) -> ComparisonReply:
        along = [
            {"dimension": "tool", "comparison": "by name", "score": -1},
            {"dimension": "d2", "comparison": "one", "score": 1},
            {"dimension": "Theory", "comparison": "other", "score": 0},
        ]
        return ComparisonReply.model_validate(
            {
                "papers": [
                    {"key": p.key.lower(), "overall_comparison": "o", "dimensions": along}
                    for p in question.papers
                ]
            }
        )

    findings, _ = await evaluated(answers={"compare_paper": odd})
    assert {one.score for one in findings.evaluation.comparisons if one.dimension_id == "d1"} == {
        -1
    }
    assert {
        one.unscored_reason for one in findings.evaluation.comparisons if one.dimension_id == "d2"
    } == {Reason.REPLY_UNPARSABLE}
    assert findings.evaluation.reviews[1].unscored_reason is Reason.REPLY_UNPARSABLE


async def test_a_search_that_failed_entirely_is_never_novelty() -> None:
    findings, engine = await evaluated(literature(failing=lambda query: True))
    assert {one.unscored_reason for one in findings.evaluation.reviews} == {
        Reason.SOURCE_UNAVAILABLE
    }
    assert len(findings.evaluation.failures) == 3
    assert all(
        one.reason == "server_error" and one.retryable for one in findings.evaluation.failures
    )
    assert not engine.inputs_of(COMPARE_PAPER)


async def test_an_empty_answer_beside_a_failed_search_is_no_evidence_of_novelty_either() -> None:
    source = FakeLiterature((), failing=lambda query: query == "bats calls")
    findings, _ = await evaluated(source)
    assert {one.unscored_reason for one in findings.evaluation.reviews} == {
        Reason.SOURCE_UNAVAILABLE
    }
    assert "1 of 3 searches" in findings.evaluation.reviews[0].unscored_detail


async def test_a_failed_search_beside_relevant_papers_is_a_failure_but_not_the_end() -> None:
    findings, _ = await evaluated(literature(failing=lambda query: query == "Tool bats"))
    assert all(one.unscored_reason is None for one in findings.evaluation.reviews)
    assert [one.subject for one in findings.evaluation.failures] == ["Tool bats"]


@pytest.mark.parametrize(
    "source", [FakeLiterature(()), FakeLiterature((paper("bats-far", "Bats and tax law."),))]
)
async def test_looked_and_found_nothing_relevant_is_no_evidence(source: FakeLiterature) -> None:
    findings, _ = await evaluated(source)
    assert {one.unscored_reason for one in findings.evaluation.reviews} == {Reason.NO_EVIDENCE}
    assert "not proof of novelty" in findings.evaluation.reviews[0].unscored_detail
    assert {one.provenance.step for one in findings.evaluation.reviews} == {
        CONTRIBUTION_REVIEW.name
    }
    assert findings.evaluation.failures == ()


async def test_without_dimensions_there_is_a_failure_and_no_search() -> None:
    source = literature()
    findings, _ = await evaluated(source, answers={"extract_dimensions": lambda q: Reason.REFUSED})
    assert findings.evaluation.reviews == ()
    assert [one.reason for one in findings.evaluation.failures] == [Reason.REFUSED]
    assert source.queries == []


async def test_an_idea_that_claims_nothing_has_nothing_to_judge_and_no_score() -> None:
    source = literature()
    findings, _ = await evaluated(
        source, answers={"extract_dimensions": lambda q: DimensionsReply(dimensions=[])}
    )
    assert (findings.evaluation.dimensions, findings.evaluation.reviews, source.queries) == (
        (),
        (),
        [],
    )
    assert [one.reason for one in findings.evaluation.failures] == [Reason.NOTHING_TO_JUDGE]


async def test_without_queries_the_reviews_say_why() -> None:
    findings, _ = await evaluated(
        answers={"contribution_queries": lambda q: Reason.ENGINE_UNAVAILABLE}
    )
    assert {one.unscored_reason for one in findings.evaluation.reviews} == {
        Reason.ENGINE_UNAVAILABLE
    }
    assert all(one.retryable for one in findings.evaluation.failures)


async def test_a_statement_without_a_query_is_a_failure() -> None:
    def one_statement(question: Any) -> DimensionsReply:
        return DimensionsReply.model_validate(
            {"dimensions": [{"name": "Tool", "statements": ["First.", "Second."]}]}
        )

    findings, _ = await evaluated(answers={"extract_dimensions": one_statement})
    assert [one.detail for one in findings.evaluation.failures] == [
        "the reply has no query for statement 2, so nothing was searched for it"
    ]


async def test_a_spent_budget_during_relevance_unscores_the_reviews_and_counts_the_calls() -> None:
    findings, _ = await evaluated(
        answers={"relevance": lambda q: Reason.BUDGET_EXHAUSTED}, papers_per_relevance_call=1
    )
    assert {one.unscored_reason for one in findings.evaluation.candidates} == {
        Reason.BUDGET_EXHAUSTED
    }
    assert {one.unscored_reason for one in findings.evaluation.reviews} == {Reason.BUDGET_EXHAUSTED}
    (failure,) = findings.evaluation.failures
    assert failure.detail.startswith("4 calls: ")


async def test_comparisons_that_fail_leave_cells_and_reviews_unscored() -> None:
    findings, _ = await evaluated(answers={"compare_paper": lambda q: Reason.TIMED_OUT})
    assert {one.unscored_reason for one in findings.evaluation.comparisons} == {Reason.TIMED_OUT}
    assert [
        (one.unscored_reason, one.unscored_comparison_count) for one in findings.evaluation.reviews
    ] == [(Reason.TIMED_OUT, 5)] * 2


async def test_a_review_that_fails_keeps_its_mean_and_takes_no_other_down() -> None:
    def first_fails(question: Any) -> ReviewReply | Reason:
        return Reason.REPLY_CUT_OFF if question.dimension.dimension_id == "d1" else review(question)

    findings, _ = await evaluated(answers={"contribution_review": first_fails})
    broken, whole = findings.evaluation.reviews
    assert (broken.unscored_reason, broken.mean_comparison_score, broken.strengths) == (
        Reason.REPLY_CUT_OFF,
        1.0,
        "",
    )
    assert whole.unscored_reason is None
    assert [one.subject for one in findings.evaluation.failures] == ["d1"]


async def test_packing_changes_the_calls_and_not_the_answers() -> None:
    single, many_calls = await evaluated(papers_per_relevance_call=1, papers_per_comparison_call=1)
    packed, few_calls = await evaluated(papers_per_relevance_call=20, papers_per_comparison_call=20)
    assert without_times(single) == without_times(packed)
    assert len(many_calls.inputs_of(RELEVANCE)) == 7
    assert len(few_calls.inputs_of(RELEVANCE)) == 2
    assert len(many_calls.inputs_of(COMPARE_PAPER)) == 5
    assert len(few_calls.inputs_of(COMPARE_PAPER)) == 1


async def test_keys_of_a_comparison_never_reach_the_review_where_they_mean_other_papers() -> None:
    def citing(question: Any) -> ComparisonReply:
        entries = comparison(question).model_dump()["papers"]
        for entry in entries:
            entry["dimensions"] = [
                {**along, "comparison": f"Unlike [{entry['key']}], [P1][P99] records."}
                for along in entry["dimensions"]
            ]
        return ComparisonReply.model_validate({"papers": entries})

    findings, _ = await evaluated(answers={"compare_paper": citing}, papers_per_comparison_call=2)
    assert all("[P" not in one.comparison for one in findings.evaluation.comparisons)
    assert any("“" in one.comparison for one in findings.evaluation.comparisons)


async def test_without_augmentation_only_what_searches_found_is_compared() -> None:
    source = literature()
    findings, _ = await evaluated(source, augment_papers=False)
    assert {candidate.origin for candidate in findings.evaluation.candidates} == {
        CandidateOrigin.SEARCH
    }
    assert source.reference_calls == source.pooled_seeds == []
    assert findings.evaluation.comparisons


async def test_without_comparison_the_review_sees_abstracts_and_there_is_no_score() -> None:
    shown: list[Any] = []

    def sees(question: Any) -> ReviewReply:
        shown.append(question)
        return review(question)

    findings, _ = await evaluated(answers={"contribution_review": sees}, compare_papers=False)
    assert findings.evaluation.comparisons == ()
    assert [entry.score for question in shown for entry in question.comparisons] == [None] * 10
    assert shown[0].comparisons[0].comparison == "The calls of bats, bats-5."
    for one in findings.evaluation.reviews:
        assert one.strengths
        assert (one.mean_comparison_score, one.scored_comparison_count, one.unscored_reason) == (
            None,
            0,
            None,
        )


def overlapping(question: Any) -> ComparisonReply:
    """`bats-3` has the core of the tool; `bats-5` is quoted with other words than its own."""

    def entry(shown: Any) -> dict[str, Any]:
        name = shown.title.removeprefix("On ")
        near = name == "bats-3"
        quotes = {"bats-3": "The calls of bats, bats-3", "bats-5": "the songs of some other birds"}
        along = [
            {"dimension": "d1", "overlap": "substantial" if near else "none", "comparison": name},
            {"dimension": "d2", "overlap": "none", "comparison": ""},
        ]
        return {
            "key": shown.key,
            "overall_comparison": f"against {name}",
            "remains": "The echo." if near else "",
            "quote": quotes.get(name, ""),
            "dimensions": [{**one, "score": 0} for one in along],
        }

    return ComparisonReply.model_validate({"papers": [entry(one) for one in question.papers]})


async def test_the_closest_work_is_shown_first_with_its_abstract_and_what_remains() -> None:
    findings, engine = await evaluated(answers={"compare_paper": overlapping})
    first = engine.inputs_of(CONTRIBUTION_REVIEW)[0].comparisons
    assert (first[0].title, first[0].overlap) == ("On bats-3", "substantial")
    assert (first[0].abstract, first[0].remains, first[0].overall) == (
        "The calls of bats, bats-3.",
        "The echo.",
        "against bats-3",
    )
    assert [bool(one.abstract) for one in first] == [True, True, True, False, False]
    tool, theory = findings.evaluation.reviews
    # One work of five leaves 3 of 10 of the tool new; the next one tells nothing, and decides.
    assert (tool.novelty_0_to_10, theory.novelty_0_to_10) == (5.0, 5.0)
    assert (tool.novelty_lower_0_to_10, tool.novelty_upper_0_to_10) == (3.0, 5.0)
    assert tool.mean_comparison_score == 0


async def test_a_quote_that_is_not_in_the_abstract_is_left_out_on_record() -> None:
    findings, _ = await evaluated(answers={"compare_paper": overlapping})
    quotes = {one.paper_id: one.quote for one in findings.evaluation.comparisons}
    assert (quotes["bats-3"], quotes["bats-5"]) == ("The calls of bats, bats-3", "")
    (failure,) = findings.evaluation.failures
    assert (failure.subject, failure.reason) == ("bats-5", Reason.PASSAGE_NOT_FOUND)


async def test_the_ideas_own_publication_is_known_by_its_authors_and_a_near_title() -> None:
    idea = replace(
        IDEA,
        title="Cheap recorders that count bats by their calls",
        metadata={"authors": "Ada Lovelace; Grace Hopper"},
    )
    own = replace(
        paper("bats-own", "A recorder for bats."),
        title="Cheap recorders count bats from calls",
        authors=("A. Lovelace", "G. Hopper"),
    )
    embedder = WordEmbedder()
    source = FakeLiterature((*FOUND, own))
    findings = await evaluate_contribution(
        idea, parameters(), FakeEngine(embedder, ANSWERS), source, embedder
    )
    assert [(one.subject, one.reason) for one in findings.evaluation.failures] == [
        ("bats-own", Reason.THE_IDEA_ITSELF)
    ]


async def test_the_ideas_own_publication_is_set_apart_and_never_compared() -> None:
    copied = " ".join(["We build a recorder for bats", *(f"call{n}" for n in range(40))])
    idea = Idea(idea_id=IdeaId("bats"), title="Bats", text=f"{IDEA.text} {copied}")
    own = paper("bats-own", copied)
    embedder = WordEmbedder()
    engine = FakeEngine(embedder, ANSWERS)
    source = FakeLiterature((*FOUND, own))
    findings = await evaluate_contribution(idea, parameters(), engine, source, embedder)
    candidate = by_paper(findings)["bats-own"]
    assert not candidate.compared
    assert candidate.relevance_0_to_5 is None
    assert candidate.rationale.startswith("possibly this work")
    assert "bats-own" not in {one.paper_id for one in findings.evaluation.comparisons}
    assert [(one.subject, one.reason) for one in findings.evaluation.failures] == [
        ("bats-own", Reason.THE_IDEA_ITSELF)
    ]


async def test_sentences_of_a_review_are_held_against_the_abstracts_they_cite() -> None:
    def corrected(question: Any) -> VerifyReply:
        first, *others = question.claims
        told = [{"claim": each.number, "verdict": "supported"} for each in others]
        mended = {"claim": first.number, "verdict": "partly", "correction": "Near it [P1]."}
        return VerifyReply.model_validate({"claims": [mended, *told]})

    findings, engine = await evaluated(
        answers={"verify_citations": corrected}, papers_compared=2, verify_citations=True
    )
    first, second = findings.evaluation.reviews
    assert first.strengths.startswith("Near it (bats-5, 2020). Also against")
    assert (first.checked_sentence_count, first.corrected_sentence_count) == (3, 1)
    assert (second.checked_sentence_count, second.corrected_sentence_count) == (3, 0)
    (asked,) = engine.inputs_of(VERIFY_CITATIONS)
    assert [source.title for source in asked.sources] == ["On bats-5", "On bats-near"]
    assert ("d1", "suggestions") in {(one.subject, one.field) for one in findings.citations}


async def test_the_most_relevant_papers_are_compared_at_length() -> None:
    _, engine = await evaluated(
        closest_papers=1, words_per_closest_comparison=30, words_per_comparison=10
    )
    asked = engine.inputs_of(COMPARE_PAPER)
    assert (len(asked[0].papers), asked[0].words_per_text) == (1, 30)
    assert {each.words_per_text for each in asked[1:]} == {10}


async def test_a_paper_found_through_a_reference_is_shown_with_the_words_that_cite_it() -> None:
    cited = next(paper for papers in CITED.values() for paper in papers)
    told = ("Tides are tidy.", f"{IDEA.text.split('.')[0]} " + "and so on " * 40)
    _, engine = await evaluated(literature(passages={cited.paper_id: told}))
    shown = {
        paper.title: paper.cited_as
        for question in engine.inputs_of(RELEVANCE)
        for paper in question.papers
    }
    assert shown[cited.title] == " ".join(told[1].split()[:PASSAGE_WORDS])
    assert [title for title, words in shown.items() if words] == [cited.title]


def test_of_several_passages_the_one_nearest_to_the_idea_is_taken_and_unknown_ones_give_none() -> (
    None
):
    def edge(cited: str, contexts: tuple[str, ...] | None) -> CitationEdge:
        ends = {"citing_paper_id": PaperId("a"), "cited_paper_id": PaperId(cited)}
        return CitationEdge(**ends, contexts=contexts)

    edges = [edge("b", None), edge("c", ()), edge("d", ("Zebras run.", "Bats hunt by echo."))]
    assert relevant_passages("How bats hunt by echo", edges) == {"d": "Bats hunt by echo."}
