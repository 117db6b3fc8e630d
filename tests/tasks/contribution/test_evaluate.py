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
from tasks.judging.relevance import RelevanceEntry
from tasks.judging.steps import VERIFY_CITATIONS, VerifyReply
from tasks.judging.suggestions import ProposedSuggestion
from tasks.literature.edges import PASSAGE_WORDS, relevant_passages
from tests.support.contribution_fakes import (
    Delays,
    FakeEngine,
    FakeLiterature,
    WordEmbedder,
    compared_alike,
    judged_alike,
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
SCORES = {"5": 5, "4": 4, "3": 3, "1": 1, "near": 4, "cited": 3, "far": 0}
"""Relevance by paper."""
FOUND = tuple(paper(f"bats-{name}", f"The calls of bats, bats-{name}.") for name in "1354")
NEAR, FAR = paper("bats-near", "Echo and bats."), paper("bats-far", "Bats and tax law.")
RECOMMENDED = {"bats-5": (NEAR, paper("bats-4", "Known."), FAR)}
CITED = {"bats-4": (paper("bats-cited", "Bats, cited."),), "bats-3": (NEAR,)}


def dimensions(*names_and_statements: tuple[str, list[str]]) -> DimensionsReply:
    rows = [{"name": name, "statements": texts} for name, texts in names_and_statements]
    return DimensionsReply.model_validate({"dimensions": rows})


def queries(question: Any) -> QueriesReply:
    texts = [f"{question.dimensions[0].name} bats", "bats calls"]
    return QueriesReply.model_validate({"statements": [{"statement": 1, "queries": texts}]})


def relevance(question: Any) -> RelevanceReply:
    entries = [
        RelevanceEntry(key=p.key, rationale=p.title, score=SCORES[p.title.removeprefix("On bats-")])
        for p in question.papers
    ]
    return RelevanceReply(papers=entries)


comparison = compared_alike(1)


def review(question: Any) -> ReviewReply:
    suggestion = ProposedSuggestion(change="Compare.", because="It is nearest [P2] [P99].")
    return ReviewReply(
        strengths="New against [P1]. Also against [P2].",
        weaknesses="Seen in [P1] and [P99].",
        suggestions=(suggestion,),
    )


ANSWERS = {
    "extract_dimensions": lambda _: dimensions(
        ("Tool", ["A recorder for bats."]), ("Theory", ["A theory of calls."])
    ),
    "contribution_queries": queries,
    "relevance": relevance,
    "compare_paper": comparison,
    "contribution_review": review,
}


def literature(**options: Any) -> FakeLiterature:
    return FakeLiterature(FOUND, recommended=RECOMMENDED, cited=CITED, **options)


async def evaluated(
    source: FakeLiterature | None = None,
    *,
    idea: Idea = IDEA,
    delays: Delays | None = None,
    embedder: WordEmbedder | None = None,
    answers: dict[str, Any] | None = None,
    **changes: Any,
) -> tuple[Findings[ContributionEvaluation], FakeEngine]:
    embedder = embedder or WordEmbedder()
    engine = FakeEngine(embedder, {**ANSWERS, **(answers or {})}, delays)
    source = source or literature()
    chosen = parameters(**changes)
    return await evaluate_contribution(idea, chosen, engine, source, embedder), engine


def by_paper(findings: Findings[ContributionEvaluation]) -> dict[str, Any]:
    """Candidates by the end of their names."""
    candidates = findings.evaluation.candidates
    return {each.paper_id.removeprefix("bats-"): each for each in candidates}


def reasons(findings: Findings[ContributionEvaluation]) -> set[Reason | None]:
    return {one.unscored_reason for one in findings.evaluation.reviews}


def failures(findings: Findings[ContributionEvaluation]) -> list[tuple[str, str]]:
    return [(one.subject, one.reason) for one in findings.evaluation.failures]


async def test_the_way_of_the_papers_is_recorded() -> None:
    findings, _ = await evaluated()
    candidates = by_paper(findings)
    assert {name: one.relevance_0_to_5 for name, one in candidates.items()} == SCORES
    assert {name for name, one in candidates.items() if one.seed} == {"5", "4", "3"}
    compared = {name for name, one in candidates.items() if one.compared}
    assert compared == {"5", "4", "3", "near", "cited"}
    assert {
        name: (candidates[name].origin, candidates[name].found_by) for name in ("near", "cited")
    } == {
        "near": (CandidateOrigin.RECOMMENDATION, "bats-5"),
        "cited": (CandidateOrigin.REFERENCE, "bats-4"),
    }
    assert candidates["4"].origin is CandidateOrigin.SEARCH
    assert [one.paper_id for one in findings.papers] == [f"bats-{name}" for name in candidates]
    cells = [(one.paper_id, one.dimension_id) for one in findings.evaluation.comparisons]
    assert sorted(cells) == sorted((f"bats-{one}", d) for one in compared for d in ("d1", "d2"))
    assert findings.evaluation.failures == ()


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
        paper = {"overall_comparison": "See [P97] [P99].", "remains": "Not [P96]."}
        return ComparisonReply.model_validate(
            {
                "papers": [
                    {**paper, "dimensions": along, "key": each.key} for each in question.papers
                ]
            }
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
    assert source.reference_calls == [("bats-5", "bats-4", "bats-3")], "one look-up for all seeds"


@pytest.mark.parametrize(
    "changes",
    [{"recommendations_per_seed": 0, "references_per_seed": 0}, {"augment_papers": False}],
)
async def test_nothing_is_looked_up_where_the_profile_asks_for_none(
    changes: dict[str, Any],
) -> None:
    source = literature()
    findings, _ = await evaluated(source, **changes)
    assert source.reference_calls == source.pooled_seeds == []
    assert set(by_paper(findings)) == {"1", "3", "4", "5"}
    assert findings.evaluation.comparisons


def without_times(findings: Findings[ContributionEvaluation]) -> tuple[Any, ...]:
    def cleaned(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: cleaned(one) for name, one in value.items() if name != "created_at"}
        return [cleaned(one) for one in value] if isinstance(value, list | tuple) else value

    return cleaned(findings.evaluation.model_dump()), findings.papers, findings.citations


@pytest.mark.parametrize("seed", range(4))
async def test_the_result_does_not_depend_on_who_answers_first(seed: int) -> None:
    calm, _ = await evaluated()
    hurried, _ = await evaluated(literature(delays=Delays(seed)), delays=Delays(seed + 100))
    assert without_times(calm) == without_times(hurried)


async def test_packing_changes_the_calls_and_not_the_answers() -> None:
    single, many_calls = await evaluated(papers_per_relevance_call=1, papers_per_comparison_call=1)
    packed, few_calls = await evaluated(papers_per_relevance_call=20, papers_per_comparison_call=20)
    assert without_times(single) == without_times(packed)
    for step, many, few in ((RELEVANCE, 7, 2), (COMPARE_PAPER, 5, 1)):
        assert (len(many_calls.inputs_of(step)), len(few_calls.inputs_of(step))) == (many, few)


async def test_papers_beyond_the_limit_stay_in_the_table_unjudged_with_their_similarity() -> None:
    embedder = WordEmbedder()
    findings, _ = await evaluated(embedder=embedder, maximum_judged_papers=2, embedding_top=1)
    assert len(embedder.texts) == len(set(embedder.texts)), "each text is embedded once"
    unjudged = [
        one
        for one in findings.evaluation.candidates
        if one.origin is CandidateOrigin.SEARCH and one.relevance_0_to_5 is None
    ]
    assert unjudged
    assert {(one.provenance, one.unscored_reason) for one in unjudged} == {(None, None)}
    assert all(one.similarity_0_to_1 is not None for one in unjudged)


async def test_the_lexical_prefilter_embeds_no_more_than_three_times_what_is_needed() -> None:
    many = tuple(
        paper(f"bats-{number}", f"Bats and {'calls ' * (number % 5)} item {number}.")
        for number in range(40)
    )
    embedder = WordEmbedder()
    findings, _ = await evaluated(
        FakeLiterature(many),
        embedder=embedder,
        answers={"relevance": judged_alike(0)},
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
    answers = {"relevance": judged_alike(0)}
    limits = {"maximum_judged_papers": 2, "embedded_word_limit": 20}
    await evaluated(FakeLiterature(long), embedder=embedder, answers=answers, **limits)
    of_papers = [text for text in embedder.texts if "Echo calls" in text]
    assert of_papers
    assert all(len(text.split()) <= 20 for text in of_papers)


async def test_a_paper_without_abstract_is_unscored_and_never_shown() -> None:
    mute_paper = paper("bats-calls-mute", None)
    findings, engine = await evaluated(FakeLiterature((*FOUND, mute_paper)))
    mute = by_paper(findings)["calls-mute"]
    assert (mute.relevance_0_to_5, mute.unscored_reason) == (None, Reason.NO_EVIDENCE)
    assert not (mute.seed or mute.compared)
    shown = [p.title for question in engine.inputs_of(RELEVANCE) for p in question.papers]
    assert mute_paper.title not in shown


async def test_a_paper_the_relevance_reply_omits_is_unscored_and_no_seed() -> None:
    def forgetful(question: Any) -> RelevanceReply:
        entries = relevance(question).papers
        return RelevanceReply(papers=[each for each in entries if each.rationale != "On bats-5"])

    findings, _ = await evaluated(answers={"relevance": forgetful})
    left_out = by_paper(findings)["5"]
    assert (left_out.relevance_0_to_5, left_out.unscored_reason, left_out.seed) == (
        None,
        Reason.REPLY_UNPARSABLE,
        False,
    )
    assert left_out.provenance is not None
    assert failures(findings) == [("bats-5", Reason.REPLY_UNPARSABLE)]


async def test_a_dimension_the_comparison_omits_is_unscored_and_outside_the_mean() -> None:
    def forgetful(question: Any) -> ComparisonReply:
        first, *others = comparison(question).papers
        shorter = first.model_copy(update={"dimensions": first.dimensions[:1]})
        return ComparisonReply(papers=[shorter, *others])

    answers = {"compare_paper": forgetful}
    findings, _ = await evaluated(answers=answers, papers_per_comparison_call=10)
    missing = [one for one in findings.evaluation.comparisons if one.score is None]
    assert [(one.paper_id, one.dimension_id, one.unscored_reason) for one in missing] == [
        ("bats-5", "d2", Reason.REPLY_UNPARSABLE)
    ]
    theory = findings.evaluation.reviews[1]
    assert theory.mean_comparison_score == 1.0
    assert (theory.scored_comparison_count, theory.unscored_comparison_count) == (4, 1)


async def test_dimensions_answered_by_name_are_understood_and_two_answers_that_differ_are_none() -> (
    None
):
    def odd(question: Any) -> ComparisonReply:
        answers = (("tool", -1), ("d2", 1), ("Theory", 0))
        along = [{"dimension": name, "comparison": "c", "score": one} for name, one in answers]
        entry = {"overall_comparison": "o", "dimensions": along}
        return ComparisonReply.model_validate(
            {"papers": [{**entry, "key": p.key.lower()} for p in question.papers]}
        )

    findings, _ = await evaluated(answers={"compare_paper": odd})
    cells = {
        (one.dimension_id, one.score, one.unscored_reason)
        for one in findings.evaluation.comparisons
    }
    assert cells == {("d1", -1, None), ("d2", None, Reason.REPLY_UNPARSABLE)}
    assert findings.evaluation.reviews[1].unscored_reason is Reason.REPLY_UNPARSABLE


async def test_a_search_that_failed_entirely_is_never_novelty() -> None:
    findings, engine = await evaluated(literature(failing=lambda query: True))
    assert reasons(findings) == {Reason.SOURCE_UNAVAILABLE}
    assert [one.reason for one in findings.evaluation.failures] == ["server_error"] * 3
    assert all(one.retryable for one in findings.evaluation.failures)
    assert not engine.inputs_of(COMPARE_PAPER)


async def test_an_empty_answer_beside_a_failed_search_is_no_evidence_of_novelty_either() -> None:
    source = FakeLiterature((), failing=lambda query: query == "bats calls")
    findings, _ = await evaluated(source)
    assert reasons(findings) == {Reason.SOURCE_UNAVAILABLE}
    assert "1 of 3 searches" in findings.evaluation.reviews[0].unscored_detail


async def test_a_failed_search_beside_relevant_papers_is_a_failure_but_not_the_end() -> None:
    findings, _ = await evaluated(literature(failing=lambda query: query == "Tool bats"))
    assert reasons(findings) == {None}
    assert failures(findings) == [("Tool bats", "server_error")]


@pytest.mark.parametrize("source", [FakeLiterature(()), FakeLiterature((FAR,))])
async def test_looked_and_found_nothing_relevant_is_no_evidence(source: FakeLiterature) -> None:
    findings, _ = await evaluated(source)
    assert reasons(findings) == {Reason.NO_EVIDENCE}
    first = findings.evaluation.reviews[0]
    assert "not proof of novelty" in first.unscored_detail
    assert first.provenance.step == CONTRIBUTION_REVIEW.name
    assert findings.evaluation.failures == ()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(Reason.REFUSED, Reason.REFUSED), (dimensions(), Reason.NOTHING_TO_JUDGE)],
)
async def test_without_dimensions_there_is_a_failure_and_no_search(
    answer: Any, reason: Reason
) -> None:
    source = literature()
    findings, _ = await evaluated(source, answers={"extract_dimensions": lambda _: answer})
    assert (findings.evaluation.dimensions, findings.evaluation.reviews) == ((), ())
    assert (failures(findings), source.queries) == ([("bats", reason)], [])


async def test_without_queries_the_reviews_say_why() -> None:
    answers = {"contribution_queries": lambda _: Reason.ENGINE_UNAVAILABLE}
    findings, _ = await evaluated(answers=answers)
    assert reasons(findings) == {Reason.ENGINE_UNAVAILABLE}
    assert all(one.retryable for one in findings.evaluation.failures)


async def test_a_spent_budget_during_relevance_unscores_the_reviews_and_counts_the_calls() -> None:
    answers = {"relevance": lambda _: Reason.BUDGET_EXHAUSTED}
    findings, _ = await evaluated(answers=answers, papers_per_relevance_call=1)
    candidates = findings.evaluation.candidates
    assert {one.unscored_reason for one in candidates} == {Reason.BUDGET_EXHAUSTED}
    assert reasons(findings) == {Reason.BUDGET_EXHAUSTED}
    (failure,) = findings.evaluation.failures
    assert failure.detail.startswith("4 calls: ")


async def test_comparisons_that_fail_leave_cells_and_reviews_unscored() -> None:
    findings, _ = await evaluated(answers={"compare_paper": lambda _: Reason.TIMED_OUT})
    assert {one.unscored_reason for one in findings.evaluation.comparisons} == {Reason.TIMED_OUT}
    assert reasons(findings) == {Reason.TIMED_OUT}
    assert {one.unscored_comparison_count for one in findings.evaluation.reviews} == {5}


async def test_a_review_that_fails_keeps_its_mean_and_takes_no_other_down() -> None:
    def first_fails(question: Any) -> ReviewReply | Reason:
        return Reason.REPLY_CUT_OFF if question.dimension.dimension_id == "d1" else review(question)

    findings, _ = await evaluated(answers={"contribution_review": first_fails})
    broken, whole = findings.evaluation.reviews
    assert (broken.unscored_reason, broken.strengths) == (Reason.REPLY_CUT_OFF, "")
    assert broken.mean_comparison_score == 1.0
    assert whole.unscored_reason is None
    assert failures(findings) == [("d1", Reason.REPLY_CUT_OFF)]


async def test_keys_of_a_comparison_never_reach_the_review_where_they_mean_other_papers() -> None:
    def citing(question: Any) -> ComparisonReply:
        entries = comparison(question).model_dump()["papers"]
        for entry in entries:
            text = f"Unlike [{entry['key']}], [P1][P99] records."
            entry["dimensions"] = [{**along, "comparison": text} for along in entry["dimensions"]]
        return ComparisonReply.model_validate({"papers": entries})

    findings, _ = await evaluated(answers={"compare_paper": citing}, papers_per_comparison_call=2)
    assert all("[P" not in one.comparison for one in findings.evaluation.comparisons)
    assert any("“" in one.comparison for one in findings.evaluation.comparisons)


async def test_without_comparison_the_review_sees_abstracts_and_there_is_no_score() -> None:
    findings, engine = await evaluated(compare_papers=False)
    assert findings.evaluation.comparisons == ()
    shown = [one for each in engine.inputs_of(CONTRIBUTION_REVIEW) for one in each.comparisons]
    assert [entry.score for entry in shown] == [None] * 10
    assert shown[0].comparison == "The calls of bats, bats-5."
    assert reasons(findings) == {None}
    for one in findings.evaluation.reviews:
        assert one.strengths
        assert (one.mean_comparison_score, one.scored_comparison_count) == (None, 0)


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


COPIED = " ".join(["We build a recorder for bats", *(f"call{n}" for n in range(40))])
TITLES = ("Cheap recorders that count bats by their calls", "Cheap recorders count bats from calls")


@pytest.mark.parametrize(
    ("idea", "own"),
    [
        (
            replace(IDEA, title=TITLES[0], metadata={"authors": "Ada Lovelace; Grace Hopper"}),
            replace(
                paper("bats-own", "A recorder for bats."),
                title=TITLES[1],
                authors=("A. Lovelace", "G. Hopper"),
            ),
        ),
        (replace(IDEA, text=f"{IDEA.text} {COPIED}"), paper("bats-own", COPIED)),
    ],
    ids=["authors and a near title", "the same abstract"],
)
async def test_the_ideas_own_publication_is_set_apart_and_never_compared(
    idea: Idea, own: Any
) -> None:
    findings, _ = await evaluated(FakeLiterature((*FOUND, own)), idea=idea)
    candidate = by_paper(findings)["own"]
    assert (candidate.compared, candidate.relevance_0_to_5) == (False, None)
    assert candidate.rationale.startswith("possibly this work")
    assert failures(findings) == [("bats-own", Reason.THE_IDEA_ITSELF)]


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
