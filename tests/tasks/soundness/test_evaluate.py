"""The whole module against stand-ins: what it asks, what it keeps, and in which order."""

import asyncio
from datetime import date
from typing import Any

import pytest

from schemas.base import replace
from schemas.idea import Idea
from schemas.judgement.soundness import SoundnessEvaluation
from schemas.literature.paper import Passage
from schemas.reasons import Reason
from tasks.judging.findings import Findings
from tasks.judging.steps import (
    ClaimVerdict,
    Verdict,
    VerifyInput,
    VerifyReply,
)
from tasks.soundness.evaluate import evaluate_soundness
from tasks.soundness.steps.extract_methods import MethodsReply, ProposedMethod
from tasks.soundness.steps.method_evidence import METHOD_EVIDENCE, EvidenceReply, PaperReading
from tasks.soundness.steps.soundness_query import MethodQuery, QueriesReply
from tasks.soundness.steps.soundness_review import ReviewReply, SummaryReply
from tests.support.contribution_fakes import Delays
from tests.support.soundness_fakes import (
    PARAMETERS,
    FakeDocuments,
    FakeEngine,
    FakeLiterature,
    paper,
    passage,
    queries_for,
)

IDEA = Idea(
    idea_id="i1", title="An idea", text="We will do alpha\n  and then, on mice,  beta. Also gamma."
)
PAPERS = tuple(paper(number) for number in range(1, 10))
PASSAGES = {
    "query alpha": (
        passage(1, score=0.4, cites=(2, 3)),
        passage(4, score=0.9),
        passage(5, score=0.6, cites=(6,)),
    ),
    "query beta": (passage(1, score=0.5, cites=(2,)), passage(7, score=0.2)),
    "query gamma": (passage(8, score=0.8, cites=(9,)),),
}


def literature(**changes: object) -> FakeLiterature:
    return FakeLiterature(**{"passages": PASSAGES, "fetched": PAPERS, **changes})  # type: ignore[arg-type]


class WatchedEngine(FakeEngine):
    """Notes how many readings are under way whenever one sets out."""

    def __init__(self, delays: Delays) -> None:
        super().__init__(delays=delays)
        self.under_way: list[int] = []
        self._open = 0

    async def run(self, step: Any, inputs: Any) -> Any:
        if step is not METHOD_EVIDENCE:
            return await super().run(step, inputs)
        self._open += 1
        self.under_way.append(self._open)
        await asyncio.sleep(0)
        outcome = await super().run(step, inputs)
        self._open -= 1
        return outcome


async def evaluated(
    idea: Idea = IDEA,
    engine: FakeEngine | None = None,
    source: FakeLiterature | None = None,
    documents: FakeDocuments | None = None,
    **parameters: object,
) -> Findings[SoundnessEvaluation]:
    return await evaluate_soundness(
        idea,
        replace(PARAMETERS, **parameters),
        engine or FakeEngine(),
        source or literature(),
        documents or FakeDocuments(),
    )


@pytest.mark.parametrize("seed", range(5))
async def test_the_first_reading_for_an_idea_is_answered_before_any_other_sets_out(
    seed: int,
) -> None:
    engine = WatchedEngine(Delays(seed))
    await evaluated(engine=engine, papers_per_reading_call=1)
    under_way = engine.under_way
    assert len(under_way) == 9
    assert under_way[:2] == [1, 1], "the second reading set out beside the first"
    assert max(under_way) > 1, "the others go side by side"


async def test_every_method_gets_a_query_evidence_and_a_review_and_the_idea_a_summary() -> None:
    evaluation = (await evaluated()).evaluation
    assert [method.method_id for method in evaluation.methods] == ["m1", "m2", "m3"]
    assert [method.queries for method in evaluation.methods] == [
        ("query alpha",),
        ("query beta",),
        ("query gamma",),
    ]
    assert [review.score_0_to_10 for review in evaluation.reviews] == [7, 7, 7]
    assert [review.evidence_count for review in evaluation.reviews] == [4, 3, 2]
    assert len(evaluation.summary.strengths) == 3
    assert evaluation.failures == ()
    assert len(evaluation.passages) == 6


