"""The whole search, from claims to evidence, at its seam."""

from collections import Counter
from datetime import date
from typing import Any

import pytest

from schemas.base import replace
from schemas.failure import SourceFailure
from schemas.judgement.committee import IdeaPart, KnowledgePhase, Relation
from schemas.literature.knowledge import KnowledgeItem, SourceKind
from schemas.literature.paper_state import PaperState
from schemas.reasons import Reason
from tasks.committee.knowledge.gather import Knowledge, gather_knowledge
from tasks.committee.planning import expected_calls
from tasks.committee.steps.finds import (
    CredibilityEntry,
    CredibilityReply,
    GroundingEntry,
    GroundingReply,
    PageSummary,
    SummariesReply,
)
from tests.support.contribution_fakes import Delays, FakeEngine, WordEmbedder
from tests.support.knowledge_fakes import (
    CUTOFF,
    IDEA,
    FakeReader,
    FakeSource,
    Library,
    claims,
    item,
    paper,
    parameters,
    tools,
)

HASH = (
    "We show that learned hashing improves sparse attention in transformers and halves memory for"
    " long documents."
)
DENSE = "Hashing of queries fails to reach the accuracy of dense attention on long documents."
PAGE_URL, REPOSITORY_URL = "https://blog.example.org/a", "https://github.com/lab/sparse"
ARXIV_URL = "https://arxiv.org/abs/2005.00001"
PAGE = (
    "A field report. In our tests sparse attention by hashing was faster on long documents. Memory"
    " fell by half in every run we made."
)
README = "Sparse attention with learned hashing of queries and keys, tested on long documents."


def library(**more: Any) -> Library:
    known = paper("hashing", HASH, citation_count=80, venue="ICLR")
    return Library([known, paper("density", DENSE, citation_count=2)], **more)


def web(*pages: KnowledgeItem, **more: Any) -> FakeSource:
    usual = item(SourceKind.WEB, PAGE_URL, "Sparse attention in practice", "A snippet.")
    return FakeSource("serper", SourceKind.WEB, pages or (usual,), **more)


def page(url: str, title: str, text: str = "x", published: date | None = None) -> KnowledgeItem:
    return item(SourceKind.WEB, url, title, text, published)


def papers_of(name: str, url: str, title: str, **more: Any) -> FakeSource:
    return FakeSource(
        name, SourceKind.PAPERS, [item(SourceKind.PAPERS, url, title, HASH, source=name, **more)]
    )


def code(updated: date | None = date(2022, 1, 1)) -> FakeSource:
    more = {"stars": 120, "updated": updated}
    found = item(SourceKind.CODE, REPOSITORY_URL, "lab/sparse", "Hashing attention.", **more)
    return FakeSource("github_repositories", SourceKind.CODE, [found])


def reader() -> FakeReader:
    return FakeReader({PAGE_URL: PAGE}, {"lab/sparse": README})


def answering(step: str, answer: Any) -> FakeEngine:
    return FakeEngine(WordEmbedder(), {step: answer})


def failing(reason: Reason, detail: str) -> FakeSource:
    failure = SourceFailure(source="serper", endpoint="/search", reason=reason, detail=detail)
    return web(failure=failure)


async def gathered(
    *sources: FakeSource,
    engine: FakeEngine | None = None,
    idea: Any = IDEA,
    with_claims: Any = None,
    **more: Any,
) -> Knowledge:
    chosen = {name: more.pop(name) for name in ("literature", "reader", "reranker") if name in more}
    chosen.setdefault("literature", library())
    more.setdefault("sources", ("literature", *(source.name for source in sources)))
    return await gather_knowledge(
        idea,
        claims() if with_claims is None else with_claims,
        parameters(**more),
        engine or FakeEngine(WordEmbedder(), {}),
        tools(*sources, **chosen),
    )


def failures(knowledge: Knowledge) -> list[tuple[str, str]]:
    return [(failure.subject, failure.reason) for failure in knowledge.failures]


def reasons(knowledge: Knowledge) -> set[str]:
    return {failure.reason for failure in knowledge.failures}


def titles(knowledge: Knowledge) -> list[str]:
    return [record.title for record in knowledge.records]


def paper_ids(knowledge: Knowledge) -> list[str | None]:
    return [record.paper_id for record in knowledge.records]


