"""The whole search, from claims to evidence, at its seam."""

from collections import Counter
from datetime import date
from typing import Any

import pytest

from schemas.base import replace
from schemas.failure import SourceFailure
from schemas.judgement.committee import IdeaPart, KnowledgePhase, Relation
from schemas.literature.knowledge import SourceKind
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
DOWN = SourceFailure(
    source="serper",
    endpoint="/search",
    reason=Reason.SERVER_ERROR,
    detail="it answered 500 (4 attempts)",
)
EVERYTHING = ("literature", "serper", "github_repositories")
PAGE_URL, REPOSITORY_URL = "https://blog.example.org/a", "https://github.com/lab/sparse"
PAGE = (
    "A field report. In our tests sparse attention by hashing was faster on long documents. Memory"
    " fell by half in every run we made."
)


def library(**more: Any) -> Library:
    return Library(
        [
            paper("hashing", HASH, citation_count=80, venue="ICLR"),
            paper("density", DENSE, citation_count=2),
        ],
        **more,
    )


def web(**more: Any) -> FakeSource:
    return FakeSource(
        "serper",
        SourceKind.WEB,
        [item(SourceKind.WEB, PAGE_URL, "Sparse attention in practice", "A snippet.")],
        **more,
    )


def code(**more: Any) -> FakeSource:
    found = item(
        SourceKind.CODE,
        REPOSITORY_URL,
        "lab/sparse",
        "Hashing attention.",
        stars=120,
        updated=date(2022, 1, 1),
        **more,
    )
    return FakeSource("github_repositories", SourceKind.CODE, [found])


def reader() -> FakeReader:
    return FakeReader(
        {PAGE_URL: PAGE},
        {
            "lab/sparse": (
                "Sparse attention with learned hashing of queries and keys, tested on long"
                " documents."
            )
        },
    )


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


async def test_papers_pages_and_code_are_found_weighed_read_and_grounded() -> None:
    knowledge = await gathered(web(), code(), reader=reader())
    assert [
        (record.kind, record.source, record.selected, record.round) for record in knowledge.records
    ] == [
        (SourceKind.PAPERS, "literature", True, 1),
        (SourceKind.PAPERS, "literature", True, 1),
        (SourceKind.WEB, "fake", True, 1),
        (SourceKind.CODE, "fake", True, 1),
    ]
    for record in knowledge.records:
        assert record.reading
        assert record.provenance is not None
        assert record.semantic_similarity_0_to_1 is not None
        assert record.judge_score_0_to_1 is not None
        assert record.score_0_to_1 == pytest.approx(
            0.8 * record.semantic_similarity_0_to_1 + 0.2 * record.judge_score_0_to_1, abs=1e-4
        )
    grounded = {(row.part, row.knowledge_id) for row in knowledge.evidence}
    assert {part for part, name in grounded if name == "k4"} == {
        IdeaPart.METHODS,
        IdeaPart.EXPERIMENTAL_SETTINGS,
    }
    assert {part for part, name in grounded if name == "k1"} == {claim.part for claim in claims()}
    assert {Relation.SUPPORTS, Relation.REFUTES} <= {row.relation for row in knowledge.evidence}
    assert all(row.passage_verified for row in knowledge.evidence if row.passage)
    assert [paper.paper_id for paper in knowledge.papers] == ["hashing", "density"]
    assert (knowledge.failures, knowledge.unanswered_searches) == ((), 0)


async def test_the_same_question_gives_the_same_knowledge_whoever_answers_first() -> None:
    def plain(knowledge: Knowledge) -> list[Any]:
        rows = [*knowledge.records, *knowledge.evidence]
        return [row.model_dump(exclude={"provenance"}) for row in rows] + list(knowledge.failures)

    first, *others = [
        plain(
            await gathered(
                web(delays=Delays(seed)), code(), reader=reader(), literature=library(delays=Delays(seed + 1)),
                engine=FakeEngine(WordEmbedder(), {}, Delays(seed + 2)), items_per_grounding_call=1,
            )
        )
        for seed in (1, 2, 3)
    ]  # fmt: skip
    assert all(other == first for other in others)


async def test_a_source_that_is_down_stops_no_other_and_is_no_empty_answer() -> None:
    knowledge = await gathered(web(failure=DOWN), code(), reader=reader())
    assert {record.kind for record in knowledge.records} == {SourceKind.PAPERS, SourceKind.CODE}
    (failure,) = knowledge.failures
    assert knowledge.unanswered_searches > 0
    assert (failure.subject, failure.reason, failure.retryable) == (
        "search in serper",
        "server_error",
        True,
    )