async def test_papers_are_read_in_order_of_passage_score_up_to_the_limit() -> None:
    evaluation = (await evaluated()).evaluation
    assert [row.paper_id for row in evaluation.evidence if row.method_id == "m1"] == [
        "paper04",
        "paper05",
        "paper06",
        "paper01",
    ]


async def test_without_passage_papers_only_a_passage_that_cites_nothing_lends_its_own() -> None:
    evaluation = (await evaluated(include_passage_papers=False)).evaluation
    assert [row.paper_id for row in evaluation.evidence if row.method_id == "m1"] == [
        "paper04",
        "paper06",
        "paper02",
        "paper03",
    ]


async def test_a_paper_named_by_several_methods_is_fetched_and_opened_once() -> None:
    source, documents = literature(), FakeDocuments()
    findings = await evaluated(source=source, documents=documents)
    assert len(source.looked_up) == len(set(source.looked_up)) == 9
    assert len(documents.asked) == len(set(documents.asked))
    assert [each.paper_id for each in findings.papers] == sorted(each.paper_id for each in PAPERS)


@pytest.mark.parametrize("seed", range(8))
async def test_the_result_does_not_depend_on_who_answers_first(seed: int) -> None:
    plain = await evaluated()
    shuffled = await evaluated(
        engine=FakeEngine(delays=Delays(seed)),
        source=literature(delays=Delays(seed + 100)),
        documents=FakeDocuments(delays=Delays(seed + 200)),
    )
    assert shuffled == plain


async def test_evidence_is_shown_newest_first_and_citations_are_rendered_and_recorded() -> None:
    engine = FakeEngine()
    findings = await evaluated(engine=engine)
    shown = next(
        inputs for inputs in engine.inputs_of("soundness_review") if "alpha" in inputs.method
    )
    assert [item.published for item in shown.evidence] == [
        "2016-06",
        "2015-06",
        "2014-06",
        "2011-06",
    ]
    assert [item.key for item in shown.evidence] == ["P1", "P2", "P3", "P4"]
    assert (
        findings.evaluation.reviews[0].support
        == "It worked elsewhere with good results [(Author6 et al.,"
        " 2016-06)](https://example.org/6)."
    )
    cited = [
        (row.subject, row.field, row.paper_id) for row in findings.citations if row.subject == "m1"
    ]
    assert cited == [
        ("m1", "support", "paper06"),
        ("m1", "contradictions", "paper01"),
        ("m1", "suggestions", "paper06"),
        ("m1", "suggestions", "paper01"),
    ]
    retrieved = {each.paper_id for each in findings.papers}
    assert {row.paper_id for row in findings.citations} <= retrieved


async def test_the_summary_sees_keys_that_hold_across_methods() -> None:
    engine = FakeEngine()
    findings = await evaluated(engine=engine)
    (inputs,) = engine.inputs_of("soundness_summary")
    assert [review.support.split("[")[1] for review in inputs.reviews] == ["P1].", "P3].", "P4]."]
    assert "(Author9 et al., 2019-06)" in findings.evaluation.summary.strengths[2]
    assert [row.paper_id for row in findings.citations if row.subject == "summary"] == [
        "paper06",
        "paper07",
        "paper09",
    ]


async def test_papers_after_the_cutoff_are_dropped_counted_and_never_cited() -> None:
    findings = await evaluated(idea=replace(IDEA, cutoff_date=date(2015, 12, 31)))
    assert {each.paper_id for each in findings.papers} == {
        "paper01",
        "paper02",
        "paper03",
        "paper04",
        "paper05",
    }
    assert all(
        each.publication_date <= date(2015, 12, 31)
        for each in findings.papers
        if each.publication_date
    )
    assert {row.paper_id for row in findings.citations} <= {
        each.paper_id for each in findings.papers
    }
    assert {passage.paper_id for passage in findings.evaluation.passages} <= {
        each.paper_id for each in findings.papers
    }
    assert any(
        "published after the cutoff" in failure.detail for failure in findings.evaluation.failures
    )