async def test_papers_pages_and_code_are_found_weighed_read_and_grounded() -> None:
    knowledge = await gathered(web(), code(), reader=reader())
    assert [(record.kind, record.source) for record in knowledge.records] == [
        (SourceKind.PAPERS, "literature"),
        (SourceKind.PAPERS, "literature"),
        (SourceKind.WEB, "fake"),
        (SourceKind.CODE, "fake"),
    ]
    for record in knowledge.records:
        assert (record.selected, record.round) == (True, 1)
        assert record.reading
        assert record.provenance is not None
        assert record.score_0_to_1 == pytest.approx(
            0.8 * record.semantic_similarity_0_to_1 + 0.2 * record.judge_score_0_to_1, abs=1e-4
        )
    parts = {
        name: {row.part for row in knowledge.evidence if row.knowledge_id == name}
        for name in ("k1", "k4")
    }
    assert parts["k4"] == {IdeaPart.METHODS, IdeaPart.EXPERIMENTAL_SETTINGS}
    assert parts["k1"] == {claim.part for claim in claims()}
    assert {Relation.SUPPORTS, Relation.REFUTES} <= {row.relation for row in knowledge.evidence}
    assert all(row.passage_verified for row in knowledge.evidence if row.passage)
    assert [paper.paper_id for paper in knowledge.papers] == ["hashing", "density"]
    assert (knowledge.failures, knowledge.unanswered_searches) == ((), 0)


async def test_the_same_question_gives_the_same_knowledge_whoever_answers_first() -> None:
    async def plain(seed: int) -> list[Any]:
        knowledge = await gathered(
            web(delays=Delays(seed)),
            code(),
            reader=reader(),
            literature=library(delays=Delays(seed + 1)),
            engine=FakeEngine(WordEmbedder(), {}, Delays(seed + 2)),
            items_per_grounding_call=1,
        )
        rows = [*knowledge.records, *knowledge.evidence]
        return [row.model_dump(exclude={"provenance"}) for row in rows] + list(knowledge.failures)

    first = await plain(1)
    assert first == await plain(2) == await plain(3)


async def test_a_source_that_is_down_stops_no_other_and_is_no_empty_answer() -> None:
    down = failing(Reason.SERVER_ERROR, "it answered 500 (4 attempts)")
    knowledge = await gathered(down, code(), reader=reader())
    assert {record.kind for record in knowledge.records} == {SourceKind.PAPERS, SourceKind.CODE}
    assert knowledge.unanswered_searches > 0
    assert failures(knowledge) == [("search in serper", "server_error")]
    assert knowledge.failures[0].retryable


async def test_a_source_that_cannot_be_searched_is_named() -> None:
    knowledge = await gathered(sources=("literature", "tavily"))
    assert failures(knowledge) == [("tavily", "not_configured")]
    source = FakeSource("unpaywall", SourceKind.PAPERS)
    source.searches_text = False
    assert failures(await gathered(source)) == [("unpaywall", "bad_request")]
    assert source.queries == []


async def test_a_source_without_its_key_is_asked_once_and_then_left_alone() -> None:
    source = failing(Reason.NOT_CONFIGURED, "set SERPER_API_KEY")
    knowledge = await gathered(source, literature=Library(), search_rounds=3)
    (failure,) = knowledge.failures
    assert failure.reason == "not_configured"
    assert "SERPER_API_KEY" in failure.detail
    assert len(source.queries) <= 4


async def test_the_cutoff_stands_in_the_query_and_holds_for_what_comes_back() -> None:
    bounds: set[tuple[date | None, date | None]] = set()

    class Careless(FakeSource):
        async def search(self, query: Any) -> Any:
            bounds.add((query.published_after, query.published_before))
            return await super().search(replace(query, published_before=None, published_after=None))

    source = Careless("serper", SourceKind.WEB, [page(PAGE_URL, "Late", "x", date(2023, 1, 1))])
    literature = Library([paper("lateness", HASH, year=2024), paper("hashing", HASH)])
    knowledge = await gathered(source, literature=literature)
    assert titles(knowledge) == ["On hashing in attention models"]
    assert bounds == {(None, CUTOFF)}
    assert literature.cutoffs == {CUTOFF}


async def test_an_undated_page_is_not_judged_by_and_that_is_said() -> None:
    undated = web(page(PAGE_URL, "Undated"))
    knowledge = await gathered(undated, literature=Library())
    assert (knowledge.records, reasons(knowledge)) == ((), {"no_date"})
    unbounded = await gathered(undated, literature=Library(), idea=replace(IDEA, cutoff_date=None))
    assert titles(unbounded) == ["Undated"]