async def test_a_source_that_is_not_open_was_not_looked_at() -> None:
    knowledge = await gathered(sources=("literature", "tavily"))
    assert [(failure.subject, failure.reason) for failure in knowledge.failures] == [
        ("tavily", "not_configured")
    ]


async def test_a_source_without_its_key_is_asked_once_and_then_left_alone() -> None:
    missing = SourceFailure(
        source="serper",
        endpoint="/search",
        reason=Reason.NOT_CONFIGURED,
        detail="set SERPER_API_KEY",
    )
    source = web(failure=missing)
    knowledge = await gathered(source, literature=Library(), search_rounds=3)
    assert [
        (failure.reason, "SERPER_API_KEY" in failure.detail) for failure in knowledge.failures
    ] == [("not_configured", True)]
    assert len(source.queries) <= 4


async def test_a_source_that_answers_dois_only_is_named() -> None:
    source = FakeSource("unpaywall", SourceKind.PAPERS)
    source.searches_text = False
    knowledge = await gathered(source)
    assert [(failure.subject, failure.reason) for failure in knowledge.failures] == [
        ("unpaywall", "bad_request")
    ]
    assert source.queries == []


async def test_the_cutoff_stands_in_the_query_and_holds_for_what_comes_back() -> None:
    bounds: set[tuple[date | None, date | None]] = set()

    class Careless(FakeSource):
        async def search(self, query: Any) -> Any:
            bounds.add((query.published_after, query.published_before))
            return await super().search(replace(query, published_before=None, published_after=None))

    late = paper("lateness", HASH, year=2024)
    source = Careless(
        "serper", SourceKind.WEB, [item(SourceKind.WEB, PAGE_URL, "Late", "x", date(2023, 1, 1))]
    )
    literature = Library([late, paper("hashing", HASH)])
    knowledge = await gathered(source, literature=literature)
    assert [record.title for record in knowledge.records] == ["On hashing in attention models"]
    assert bounds == {(None, CUTOFF)}
    assert literature.cutoffs == {CUTOFF}


async def test_an_undated_page_is_not_judged_by_and_that_is_said() -> None:
    undated = FakeSource(
        "serper", SourceKind.WEB, [item(SourceKind.WEB, PAGE_URL, "Undated", "x", None)]
    )
    knowledge = await gathered(undated, literature=Library())
    assert knowledge.records == ()
    assert {failure.reason for failure in knowledge.failures} == {"no_date"}
    unbounded = await gathered(undated, literature=Library(), idea=replace(IDEA, cutoff_date=None))
    assert [record.title for record in unbounded.records] == ["Undated"]


async def test_later_knowledge_is_apart_and_stands_in_no_table_of_papers() -> None:
    sources = [
        item(
            SourceKind.WEB,
            "https://a.org/late",
            "Late",
            "Later sparse attention.",
            date(2023, 1, 1),
        )
    ]
    web_source = FakeSource("serper", SourceKind.WEB, sources)
    literature = Library(
        [
            paper("hashing", HASH),
            paper("lateness", DENSE, year=2024),
            paper("borderline", DENSE, year=2022),
        ]
    )
    engine = FakeEngine(WordEmbedder(), {})
    knowledge = await gathered(
        web_source,
        literature=literature,
        engine=engine,
        use_later_knowledge=True,
        reader=FakeReader(),
    )
    after = [record for record in knowledge.records if record.phase is KnowledgePhase.AFTER]
    assert {record.title for record in after} == {"Late", "On lateness in attention models"}
    assert {record.paper_id for record in after} == {None}
    assert [each.paper_id for each in knowledge.papers] == ["hashing"]
    assert "On borderline in attention models" not in {
        record.title for record in knowledge.records
    }, "a year alone may be either side"
    names = {record.knowledge_id for record in after}
    assert all(
        (row.phase is KnowledgePhase.AFTER) == (row.knowledge_id in names)
        for row in knowledge.evidence
    )
    for name, question in engine.asked:
        if name == "ground_evidence":
            late_items = {
                shown.title in {"Late", "On lateness in attention models"}
                for shown in question.items
            }
            assert len(late_items) == 1, "judging never sees later knowledge"