async def test_a_quote_is_kept_only_when_it_occurs_in_the_idea_whatever_its_white_space() -> None:
    methods = MethodsReply(
        methods=(
            ProposedMethod(text="The first.", quote="do alpha and then, on mice, beta"),
            ProposedMethod(text="The second.", quote="do delta"),
        )
    )
    evaluation = (
        await evaluated(engine=FakeEngine({"extract_methods": lambda _: methods}))
    ).evaluation
    assert [method.quote for method in evaluation.methods] == [
        "do alpha and then, on mice, beta",
        "",
    ]


async def test_methods_beyond_the_limit_are_left_out_on_record() -> None:
    evaluation = (await evaluated(maximum_methods=2)).evaluation
    assert [method.method_id for method in evaluation.methods] == ["m1", "m2"]
    assert evaluation.methods[0].provenance.shortening == "1 methods beyond the limit of 2 left out"


async def test_a_query_over_the_limit_is_cut_on_record() -> None:
    engine = FakeEngine(
        {
            "soundness_query": lambda _: QueriesReply(
                queries=(MethodQuery(method=1, queries=("word " * 83,)),)
            )
        }
    )
    method = (await evaluated(engine=engine)).evaluation.methods[0]
    assert len(method.queries[0].split()) == 70
    assert method.provenance.shortening == "query cut to 70 words, 13 left out"
    assert method.provenance.call_ids == ("call-extract_methods", "call-soundness_query")


async def test_a_section_over_the_limit_is_cut_in_the_prompt_kept_whole_in_the_result_and_on_record() -> (
    None
):
    engine = FakeEngine()
    documents = FakeDocuments(full_text={"paper04": "method " * 150})
    evaluation = (await evaluated(engine=engine, documents=documents)).evaluation
    shown = [
        each
        for inputs in engine.inputs_of("method_evidence")
        for each in inputs.papers
        if each.title == "Paper number 4"
    ]
    assert [section.kind for section in shown[0].sections] == ["abstract", "methods", "passages"]
    assert shown[0].sections[1].words_left_out == 50
    prompts = [
        METHOD_EVIDENCE.messages(inputs)[1]["content"]
        for inputs in engine.inputs_of("method_evidence")
    ]
    assert any("50 words of this section are left out" in prompt for prompt in prompts)
    assert len(shown[0].sections[1].text.split()) == 100
    row = next(row for row in evaluation.evidence if row.paper_id == "paper04")
    assert row.provenance.shortening == "left out at the section limit: 50 words of methods"
    assert (
        next(each for each in evaluation.sections if each.section == "methods").text
        == "method " * 150
    )
    items = [item for inputs in engine.inputs_of("soundness_review") for item in inputs.evidence]
    assert {item.title: item.read_from for item in items}["Paper number 4"] == "full text"
    assert {item.title: item.read_from for item in items}["Paper number 5"] == "abstract"


async def test_papers_are_judged_in_calls_of_the_profile_s_size() -> None:
    one, many = FakeEngine(), FakeEngine()
    await evaluated(engine=one, papers_per_reading_call=1)
    await evaluated(engine=many, papers_per_reading_call=3)
    assert {len(inputs.papers) for inputs in one.inputs_of("method_evidence")} == {1}
    assert sorted(len(inputs.papers) for inputs in many.inputs_of("method_evidence")) == [
        1,
        2,
        3,
        3,
    ]


async def test_invented_keys_are_taken_out_and_counted() -> None:
    reply = ReviewReply(support="It works well in practice [P77].", contradictions="", score=9)
    engine = FakeEngine(
        {
            "soundness_review": lambda _: reply,
            "soundness_summary": lambda _: SummaryReply(
                strengths=("Great [P5].",), weaknesses=(), suggestions=()
            ),
        }
    )
    evaluation = (await evaluated(engine=engine)).evaluation
    assert evaluation.reviews[0].removed_citation_count == 1
    assert evaluation.reviews[0].uncited_sentence_count == 1
    assert "P77" not in evaluation.reviews[0].support
    assert [failure.subject for failure in evaluation.failures] == ["summary"]