async def test_later_knowledge_is_apart_and_stands_in_no_table_of_papers() -> None:
    years = (("hashing", HASH, 2020), ("lateness", DENSE, 2024), ("borderline", DENSE, 2022))
    literature = Library([paper(name, text, year=year) for name, text, year in years])
    engine = FakeEngine(WordEmbedder(), {})
    knowledge = await gathered(
        web(page("https://a.org/late", "Late", "Later sparse attention.", date(2023, 1, 1))),
        literature=literature,
        engine=engine,
        use_later_knowledge=True,
        reader=FakeReader(),
    )
    after = [record for record in knowledge.records if record.phase is KnowledgePhase.AFTER]
    late = {"Late", "On lateness in attention models"}
    assert {(record.title, record.paper_id) for record in after} == {(each, None) for each in late}
    assert [each.paper_id for each in knowledge.papers] == ["hashing"]
    assert "On borderline in attention models" not in titles(knowledge), "a year may be either side"
    names = {record.knowledge_id for record in after}
    for row in knowledge.evidence:
        assert (row.phase is KnowledgePhase.AFTER) == (row.knowledge_id in names)
    for question in engine.inputs_of("ground_evidence"):
        phases = {shown.title in late for shown in question.items}
        assert len(phases) == 1, "judging never sees later knowledge"


async def test_one_paper_from_three_sources_is_one_record_with_the_gateways_name() -> None:
    arxiv = papers_of("arxiv", f"{ARXIV_URL}v2", "Hashing attention", arxiv_id="2005.00001")
    scholar = papers_of("serper_scholar", "https://x.org/1", "", arxiv_id="2005.00001")
    known = paper("f" * 40, HASH, arxiv_id="2005.00001", citation_count=40, venue="ICLR")
    literature = Library(by_name={"ARXIV:2005.00001": known})
    knowledge = await gathered(arxiv, scholar, literature=literature)
    (record,) = knowledge.records
    assert (record.paper_id, record.source) == (known.paper_id, "arxiv")
    assert record.judge_score_0_to_1 is not None
    assert knowledge.papers == (known,)
    assert literature.names == [("ARXIV:2005.00001",)]


async def test_the_gateways_later_date_does_not_move_a_paper_over_the_cutoff() -> None:
    arxiv = papers_of("arxiv", ARXIV_URL, "T", arxiv_id="2005.00001")
    late = paper("f" * 40, HASH, year=2023, arxiv_id="2005.00001")
    knowledge = await gathered(arxiv, literature=Library(by_name={"ARXIV:2005.00001": late}))
    (kept,) = knowledge.papers
    assert kept.paper_id == "ARXIV:2005.00001"
    assert kept.admissible(CUTOFF)


async def test_a_work_that_one_source_has_as_retracted_is_no_evidence_from_any() -> None:
    arxiv = papers_of("arxiv", ARXIV_URL, "Hashing in attention")
    title = "RETRACTED: Hashing in attention"
    retracted = {"arxiv_id": "2005.00001", "state": PaperState.RETRACTED}
    openalex = papers_of("openalex", "https://x.org/1", title, **retracted)
    knowledge = await gathered(arxiv, openalex, literature=Library([paper("hashing", HASH)]))
    assert paper_ids(knowledge) == ["hashing"]
    (failure,) = (one for one in knowledge.failures if one.reason == "retracted")
    assert f"openalex says of “{title}”: retracted" in failure.detail


@pytest.mark.parametrize("by", ["title", "identifier"])
async def test_the_ideas_own_paper_is_no_evidence_about_it_from_any_source(by: str) -> None:
    idea, sources, own = IDEA, [], paper("own", HASH, title="Sparse Attention for Long Documents")
    if by == "identifier":
        idea = replace(IDEA, metadata={"doi": "10.1000/j5"})
        sources = [papers_of("openalex", "https://example.org/5", "Renamed", doi="10.1000/J5")]
        own = paper("own", HASH, doi="10.1000/j5")
    literature = Library([own, paper("hashing", HASH)])
    knowledge = await gathered(*sources, idea=idea, literature=literature)
    assert paper_ids(knowledge) == ["hashing"]
    assert "the_idea_itself" in reasons(knowledge)


async def test_the_search_ends_when_a_round_brings_nothing_new() -> None:
    engine, literature = FakeEngine(WordEmbedder(), {}), library()
    await gathered(literature=literature, engine=engine, search_rounds=10)
    assert len(engine.inputs_of("refine_queries")) <= 2
    assert len(literature.queries) == len(set(literature.queries)), "no query goes out twice"