async def test_one_paper_from_three_sources_is_one_record_with_the_gateways_name() -> None:
    arxiv = FakeSource(
        "arxiv",
        SourceKind.PAPERS,
        [item(SourceKind.PAPERS, "https://arxiv.org/abs/2005.00001v2", "Hashing attention", HASH)],
    )
    scholar = FakeSource(
        "serper_scholar",
        SourceKind.PAPERS,
        [item(SourceKind.PAPERS, "https://x.org/1", "", HASH, arxiv_id="2005.00001")],
    )
    known = paper("f" * 40, HASH, arxiv_id="2005.00001", citation_count=40, venue="ICLR")
    literature = Library(by_name={"ARXIV:2005.00001": known})
    arxiv._items = (replace(arxiv._items[0], arxiv_id="2005.00001"),)
    knowledge = await gathered(arxiv, scholar, literature=literature)
    (record,) = knowledge.records
    assert (record.paper_id, record.source, record.judge_score_0_to_1 is not None) == (
        "f" * 40,
        "fake",
        True,
    )
    assert knowledge.papers == (known,)
    assert literature.names == [("ARXIV:2005.00001",)]


async def test_the_gateways_later_date_does_not_move_a_paper_over_the_cutoff() -> None:
    arxiv = FakeSource(
        "arxiv",
        SourceKind.PAPERS,
        [
            item(
                SourceKind.PAPERS,
                "https://arxiv.org/abs/2005.00001",
                "T",
                HASH,
                arxiv_id="2005.00001",
            )
        ],
    )
    literature = Library(
        by_name={"ARXIV:2005.00001": paper("f" * 40, HASH, year=2023, arxiv_id="2005.00001")}
    )
    knowledge = await gathered(arxiv, literature=literature)
    (kept,) = knowledge.papers
    assert kept.paper_id == "ARXIV:2005.00001"
    assert kept.admissible(CUTOFF)


async def test_a_work_that_one_source_has_as_retracted_is_no_evidence_from_any() -> None:
    arxiv = FakeSource(
        "arxiv",
        SourceKind.PAPERS,
        [item(SourceKind.PAPERS, "https://arxiv.org/abs/2005.00001", "Hashing in attention", HASH)],
    )
    openalex = FakeSource(
        "openalex",
        SourceKind.PAPERS,
        [
            item(
                SourceKind.PAPERS,
                "https://x.org/1",
                "RETRACTED: Hashing in attention",
                HASH,
                arxiv_id="2005.00001",
                source="openalex",
                state=PaperState.RETRACTED,
            )
        ],
    )
    literature = Library([paper("hashing", HASH)])
    knowledge = await gathered(arxiv, openalex, literature=literature)
    assert [record.paper_id for record in knowledge.records] == ["hashing"]
    (failure,) = (one for one in knowledge.failures if one.reason == "retracted")
    assert "openalex says of “RETRACTED: Hashing in attention”: retracted" in failure.detail


async def test_the_ideas_own_paper_is_no_evidence_about_it() -> None:
    own = paper("own", HASH, title="Sparse Attention for Long Documents")
    knowledge = await gathered(literature=Library([own, paper("hashing", HASH)]))
    assert [record.paper_id for record in knowledge.records] == ["hashing"]
    assert "the_idea_itself" in {failure.reason for failure in knowledge.failures}


async def test_the_ideas_own_paper_is_known_by_its_identifier_from_any_source() -> None:
    idea = replace(IDEA, metadata={"doi": "10.1000/j5"})
    found = item(SourceKind.PAPERS, "https://example.org/5", "Renamed", HASH, doi="10.1000/J5")
    literature = Library([paper("own", HASH, doi="10.1000/j5"), paper("hashing", HASH)])
    source = FakeSource("openalex", SourceKind.PAPERS, [found])
    knowledge = await gathered(source, idea=idea, literature=literature)
    assert [record.paper_id for record in knowledge.records] == ["hashing"]
    assert "the_idea_itself" in {failure.reason for failure in knowledge.failures}


async def test_the_search_ends_when_a_round_brings_nothing_new() -> None:
    engine = FakeEngine(WordEmbedder(), {})
    literature = library()
    await gathered(literature=literature, engine=engine, search_rounds=10)
    steps = Counter(name for name, _ in engine.asked)
    assert steps["refine_queries"] <= 2
    assert len(literature.queries) == len(set(literature.queries)), "no query goes out twice"