async def test_a_summary_of_more_than_three_is_cut_on_record() -> None:
    reply = SummaryReply(strengths=("a", "b", "c", "d"), weaknesses=(), suggestions=("e",))
    summary = (
        await evaluated(engine=FakeEngine({"soundness_summary": lambda _: reply}))
    ).evaluation.summary
    assert summary.strengths == ("a", "b", "c")
    assert summary.provenance.shortening == "left out beyond three: 1 strengths"


async def test_passages_that_name_papers_by_corpus_id_are_resolved() -> None:
    fetched = (paper(1, corpus_id=111), paper(2, corpus_id=222))
    found = Passage(
        passage_id="s",
        paper_id="CorpusId:111",
        text="t",
        kind="body",
        score=1.0,
        cited_paper_ids=("CorpusId:222", "CorpusId:9"),
    )
    findings = await evaluated(source=FakeLiterature({"query alpha": (found,)}, fetched))
    assert findings.evaluation.passages[0].paper_id == "paper01"
    assert findings.evaluation.passages[0].cited_paper_ids == ("paper02", "CorpusId:9")
    assert [row.paper_id for row in findings.evaluation.evidence] == ["paper01", "paper02"]
    assert [each.paper_id for each in findings.papers] == ["paper01", "paper02"]


async def test_queries_of_several_methods_come_from_one_call_and_one_left_out_unscores_only_its_method() -> (
    None
):
    def not_for_the_second(inputs: Any) -> QueriesReply:
        whole = queries_for(inputs)
        return QueriesReply(queries=tuple(answer for answer in whole.queries if answer.method != 2))

    engine = FakeEngine({"soundness_query": not_for_the_second})
    evaluation = (await evaluated(engine=engine, methods_per_query_call=5)).evaluation
    assert [len(inputs.methods) for inputs in engine.inputs_of("soundness_query")] == [3]
    assert [method.queries for method in evaluation.methods] == [
        ("query alpha",),
        (),
        ("query gamma",),
    ]
    assert "no query for this method" in evaluation.reviews[1].unscored_detail


async def test_without_extraction_passages_are_judged_themselves_and_nothing_they_cite_is_read() -> (
    None
):
    documents = FakeDocuments()
    evaluation = (
        await evaluated(documents=documents, extract_methods_and_results=False)
    ).evaluation
    assert {row.paper_id for row in evaluation.evidence if row.method_id == "m1"} == {
        "paper01",
        "paper04",
        "paper05",
    }
    assert evaluation.sections == ()
    assert [review.score_0_to_10 for review in evaluation.reviews] == [7, 7, 7]


def three_and_a_failure(inputs: Any) -> QueriesReply:
    return QueriesReply(
        queries=tuple(
            MethodQuery(
                method=number,
                queries=("query alpha", "query beta", "query gamma", "a fourth"),
                failure_query="alpha fails",
            )
            for number in range(1, len(inputs.methods) + 1)
        )
    )


@pytest.mark.parametrize(
    ("unlimited", "searched"),
    [
        (True, ["query alpha", "query beta", "query gamma", "alpha fails"]),
        (False, ["query alpha, query beta, query gamma", "alpha fails"]),
    ],
)
async def test_a_snapshot_is_asked_every_query_and_a_live_source_those_of_a_method_together(
    unlimited: bool, searched: list[str]
) -> None:
    source = literature(unlimited=unlimited)
    engine = FakeEngine({"soundness_query": three_and_a_failure})
    parameters = {"maximum_methods": 1, "queries_per_method": 3}
    method = (await evaluated(engine=engine, source=source, **parameters)).evaluation.methods[0]
    assert source.searched[: len(searched)] == searched
    assert method.queries == ("query alpha", "query beta", "query gamma")
    assert method.failure_query == "alpha fails"
    assert "1 queries beyond those asked for" in str(method.provenance.shortening)


