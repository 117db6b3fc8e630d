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
from tasks.judging.steps import ClaimVerdict, Verdict, VerifyInput, VerifyReply
from tasks.soundness.steps.extract_methods import MethodsReply, ProposedMethod
from tasks.soundness.steps.method_evidence import METHOD_EVIDENCE, EvidenceReply, PaperReading
from tasks.soundness.steps.soundness_query import MethodQuery, QueriesReply
from tasks.soundness.steps.soundness_review import ReviewReply, SummaryReply
from tests.support.contribution_fakes import Delays
from tests.support.soundness_fakes import (
    FakeDocuments,
    FakeEngine,
    FakeLiterature,
    evaluate,
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


def literature(**changes: Any) -> FakeLiterature:
    return FakeLiterature(**{"passages": PASSAGES, "fetched": PAPERS, **changes})


async def findings_of(
    answers: dict[str, Any] | None = None,
    *,
    idea: Idea = IDEA,
    source: FakeLiterature | None = None,
    **more: Any,
) -> Findings[SoundnessEvaluation]:
    return await evaluate(idea, source or literature(), answers, **more)


async def evaluated(answers: dict[str, Any] | None = None, **more: Any) -> SoundnessEvaluation:
    return (await findings_of(answers, **more)).evaluation


def read_for(evaluation: SoundnessEvaluation, method_id: str) -> list[int]:
    """Numbers of the papers that were read for a method, in order."""
    rows = [row for row in evaluation.evidence if row.method_id == method_id]
    return [int(row.paper_id.removeprefix("paper")) for row in rows]


def readings(**fields: Any) -> dict[str, Any]:
    """An answer that reads every paper in one way."""

    def reply(inputs: Any) -> EvidenceReply:
        return EvidenceReply(
            papers=tuple(PaperReading(key=each.key, **fields) for each in inputs.papers)
        )

    return {"method_evidence": reply}


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


@pytest.mark.parametrize("seed", range(2))
async def test_the_first_reading_for_an_idea_is_answered_before_any_other_sets_out(
    seed: int,
) -> None:
    engine = WatchedEngine(Delays(seed))
    await evaluated(engine=engine, papers_per_reading_call=1)
    assert len(engine.under_way) == 9
    assert engine.under_way[:2] == [1, 1], "the second reading set out beside the first"
    assert max(engine.under_way) > 1, "the others go side by side"


async def test_every_method_gets_a_query_evidence_and_a_review_and_the_idea_a_summary() -> None:
    evaluation = await evaluated()
    assert {each.method_id: each.queries for each in evaluation.methods} == {
        "m1": ("query alpha",),
        "m2": ("query beta",),
        "m3": ("query gamma",),
    }
    assert [(each.score_0_to_10, each.evidence_count) for each in evaluation.reviews] == [
        (7, 4), (7, 3), (7, 2),
    ]  # fmt: skip
    assert len(evaluation.summary.strengths) == 3
    assert evaluation.failures == ()
    assert len(evaluation.passages) == 6


async def test_papers_are_read_in_order_of_passage_score_up_to_the_limit() -> None:
    assert read_for(await evaluated(), "m1") == [4, 5, 6, 1]
    without = await evaluated(include_passage_papers=False)
    assert read_for(without, "m1") == [4, 6, 2, 3], "only 4 cites nothing"


async def test_a_paper_named_by_several_methods_is_fetched_and_opened_once() -> None:
    source, documents = literature(), FakeDocuments()
    findings = await findings_of(source=source, documents=documents)
    assert len(source.looked_up) == len(set(source.looked_up)) == 9
    assert len(documents.asked) == len(set(documents.asked))
    assert [each.paper_id for each in findings.papers] == sorted(each.paper_id for each in PAPERS)


@pytest.mark.parametrize("seed", range(4))
async def test_the_result_does_not_depend_on_who_answers_first(seed: int) -> None:
    shuffled = await findings_of(
        engine=FakeEngine(delays=Delays(seed)),
        source=literature(delays=Delays(seed + 100)),
        documents=FakeDocuments(delays=Delays(seed + 200)),
    )
    assert shuffled == await findings_of()


async def test_evidence_is_shown_newest_first_and_citations_are_rendered_and_recorded() -> None:
    engine = FakeEngine()
    findings = await findings_of(engine=engine)
    shown = next(each for each in engine.inputs_of("soundness_review") if "alpha" in each.method)
    assert [(item.key, item.published[:4]) for item in shown.evidence] == [
        ("P1", "2016"), ("P2", "2015"), ("P3", "2014"), ("P4", "2011"),
    ]  # fmt: skip
    assert findings.evaluation.reviews[0].support == (
        "It worked elsewhere with good results [(Author6 et al., 2016-06)](https://example.org/6)."
    )
    rows = [row for row in findings.citations if row.subject == "m1"]
    assert [(row.field, row.paper_id) for row in rows] == [
        ("support", "paper06"),
        ("contradictions", "paper01"),
        ("suggestions", "paper06"),
        ("suggestions", "paper01"),
    ]
    retrieved = {each.paper_id for each in findings.papers}
    assert {row.paper_id for row in findings.citations} <= retrieved


async def test_the_summary_sees_keys_that_hold_across_methods() -> None:
    engine = FakeEngine()
    findings = await findings_of(engine=engine)
    (inputs,) = engine.inputs_of("soundness_summary")
    assert [review.support.split("[")[1] for review in inputs.reviews] == ["P1].", "P3].", "P4]."]
    assert "(Author9 et al., 2019-06)" in findings.evaluation.summary.strengths[2]
    cited = [row.paper_id for row in findings.citations if row.subject == "summary"]
    assert cited == ["paper06", "paper07", "paper09"]


async def test_papers_after_the_cutoff_are_dropped_counted_and_never_cited() -> None:
    findings = await findings_of(idea=replace(IDEA, cutoff_date=date(2015, 12, 31)))
    admitted = {f"paper{number:02d}" for number in range(1, 6)}
    assert {each.paper_id for each in findings.papers} == admitted
    assert {row.paper_id for row in findings.citations} <= admitted
    assert {passage.paper_id for passage in findings.evaluation.passages} <= admitted
    details = [failure.detail for failure in findings.evaluation.failures]
    assert any("published after the cutoff" in detail for detail in details)


async def test_a_quote_is_kept_only_when_it_occurs_in_the_idea_whatever_its_white_space() -> None:
    quotes = ("do alpha and then, on mice, beta", "do delta")
    methods = tuple(ProposedMethod(text="A method.", quote=quote) for quote in quotes)
    evaluation = await evaluated({"extract_methods": lambda _: MethodsReply(methods=methods)})
    assert [method.quote for method in evaluation.methods] == [quotes[0], ""]


async def test_methods_and_words_beyond_their_limits_are_left_out_on_record() -> None:
    evaluation = await evaluated(maximum_methods=2)
    assert [method.method_id for method in evaluation.methods] == ["m1", "m2"]
    assert evaluation.methods[0].provenance.shortening == "1 methods beyond the limit of 2 left out"
    answer = QueriesReply(queries=(MethodQuery(method=1, queries=("word " * 83,)),))
    method = (await evaluated({"soundness_query": lambda _: answer})).methods[0]
    assert len(method.queries[0].split()) == 70
    assert method.provenance.shortening == "query cut to 70 words, 13 left out"
    assert method.provenance.call_ids == ("call-extract_methods", "call-soundness_query")


async def test_a_section_over_the_limit_is_cut_in_the_prompt_and_kept_whole_in_the_result() -> None:
    engine = FakeEngine()
    documents = FakeDocuments(full_text={"paper04": "method " * 150})
    evaluation = await evaluated(engine=engine, documents=documents)
    asked = engine.inputs_of("method_evidence")
    prompts = [METHOD_EVIDENCE.messages(inputs)[1]["content"] for inputs in asked]
    assert any("50 words of this section are left out" in prompt for prompt in prompts)
    shown = next(each for inputs in asked for each in inputs.papers if each.title.endswith(" 4"))
    assert [section.kind for section in shown.sections] == ["abstract", "methods", "passages"]
    assert len(shown.sections[1].text.split()) == 100
    row = next(row for row in evaluation.evidence if row.paper_id == "paper04")
    assert row.provenance.shortening == "left out at the section limit: 50 words of methods"
    whole = [each.text for each in evaluation.sections if each.section == "methods"]
    assert whole == ["method " * 150]
    items = [item for inputs in engine.inputs_of("soundness_review") for item in inputs.evidence]
    sources = {item.title[-1]: item.read_from for item in items}
    assert (sources["4"], sources["5"]) == ("full text", "abstract")


async def test_invented_keys_are_taken_out_and_counted() -> None:
    review = ReviewReply(support="It works well in practice [P77].", contradictions="", score=9)
    summary = SummaryReply(strengths=("Great [P5].",), weaknesses=(), suggestions=())
    answers = {"soundness_review": lambda _: review, "soundness_summary": lambda _: summary}
    evaluation = await evaluated(answers)
    first = evaluation.reviews[0]
    assert (first.removed_citation_count, first.uncited_sentence_count) == (1, 1)
    assert "P77" not in first.support
    assert [failure.subject for failure in evaluation.failures] == ["summary"]


async def test_a_summary_of_more_than_three_is_cut_on_record() -> None:
    reply = SummaryReply(strengths=("a", "b", "c", "d"), weaknesses=(), suggestions=("e",))
    summary = (await evaluated({"soundness_summary": lambda _: reply})).summary
    assert summary.strengths == ("a", "b", "c")
    assert summary.provenance.shortening == "left out beyond three: 1 strengths"


async def test_passages_that_name_papers_by_corpus_id_are_resolved() -> None:
    passages = {
        "query alpha": (
            Passage(
                passage_id="s",
                paper_id="CorpusId:111",
                text="t",
                kind="body",
                score=1.0,
                cited_paper_ids=("CorpusId:222", "CorpusId:9"),
            ),
        )
    }
    source = FakeLiterature(passages, (paper(1, corpus_id=111), paper(2, corpus_id=222)))
    findings = await findings_of(source=source)
    (resolved,) = findings.evaluation.passages
    assert (resolved.paper_id, *resolved.cited_paper_ids) == ("paper01", "paper02", "CorpusId:9")
    assert read_for(findings.evaluation, "m1") == [1, 2]
    assert [each.paper_id for each in findings.papers] == ["paper01", "paper02"]


async def test_a_query_that_the_common_reply_leaves_out_unscores_only_its_method() -> None:
    def not_for_the_second(inputs: Any) -> QueriesReply:
        answers = queries_for(inputs).queries
        return QueriesReply(queries=tuple(each for each in answers if each.method != 2))

    engine = FakeEngine({"soundness_query": not_for_the_second})
    evaluation = await evaluated(engine=engine, methods_per_query_call=5)
    assert [len(inputs.methods) for inputs in engine.inputs_of("soundness_query")] == [3]
    assert [method.queries for method in evaluation.methods] == [
        ("query alpha",), (), ("query gamma",),
    ]  # fmt: skip
    assert "no query for this method" in evaluation.reviews[1].unscored_detail


async def test_without_extraction_passages_are_judged_and_nothing_they_cite_is_read() -> None:
    evaluation = await evaluated(extract_methods_and_results=False)
    assert sorted(read_for(evaluation, "m1")) == [1, 4, 5]
    assert evaluation.sections == ()
    assert [review.score_0_to_10 for review in evaluation.reviews] == [7, 7, 7]


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
    queries = ("query alpha", "query beta", "query gamma", "a fourth")
    answer = MethodQuery(method=1, queries=queries, failure_query="alpha fails")
    source = literature(unlimited=unlimited)
    answers = {"soundness_query": lambda _: QueriesReply(queries=(answer,))}
    evaluation = await evaluated(answers, source=source, maximum_methods=1, queries_per_method=3)
    (method,) = evaluation.methods
    assert source.searched[: len(searched)] == searched
    assert (method.queries, method.failure_query) == (queries[:3], "alpha fails")
    assert "1 queries beyond those asked for" in str(method.provenance.shortening)


async def test_passages_of_several_queries_take_turns_whatever_their_scores() -> None:
    passages = {
        "query alpha": (passage(1, score=0.9), passage(2, score=0.8)),
        "alpha fails": (passage(3, score=900), passage(2, score=800)),
    }
    answer = MethodQuery(method=1, queries=("query alpha",), failure_query="alpha fails")
    evaluation = await evaluated(
        {"soundness_query": lambda _: QueriesReply(queries=(answer,))},
        source=literature(passages=passages, unlimited=True),
        maximum_methods=1,
    )
    assert [each.passage_id for each in evaluation.passages] == ["s2", "s1", "s3"]


async def test_references_a_model_made_up_are_taken_out_of_evidence_and_counted() -> None:
    made_up = "(Smith, 2020) 10.1234/abc arXiv:2101.00001 https://made.up/x"
    fields = {"method": f"It routes {made_up}.", "results": "“P1 does (Lee, 1999)”"}
    evaluation = await evaluated(readings(relevance=3, **fields))
    assert {
        (row.method, row.results, row.removed_citation_count) for row in evaluation.evidence
    } == {("It routes.", "“P1 does (Lee, 1999)”", 4)}


async def test_a_method_without_evidence_is_searched_for_once_more_in_its_own_words() -> None:
    own = "Method alpha of the idea."
    source = literature(passages={own: (passage(5, score=1.0),)})
    evaluation = await evaluated(source=source, maximum_methods=1)
    assert source.searched == ["query alpha", own]
    assert evaluation.reviews[0].score_0_to_10 == 7
    assert read_for(evaluation, "m1") == [5]


async def test_a_distant_paper_is_kept_and_its_review_is_told_how_far_it_is() -> None:
    def graded(inputs: Any) -> EvidenceReply:
        grades = {"P1": 1, "P2": 0}
        entries = (
            PaperReading(key=each.key, relevance=grades.get(each.key, 3), results="It was so.")
            for each in inputs.papers
        )
        return EvidenceReply(papers=tuple(entries))

    engine = FakeEngine({"method_evidence": graded})
    evaluation = await evaluated(engine=engine, papers_per_reading_call=9)
    first = [row for row in evaluation.evidence if row.method_id == "m1"]
    assert [(row.relevance_0_to_3, row.relevant, bool(row.results)) for row in first] == [
        (1, True, True), (0, False, False), (3, True, True), (3, True, True),
    ]  # fmt: skip
    shown = engine.inputs_of("soundness_review")[0].evidence
    assert sorted(item.relevance for item in shown) == [1, 3, 3]


async def test_a_method_with_only_distant_papers_has_a_score_only_by_the_published_method() -> None:
    distant = readings(relevance=1, results="It was so.")
    engine = FakeEngine(distant)
    evaluation = await evaluated(engine=engine, minimum_relevance=2)
    assert {review.unscored_reason for review in evaluation.reviews} == {Reason.NO_EVIDENCE}
    assert all("distant" in review.unscored_detail for review in evaluation.reviews)
    assert all(row.relevant for row in evaluation.evidence), "what was read stays"
    assert engine.inputs_of("soundness_review") == []
    published = await evaluated(distant)
    assert [review.score_0_to_10 for review in published.reviews] == [7, 7, 7]


async def test_the_sentences_nearest_to_the_method_are_shown_and_the_passages_that_led_there() -> (
    None
):
    filler = "Weather was recorded daily at noon. " * 30
    text = f"{filler}Alpha was applied as a method of the idea in mice. {filler}"
    engine = FakeEngine()
    documents = FakeDocuments(full_text={"paper06": text})
    await evaluated(engine=engine, documents=documents, section_word_limit=50)
    shown = {
        (paper.title[-1], section.kind): section
        for inputs in engine.inputs_of("method_evidence")
        if inputs.method.startswith("Method alpha")
        for paper in inputs.papers
        for section in paper.sections
    }
    assert "Alpha was applied" in shown["6", "methods"].text
    assert shown["6", "methods"].words_left_out > 300
    assert shown["6", "cited_in"].text == "Passage 5"
    assert shown["4", "passages"].text == "Passage 4"


async def test_all_methods_show_the_same_part_of_a_long_idea() -> None:
    filler = "Weather was fair and nobody complained about it. " * 40
    engine = FakeEngine()
    idea = replace(IDEA, text=f"{filler}{IDEA.text} {filler}")
    await evaluated(idea=idea, engine=engine, idea_word_limit=100)
    shown = [*engine.inputs_of("method_evidence"), *engine.inputs_of("soundness_review")]
    assert len({inputs.idea for inputs in shown}) == 1, "their prompts begin alike"
    assert "alpha" in shown[0].idea
    assert len(shown[0].idea.split()) + shown[0].idea_words_left_out == len(idea.text.split())


async def test_the_ideas_own_publication_is_set_apart_and_never_read() -> None:
    title = "Alpha for the mice of tomorrow"
    papers = tuple(
        replace(each, title=title.upper()) if each.paper_id == "paper04" else each
        for each in PAPERS
    )
    source = literature(fetched=papers)
    evaluation = await evaluated(idea=replace(IDEA, title=title), source=source)
    assert 4 not in read_for(evaluation, "m1")
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
    findings = await findings_of(engine=engine, verify_citations=True)
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


async def test_without_points_the_plan_is_not_reviewed_and_its_methods_are() -> None:
    engine = FakeEngine()
    evaluation = await evaluated(engine=engine, maximum_points=0)
    assert (evaluation.plan_review, evaluation.concerns) == (None, ())
    assert all(review.score_0_to_10 is not None for review in evaluation.reviews)
    asked = ("plan_review", "plan_questions", "concern_evidence")
    assert not [name for name in asked if engine.inputs_of(name)]


@pytest.mark.parametrize(("name", "verify"), [("litellm:fake", False), ("extractive", True)])
async def test_without_the_switch_and_offline_nothing_is_verified(name: str, verify: bool) -> None:
    engine = FakeEngine({"verify_citations": verdicts}, name=name)
    evaluation = await evaluated(engine=engine, verify_citations=verify)
    assert engine.inputs_of("verify_citations") == []
    assert {each.checked_sentence_count for each in evaluation.reviews} == {None}
