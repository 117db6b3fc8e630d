"""The knowledge steps: hostile texts stay data, a language model's replies are taken in, baselines
answer for the evidence shown.
"""

from typing import Any

import pytest

from schemas.judgement.committee import IdeaPart, Relation
from schemas.literature.knowledge import SourceKind
from schemas.reasons import Reason
from tasks.committee.steps.finds import (
    CredibilityInput,
    GroundingInput,
    ItemFacts,
    ItemShown,
    PartHeld,
    baseline_credibility,
    baseline_grounding,
)
from tasks.committee.steps.prompt_inputs import PartShown
from tasks.committee.steps.queries import (
    WORD_LIMITS,
    QueriesInput,
    QueryOutcome,
    QueryTrouble,
    RefinementInput,
    abbreviations,
    baseline_queries,
    baseline_refinement,
    reword,
    trouble_of,
)
from tasks.judging.step import BaselineTools, NoAnswer
from tests.support.contribution_fakes import WordEmbedder
from tests.support.knowledge_fakes import (
    IDEA,
    PARTS,
)

TOOLS = BaselineTools(embedder=WordEmbedder())
SHOWN = tuple(PartShown(part=part.value, claims=(text,)) for part, text in PARTS.items())


def facts(**changes: Any) -> ItemFacts:
    fields: dict[str, Any] = {
        "kind": "papers",
        "site": "",
        "published": "2020-01-01",
        "citation_count": None,
        "stars": None,
    }
    return ItemFacts(**({"key": "K1", "title": "T"} | fields | changes))


def grounding(text: str, part: IdeaPart = IdeaPart.METHODS) -> GroundingInput:
    shown = ItemShown(key="K1", kind="papers", title="T", text=text)
    return GroundingInput(
        idea="Sparse attention",
        items=(shown,),
        parts=(PartHeld(part=part.value, claims=(PARTS[part],), keys=("K1",)),),
    )


async def test_the_baseline_asks_in_other_words_too_and_within_the_limits() -> None:
    question = QueriesInput(
        idea=IDEA.text,
        parts=SHOWN,
        kinds=tuple(kind.value for kind in SourceKind),
        maximum_queries=3,
    )
    answer = await baseline_queries(question, TOOLS)
    assert not isinstance(answer, NoAnswer)
    assert {(entry.part, entry.kind) for entry in answer.entries} == {
        (part, kind) for part in PARTS for kind in SourceKind
    }
    for entry in answer.entries:
        assert 1 <= len(entry.queries) <= 3
        assert all(len(query.split()) <= WORD_LIMITS[entry.kind] + 3 for query in entry.queries), (
            "a synonym may be longer"
        )


def test_an_idea_explains_its_own_abbreviations() -> None:
    explained = abbreviations(
        "We study Partially Observable Markov Decision Process (POMDP) models and Graph Neural"
        " Networks (GNNs)."
    )
    assert ("pomdp", "partially observable markov decision process") in explained
    assert (
        reword("fast pomdp solvers", explained)
        == "fast partially observable markov decision process solvers"
    )
    assert reword("large language models for code", ()) == "llm for code"
    assert reword("tides of the sea", ()) is None


@pytest.mark.parametrize(
    ("found", "similarity", "trouble"),
    [
        (0, 0.0, QueryTrouble.TOO_SPECIFIC),
        (9, 0.1, QueryTrouble.LOW_RELEVANCE),
        (9, 0.4, QueryTrouble.TOO_GENERAL),
        (9, 0.7, QueryTrouble.NONE),
    ],
)
async def test_the_baseline_names_what_ails_a_query(
    found: int, similarity: float, trouble: QueryTrouble
) -> None:
    outcome = QueryOutcome(
        part="methods", kind="papers", query="learned hashing", found_count=found, kept_count=0, mean_similarity=similarity,
        gists=("Locality-sensitive hashing: Reformer buckets queries and keys by locality-sensitive hashing.",),
    )  # fmt: skip
    answer = await baseline_refinement(
        RefinementInput(
            idea=IDEA.text, parts=SHOWN, kinds=("papers",), outcomes=(outcome,), maximum_queries=1
        ),
        TOOLS,
    )
    assert not isinstance(answer, NoAnswer)
    (entry,) = answer.entries
    assert entry.part is IdeaPart.METHODS
    assert trouble_of([outcome]) is trouble
    assert "learned hashing" not in entry.queries


async def test_credibility_grows_with_citations_a_year_and_needs_something_known() -> None:
    items = (
        facts(key="K1", citation_count=5), facts(key="K2", citation_count=500),
        facts(key="K3", citation_count=500, published="2000-01-01"),
        facts(key="K4"), facts(key="K5", site="ICLR"), facts(key="K6", kind="code", stars=4000), facts(key="K7", kind="code"),
        facts(key="K8", kind="web", site="cs.stanford.edu"), facts(key="K9", kind="web", site="blog.example.com"),
    )  # fmt: skip
    answer = await baseline_credibility(CredibilityInput(items=items, as_of_year=2024), TOOLS)
    assert not isinstance(answer, NoAnswer)
    scores = {entry.key: entry.score for entry in answer.items}
    known = {f"K{number}" for number in (1, 2, 3, 5, 6, 8, 9)}
    assert set(scores) == known, "of the others nothing is known: that is no zero"
    assert scores["K1"] < scores["K3"] < scores["K2"] == 10
    assert scores["K9"] < scores["K8"]
    nothing = await baseline_credibility(CredibilityInput(items=(facts(),), as_of_year=2024), TOOLS)
    assert isinstance(nothing, NoAnswer)
    assert nothing.reason is Reason.NO_EVIDENCE


HASHING = "learned hashing of queries and keys"


@pytest.mark.parametrize(
    ("text", "part", "relation"),
    [
        (
            f"We show that {HASHING} into buckets improves sparse attention.",
            IdeaPart.METHODS,
            Relation.SUPPORTS,
        ),
        (
            f"We find that {HASHING} fails to improve sparse attention.",
            IdeaPart.METHODS,
            Relation.REFUTES,
        ),
        (
            "However, existing dense attention is limited by memory quadratic in the length of"
            " documents.",
            IdeaPart.MOTIVATIONS,
            Relation.SUPPORTS,
        ),
        (
            "The tides in this bay improved when the harbour was dredged in the spring of that"
            " year.",
            IdeaPart.METHODS,
            Relation.NEITHER,
        ),
    ],
)
async def test_the_baseline_reads_the_outcome_off_the_wording(
    text: str, part: IdeaPart, relation: Relation
) -> None:
    answer = await baseline_grounding(grounding(text, part), TOOLS)
    assert not isinstance(answer, NoAnswer)
    (entry,) = answer.items
    assert entry.relation is relation
    assert entry.passage == ("" if relation is Relation.NEITHER else text)