async def test_passages_of_several_queries_take_turns_whatever_their_scores() -> None:
    passages = {
        "query alpha": (passage(1, score=0.9), passage(2, score=0.8)),
        "alpha fails": (passage(3, score=900), passage(2, score=800)),
    }
    answer = QueriesReply(
        queries=(MethodQuery(method=1, queries=("query alpha",), failure_query="alpha fails"),)
    )
    engine = FakeEngine({"soundness_query": lambda _: answer})
    source = literature(passages=passages, unlimited=True)
    evaluation = (await evaluated(engine=engine, source=source, maximum_methods=1)).evaluation
    assert [each.passage_id for each in evaluation.passages] == ["s2", "s1", "s3"]


async def test_references_a_model_made_up_are_taken_out_of_evidence_and_counted() -> None:
    made_up = "(Smith, 2020) 10.1234/abc arXiv:2101.00001 https://made.up/x"

    def reply(inputs: Any) -> EvidenceReply:
        method, results = f"It routes {made_up}.", "“P1 does (Lee, 1999)”"
        return EvidenceReply(
            papers=tuple(
                PaperReading(key=each.key, relevance=3, method=method, results=results)
                for each in inputs.papers
            )
        )

    evaluation = (await evaluated(engine=FakeEngine({"method_evidence": reply}))).evaluation
    assert {(row.method, row.results) for row in evaluation.evidence} == {
        ("It routes.", "“P1 does (Lee, 1999)”")
    }
    assert {row.removed_citation_count for row in evaluation.evidence} == {4}


async def test_a_method_without_evidence_is_searched_for_once_more_in_its_own_words() -> None:
    own = "Method alpha of the idea."
    source = literature(passages={own: (passage(5, score=1.0),)})
    evaluation = (await evaluated(source=source, maximum_methods=1)).evaluation
    assert source.searched == ["query alpha", own]
    assert evaluation.reviews[0].score_0_to_10 == 7
    assert [row.paper_id for row in evaluation.evidence] == ["paper05"]


async def test_a_distant_paper_is_kept_and_its_review_is_told_how_far_it_is() -> None:
    def graded(inputs: Any) -> EvidenceReply:
        grades = {"P1": 1, "P2": 0}
        return EvidenceReply(
            papers=tuple(
                PaperReading(key=each.key, relevance=grades.get(each.key, 3), results="It was so.")
                for each in inputs.papers
            )
        )

    engine = FakeEngine({"method_evidence": graded})
    evaluation = (await evaluated(engine=engine, papers_per_reading_call=9)).evaluation
    first = [row for row in evaluation.evidence if row.method_id == "m1"]
    assert [(row.relevance_0_to_3, row.relevant) for row in first] == [
        (1, True),
        (0, False),
        (3, True),
        (3, True),
    ]
    assert [bool(row.results) for row in first] == [True, False, True, True]
    shown = engine.inputs_of("soundness_review")[0].evidence
    assert sorted(item.relevance for item in shown) == [1, 3, 3]


async def test_the_sentences_nearest_to_the_method_are_shown_and_the_passages_that_led_there() -> (
    None
):
    filler = "Weather was recorded daily at noon. " * 30
    text = f"{filler}Alpha was applied as a method of the idea in mice. {filler}"
    engine = FakeEngine()
    documents = FakeDocuments(full_text={"paper06": text})
    await evaluated(engine=engine, documents=documents, section_word_limit=50)
    shown = {
        paper.title: {section.kind: section for section in paper.sections}
        for inputs in engine.inputs_of("method_evidence")
        if inputs.method.startswith("Method alpha")
        for paper in inputs.papers
    }
    sections = shown["Paper number 6"]
    assert "Alpha was applied" in sections["methods"].text
    assert sections["methods"].words_left_out > 300
    assert sections["cited_in"].text == "Passage 5"
    assert shown["Paper number 4"]["passages"].text == "Passage 4"