async def test_economy_asks_few_calls() -> None:
    engine = FakeEngine(WordEmbedder(), {})
    many = [paper(f"{n}th-study", f"{HASH} Variant {n}.", citation_count=n) for n in range(40)]
    pages = [
        item(SourceKind.WEB, f"https://a.org/{number}", f"Post {number}", "Sparse attention.")
        for number in range(20)
    ]
    sources = FakeSource("serper", SourceKind.WEB, pages), code()
    limits: dict[str, Any] = {
        "knowledge_per_kind": 6,
        "items_per_judge_call": 60,
        "pages_per_summary_call": 6,
        "items_per_grounding_call": 18,
    }
    texts = FakeReader({each.url: PAGE for each in pages}, {"lab/sparse": "README"})
    await gathered(*sources, literature=Library(many), engine=engine, reader=texts, **limits)
    calls = Counter(name for name, _ in engine.asked)
    expected = expected_calls(
        parameters(**limits), frozenset(SourceKind), dated=False, full_text=False
    )
    assert sum(calls.values()) <= 15
    assert all(calls[name] <= expected[name].calls for name in calls)


async def test_an_idea_without_claims_is_not_searched_for() -> None:
    literature = library()
    knowledge = await gathered(literature=literature, with_claims=())
    assert (knowledge.records, knowledge.evidence, literature.queries) == ((), (), [])
    assert [failure.reason for failure in knowledge.failures] == ["nothing_to_judge"]


@pytest.mark.parametrize(
    "step",
    [
        "knowledge_queries",
        "judge_credibility",
        "summarise_pages",
        "refine_queries",
        "ground_evidence",
    ],
)
async def test_a_step_that_fails_leaves_its_mark_and_the_rest_stands(step: str) -> None:
    engine = FakeEngine(WordEmbedder(), {step: lambda _: Reason.REPLY_CUT_OFF})
    knowledge = await gathered(web(), reader=reader(), engine=engine)
    assert "reply_cut_off" in {failure.reason for failure in knowledge.failures}
    if step == "knowledge_queries":
        assert knowledge.records == ()
        return
    assert len(knowledge.records) == 3
    if step == "judge_credibility":
        assert {
            (r.judge_score_0_to_1, r.score_0_to_1, r.unscored_reason, r.selected)
            for r in knowledge.records
        } == {(None, None, Reason.REPLY_CUT_OFF, True)}
    if step == "summarise_pages":
        assert [
            record.reading for record in knowledge.records if record.kind is SourceKind.WEB
        ] == [""]
    if step == "ground_evidence":
        assert {
            (row.relation, row.relevance_0_to_1, row.unscored_reason) for row in knowledge.evidence
        } == {(None, None, Reason.REPLY_CUT_OFF)}


async def test_an_invented_passage_is_marked_and_keys_are_spelled_out() -> None:
    def answer(question: Any) -> GroundingReply:
        shown = [each.key for each in question.items]
        entries = [
            GroundingEntry(key=key, relation=Relation.SUPPORTS, evidence=f"{key} halves memory, unlike [{shown[-1]}].", analysis="Close.",
                           relevance=8, passage="Memory was halved in all of a hundred runs." if key == "K1" else DENSE)
            for key in [*shown, "K99"]
        ]  # fmt: skip
        return GroundingReply(items=entries)

    knowledge = await gathered(engine=FakeEngine(WordEmbedder(), {"ground_evidence": answer}))
    rows = [row for row in knowledge.evidence if row.part is IdeaPart.METHODS]
    assert [(row.knowledge_id, row.passage_verified) for row in rows] == [
        ("k1", False),
        ("k2", True),
    ]
    assert rows[0].evidence == "the source halves memory, unlike “On density in attention models”."


async def test_what_a_reply_leaves_out_is_unscored() -> None:
    def answer(question: Any) -> GroundingReply:
        first = question.items[0]
        entry = GroundingEntry(
            key=first.key,
            relation=Relation.NEITHER,
            evidence="",
            analysis="",
            relevance=0,
            passage="",
        )
        return GroundingReply(items=[entry])

    knowledge = await gathered(engine=FakeEngine(WordEmbedder(), {"ground_evidence": answer}))
    assert Counter(row.unscored_reason for row in knowledge.evidence) == {
        None: 4,
        Reason.REPLY_UNPARSABLE: 4,
    }
    assert {failure.reason for failure in knowledge.failures} == {"reply_unparsable"}