async def test_economy_asks_few_calls() -> None:
    engine = FakeEngine(WordEmbedder(), {})
    many = [paper(f"{n}th-study", f"{HASH} Variant {n}.", citation_count=n) for n in range(40)]
    day = date(2021, 3, 1)
    pages = [page(f"https://a.org/{n}", f"Post {n}", "Sparse attention.", day) for n in range(20)]
    limits: dict[str, Any] = {
        "knowledge_per_kind": 6,
        "items_per_judge_call": 60,
        "pages_per_summary_call": 6,
        "items_per_grounding_call": 18,
    }
    texts = FakeReader({each.url: PAGE for each in pages}, {"lab/sparse": "README"})
    sources = web(*pages), code()
    await gathered(*sources, literature=Library(many), engine=engine, reader=texts, **limits)
    calls = Counter(name for name, _ in engine.asked)
    kinds = frozenset(SourceKind)
    expected = expected_calls(parameters(**limits), kinds, dated=False, full_text=False)
    assert calls.total() <= 15
    assert all(calls[name] <= expected[name].calls for name in calls)


async def test_an_idea_without_claims_is_not_searched_for() -> None:
    literature = library()
    knowledge = await gathered(literature=literature, with_claims=())
    assert (knowledge.records, knowledge.evidence, literature.queries) == ((), (), [])
    assert reasons(knowledge) == {"nothing_to_judge"}


STEPS = "knowledge_queries judge_credibility summarise_pages refine_queries ground_evidence"


@pytest.mark.parametrize("step", STEPS.split())
async def test_a_step_that_fails_leaves_its_mark_and_the_rest_stands(step: str) -> None:
    engine = answering(step, lambda _: Reason.REPLY_CUT_OFF)
    knowledge = await gathered(web(), reader=reader(), engine=engine)
    assert "reply_cut_off" in reasons(knowledge)
    assert len(knowledge.records) == (0 if step == "knowledge_queries" else 3)
    for record in knowledge.records:
        if step == "judge_credibility":
            assert (record.judge_score_0_to_1, record.score_0_to_1) == (None, None)
            assert (record.unscored_reason, record.selected) == (Reason.REPLY_CUT_OFF, True)
        if step == "summarise_pages" and record.kind is SourceKind.WEB:
            assert record.reading == ""
    if step == "ground_evidence":
        rows = {(r.relation, r.relevance_0_to_1, r.unscored_reason) for r in knowledge.evidence}
        assert rows == {(None, None, Reason.REPLY_CUT_OFF)}


def grounded(key: str, **changes: Any) -> GroundingEntry:
    fields = {"relation": Relation.NEITHER, "evidence": "", "analysis": "", "passage": ""}
    return GroundingEntry(**({"key": key, "relevance": 0} | fields | changes))


async def test_an_invented_passage_is_marked_and_keys_are_spelled_out() -> None:
    def answer(question: Any) -> GroundingReply:
        keys = [each.key for each in question.items]
        passages = {"K1": "Memory was halved in all of a hundred runs."}
        return GroundingReply(
            items=[
                grounded(
                    key,
                    relation=Relation.SUPPORTS,
                    evidence=f"{key} halves memory, unlike [{keys[-1]}].",
                    relevance=8,
                    passage=passages.get(key, DENSE),
                )
                for key in [*keys, "K99"]
            ]
        )

    knowledge = await gathered(engine=answering("ground_evidence", answer))
    rows = [row for row in knowledge.evidence if row.part is IdeaPart.METHODS]
    assert {row.knowledge_id: row.passage_verified for row in rows} == {"k1": False, "k2": True}
    assert rows[0].evidence == "the source halves memory, unlike “On density in attention models”."


async def test_what_a_reply_leaves_out_is_unscored() -> None:
    def answer(question: Any) -> GroundingReply:
        return GroundingReply(items=[grounded(question.items[0].key)])

    knowledge = await gathered(engine=answering("ground_evidence", answer))
    counts = Counter(row.unscored_reason for row in knowledge.evidence)
    assert counts == {None: 4, Reason.REPLY_UNPARSABLE: 4}
    assert reasons(knowledge) == {"reply_unparsable"}


async def test_a_summarys_passages_stand_in_the_page_and_quotations_rest_on_the_page() -> None:
    sound = "Memory fell by half in every run we made."

    def summary(question: Any) -> SummariesReply:
        passages = [sound, "Nobody ever said this here."]
        entries = [
            PageSummary(key=each.key, summary=f"{each.key} reports it.", passages=passages)
            for each in question.pages
        ]
        return SummariesReply(pages=entries)

    engine = answering("summarise_pages", summary)
    knowledge = await gathered(web(), reader=reader(), engine=engine, literature=Library())
    (record,) = knowledge.records
    assert record.reading == f"Summary:\nthe source reports it.\n\nPassages:\n- {sound}"
    assert "passage_not_found" in reasons(knowledge)