async def test_all_methods_show_the_same_part_of_a_long_idea() -> None:
    filler = "Weather was fair and nobody complained about it. " * 40
    engine = FakeEngine()
    idea = replace(IDEA, text=f"{filler}{IDEA.text} {filler}")
    await evaluated(idea=idea, engine=engine, idea_word_limit=100)
    shown = [
        *engine.inputs_of("method_evidence"),
        *engine.inputs_of("soundness_review"),
    ]
    assert len({inputs.idea for inputs in shown}) == 1, "their prompts begin alike"
    assert "alpha" in shown[0].idea
    assert len(shown[0].idea.split()) + shown[0].idea_words_left_out == len(idea.text.split())


async def test_the_ideas_own_publication_is_set_apart_and_never_read() -> None:
    title = "Alpha for the mice of tomorrow"
    idea = replace(IDEA, title=title)
    papers = tuple(
        replace(each, title=title.upper()) if each.paper_id == "paper04" else each
        for each in PAPERS
    )
    evaluation = (await evaluated(idea=idea, source=literature(fetched=papers))).evaluation
    assert "paper04" not in {row.paper_id for row in evaluation.evidence}
    assert [(each.subject, each.reason) for each in evaluation.failures] == [
        ("paper04", Reason.THE_IDEA_ITSELF)
    ]


def verdicts(inputs: VerifyInput) -> VerifyReply:
    """The first claim of a call is not supported, the others are."""
    return VerifyReply(
        claims=[
            ClaimVerdict(claim=claim.number, verdict=Verdict.SUPPORTED if place else Verdict.NOT)
            for place, claim in enumerate(inputs.claims)
        ]
    )


async def test_what_no_stored_text_carries_is_taken_out_with_its_citation_and_counted() -> None:
    engine = FakeEngine({"verify_citations": verdicts})
    findings = await evaluated(engine=engine, verify_citations=True)
    (asked,) = engine.inputs_of("verify_citations")
    assert all(source.text for source in asked.sources)
    first, second, *_ = findings.evaluation.reviews
    assert first.support == ""
    assert (first.checked_sentence_count, first.dropped_sentence_count) == (2, 1)
    assert (second.dropped_sentence_count, second.corrected_sentence_count) == (0, 0)
    cited = [row.field for row in findings.citations if row.subject == first.method_id]
    assert cited == ["contradictions", "suggestions", "suggestions"]
    (summary,) = engine.inputs_of("soundness_summary")
    assert summary.reviews[0].support == "", "the summary is made of what was verified"


async def test_without_the_switch_and_offline_nothing_is_verified() -> None:
    engine = FakeEngine({"verify_citations": verdicts})
    findings = await evaluated(engine=engine)
    assert engine.inputs_of("verify_citations") == []
    assert {each.checked_sentence_count for each in findings.evaluation.reviews} == {None}
    engine = FakeEngine({"verify_citations": verdicts}, name="extractive")
    await evaluated(engine=engine, verify_citations=True)
    assert engine.inputs_of("verify_citations") == []


def _distant(inputs: Any) -> EvidenceReply:
    return EvidenceReply(
        papers=tuple(
            PaperReading(key=each.key, relevance=1, results="It was so.") for each in inputs.papers
        )
    )


async def test_a_method_with_only_distant_papers_has_no_score_and_costs_no_review() -> None:
    engine = FakeEngine({"method_evidence": _distant})
    evaluation = (await evaluated(engine=engine, minimum_relevance=2)).evaluation
    assert {review.unscored_reason for review in evaluation.reviews} == {Reason.NO_EVIDENCE}
    assert all("distant" in review.unscored_detail for review in evaluation.reviews)
    assert all(row.relevant for row in evaluation.evidence), "what was read stays"
    assert engine.inputs_of("soundness_review") == []


async def test_the_published_method_reviews_a_method_by_distant_papers_too() -> None:
    evaluation = (await evaluated(engine=FakeEngine({"method_evidence": _distant}))).evaluation
    assert [review.score_0_to_10 for review in evaluation.reviews] == [7, 7, 7]