async def test_a_summarys_passages_stand_in_the_page_and_quotations_rest_on_the_page() -> None:
    def summary(question: Any) -> SummariesReply:
        sound = "Memory fell by half in every run we made."
        return SummariesReply(
            pages=[
                PageSummary(
                    key=page.key,
                    summary=f"{page.key} reports halved memory.",
                    passages=[sound, "Nobody ever said this here."],
                )
                for page in question.pages
            ]
        )

    knowledge = await gathered(
        web(),
        reader=reader(),
        engine=FakeEngine(WordEmbedder(), {"summarise_pages": summary}),
        literature=Library(),
    )
    (record,) = knowledge.records
    assert (
        record.reading
        == "Summary:\nthe source reports halved memory.\n\nPassages:\n- Memory fell by half in"
        " every run we made."
    )
    assert "passage_not_found" in {failure.reason for failure in knowledge.failures}


async def test_what_cannot_be_read_keeps_what_its_source_said() -> None:
    knowledge = await gathered(web(), code(), reader=FakeReader(), literature=Library())
    assert [(record.selected, record.reading) for record in knowledge.records] == [
        (True, ""),
        (True, ""),
    ]
    assert {failure.subject for failure in knowledge.failures} == {
        "reading of pages",
        "reading of repositories",
    }
    assert all(row.relation is not None for row in knowledge.evidence)


@pytest.mark.parametrize(
    ("updated", "as_of"), [(date(2022, 1, 1), None), (date(2025, 1, 1), CUTOFF), (None, CUTOFF)]
)
async def test_a_repository_changed_since_the_cutoff_is_read_as_it_was(
    updated: date | None, as_of: date | None
) -> None:
    found = item(
        SourceKind.CODE,
        REPOSITORY_URL,
        "lab/sparse",
        "Hashing attention.",
        stars=1,
        updated=updated,
    )
    texts = reader()
    await gathered(
        FakeSource("github_repositories", SourceKind.CODE, [found]),
        reader=texts,
        literature=Library(),
    )
    assert texts.asked == [("lab/sparse", as_of)]


async def test_the_judge_moves_what_is_equally_near() -> None:
    def answer(question: Any) -> CredibilityReply:
        return CredibilityReply(
            items=[
                CredibilityEntry(
                    key=each.key, reason="r", score=10 if "second" in each.title else 0
                )
                for each in question.items
            ]
        )

    twins = [
        item(SourceKind.WEB, f"https://a.org/{name}", f"The {name} page", "Sparse attention.")
        for name in ("first", "second")
    ]
    engine = FakeEngine(WordEmbedder(), {"judge_credibility": answer})
    knowledge = await gathered(
        FakeSource("serper", SourceKind.WEB, twins),
        literature=Library(),
        engine=engine,
        knowledge_per_kind=2,
    )
    scores = {record.title: record.score_0_to_1 for record in knowledge.records}
    assert scores["The second page"] == pytest.approx(
        (scores["The first page"] or 0) + 0.2, abs=0.05
    )


async def test_a_reranker_replaces_the_similarity_of_those_that_came_through() -> None:
    class Reranker:
        async def scores(self, query: str, texts: Any) -> list[float]:
            return [0.9 if "density" in text else 0.1 for text in texts]

    knowledge = await gathered(reranker=Reranker(), knowledge_per_kind=2)
    assert {record.paper_id: record.semantic_similarity_0_to_1 for record in knowledge.records} == {
        "hashing": 0.1,
        "density": 0.9,
    }


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
    assert (record.round, record.query) == (2, TOLD), (
        "the one that is known to be cited comes first"
    )
    assert record.semantic_similarity_0_to_1 is not None
    assert not {"unsaid", "later"} & {each.paper_id for each in knowledge.records}
    assert len(found.reference_calls) == 1, "one look-up for all papers of a round"


async def test_a_reference_that_is_cited_without_known_words_names_its_citing_paper() -> None:
    knowledge = await gathered(literature=citing(), references_per_paper=5)
    asked = {each.paper_id: each.query for each in knowledge.records}
    assert asked["unsaid"] == "cited by On hashing in attention models"
    assert "later" not in asked, "nothing after the time point"


async def test_no_paper_is_followed_twice_and_none_after_the_last_round() -> None:
    found = citing()
    await gathered(literature=found, references_per_paper=5, search_rounds=3)
    seeds = [name for call in found.reference_calls for name in call]
    assert len(seeds) == len(set(seeds))
    assert len(found.reference_calls) <= 2
    once = citing()
    await gathered(literature=once, references_per_paper=5, search_rounds=1)
    assert once.reference_calls == []


async def test_the_published_search_follows_no_reference() -> None:
    found = citing()
    await gathered(literature=found)
    assert found.reference_calls == []