async def test_what_cannot_be_read_keeps_what_its_source_said() -> None:
    knowledge = await gathered(web(), code(), reader=FakeReader(), literature=Library())
    assert [(one.selected, one.reading) for one in knowledge.records] == [(True, "")] * 2
    subjects = {failure.subject for failure in knowledge.failures}
    assert subjects == {"reading of pages", "reading of repositories"}
    assert all(row.relation is not None for row in knowledge.evidence)


@pytest.mark.parametrize(
    ("updated", "as_of"), [(date(2022, 1, 1), None), (date(2025, 1, 1), CUTOFF), (None, CUTOFF)]
)
async def test_a_repository_changed_since_the_cutoff_is_read_as_it_was(
    updated: date | None, as_of: date | None
) -> None:
    texts = reader()
    await gathered(code(updated), reader=texts, literature=Library())
    assert texts.asked == [("lab/sparse", as_of)]


async def test_the_judge_moves_what_is_equally_near() -> None:
    def answer(question: Any) -> CredibilityReply:
        return CredibilityReply(
            items=[
                CredibilityEntry(key=each.key, score=10 if "second" in each.title else 0)
                for each in question.items
            ]
        )

    day = date(2021, 3, 1)
    twins = [
        page(f"https://a.org/{name}", f"The {name} page", "Sparse attention.", day)
        for name in ("first", "second")
    ]
    engine = answering("judge_credibility", answer)
    knowledge = await gathered(web(*twins), literature=Library(), engine=engine)
    scores = {record.title: record.score_0_to_1 or 0 for record in knowledge.records}
    first, second = scores["The first page"], scores["The second page"]
    assert second == pytest.approx(first + 0.2, abs=0.05)


async def test_a_reranker_replaces_the_similarity_of_those_that_came_through() -> None:
    class Reranker:
        async def scores(self, query: str, texts: Any) -> list[float]:
            return [0.9 if "density" in text else 0.1 for text in texts]

    knowledge = await gathered(reranker=Reranker(), knowledge_per_kind=2)
    similarities = {one.paper_id: one.semantic_similarity_0_to_1 for one in knowledge.records}
    assert similarities == {"hashing": 0.1, "density": 0.9}


OLDER = paper(
    "older",
    "An older account of sparse attention: hashing of queries by chance, on long documents.",
    year=2016,
)
UNSAID = paper("unsaid", "Sparse attention by blocks.", year=2015)
LATER = paper("later", "Sparse attention with hashing, much later.", year=2025)
TOLD = "Random hashing made sparse attention possible (Ada, 2016)."


def citing(**more: Any) -> Library:
    """The paper on hashing cites three others, one of them in a known sentence."""
    return library(cited={"hashing": (UNSAID, OLDER, LATER)}, passages={"older": (TOLD,)}, **more)


async def test_what_a_kept_paper_cites_enters_the_next_round_with_the_sentence_that_cites_it() -> (
    None
):
    found = citing()
    knowledge = await gathered(literature=found, references_per_paper=1)
    (record,) = [each for each in knowledge.records if each.paper_id == "older"]
    assert (record.round, record.query) == (2, TOLD), "a reference known to be cited comes first"
    assert record.semantic_similarity_0_to_1 is not None
    assert not {"unsaid", "later"} & set(paper_ids(knowledge))
    assert len(found.reference_calls) == 1, "one look-up for all papers of a round"
    every = await gathered(literature=citing(), references_per_paper=5)
    queries = {each.paper_id: each.query for each in every.records}
    assert queries["unsaid"] == "cited by On hashing in attention models"
    assert "later" not in queries, "nothing after the time point"


@pytest.mark.parametrize(
    ("changes", "most_calls"),
    [
        ({"references_per_paper": 5, "search_rounds": 3}, 2),
        ({"references_per_paper": 5, "search_rounds": 1}, 0),
        ({}, 0),
    ],
    ids=["economy", "last round", "published"],
)
async def test_no_paper_is_followed_twice_and_none_after_the_last_round_or_as_published(
    changes: dict[str, int], most_calls: int
) -> None:
    found = citing()
    await gathered(literature=found, **changes)
    seeds = [name for call in found.reference_calls for name in call]
    assert len(seeds) == len(set(seeds))
    assert len(found.reference_calls) <= most_calls
