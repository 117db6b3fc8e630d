"""What is recommended for an idea: what works near it used, with where they say so."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from schemas.failure import Answer, SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.recommendation import RECOMMENDED, Recommendation, Resource, ResourceKind
from schemas.reasons import Reason
from tasks.embeddings.similarity import Nearness
from tasks.literature.client import LiteratureClient
from tasks.recommendation.recommend import (
    EarlierUses,
    Evidence,
    Recommended,
    in_order,
    no_earlier_uses,
    recommend,
)
from tasks.recommendation.uses import data_sets_in, metrics_in, uses_of

IDEA = "We will translate spoken dialects with a neural model that learns from parallel speech"


def paper(name: str, title: str, abstract: str = "", year: int = 2015) -> Paper:
    return Paper(paper_id=PaperId(name), title=title, abstract=abstract or None, year=year)


def edge(citing: str, cited: str, *passages: tuple[str, str], known: bool = True) -> CitationEdge:
    return CitationEdge(
        citing_paper_id=PaperId(citing),
        cited_paper_id=PaperId(cited),
        contexts=tuple(text for text, _ in passages) if known else None,
        sections=tuple(section for _, section in passages) if known else None,
    )


NEAR = paper(
    "near",
    "Neural translation of spoken dialects",
    "We translate spoken dialects with a neural model. We reach 31 BLEU on the Alpine Speech"
    " corpus.",
)
FAR = paper("far", "Bridges of steel", "We weigh bridges. The accuracy of the scale is high.")
OTHER = paper("other", "Dialects in parallel speech", "We learn from the Alpine Speech corpus.")
SPEECH = paper("speech", "A corpus of alpine speech")
RIVAL = paper("rival", "Phrase tables for dialects")
BEATEN = paper("beaten", "A cascade of recognisers")
METHOD = paper("method", "Attention for sequences")


@dataclass
class Library:
    """Stands for a literature client."""

    edges: Sequence[CitationEdge]
    works: Sequence[Paper] = (NEAR, FAR)
    everything: Sequence[Paper] = (NEAR, FAR, OTHER, SPEECH, RIVAL, BEATEN, METHOD)
    failures: tuple[SourceFailure, ...] = ()
    cutoffs: set[date | None] = field(default_factory=set)

    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        self.cutoffs.add(cutoff)
        found = [OTHER] if "Alpine Speech" in query else list(self.works)
        return Answer(tuple(found[:limit]), self.failures, 0)

    async def references(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        self.cutoffs.add(cutoff)
        own = [each for each in self.edges if each.citing_paper_id in seeds]
        return Answer(tuple((each, self._named(each.cited_paper_id)) for each in own), (), 0)

    async def citations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        self.cutoffs.add(cutoff)
        own = [each for each in self.edges if each.cited_paper_id in seeds]
        return Answer(tuple((each, self._named(each.citing_paper_id)) for each in own), (), 0)

    def _named(self, paper_id: PaperId) -> Paper:
        return next(each for each in self.everything if each.paper_id == paper_id)


class Letters:
    """Embeds a text by the words it has of the idea."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        words = sorted(set(IDEA.lower().split()))
        rows = [[1.0 * (word in text.lower().split()) for word in words] for text in texts]
        found = np.array(rows, dtype=np.float32) + 0.01
        return cast("NDArray[np.float32]", found / np.linalg.norm(found, axis=1, keepdims=True))


def recommended(
    library: Library, cutoff: date | None = None, known: EarlierUses = no_earlier_uses
) -> Recommended:
    client = cast("LiteratureClient", library)
    nearness = Nearness(IDEA, cast("Any", Letters()))
    return asyncio.run(recommend(IDEA, client, nearness, cutoff, earlier_uses=known))


def of_kind(found: Recommended, kind: ResourceKind) -> list[Recommendation]:
    return [each for each in found.recommendations if each.kind is kind]


EDGES = (
    edge("near", "speech", ("We train on the data of Meier (2012).", "Experiments")),
    edge("near", "rival", ("Our model outperforms Huber (2010).", "Results")),
    edge("near", "method", ("We build on attention (Vogt, 2014).", "Model")),
    edge("other", "speech", ("All tests use the corpus of Meier (2012).", "Data")),
    edge("other", "beaten", ("We compare our system with a cascade (Graf, 2009).", "Results")),
)


def test_what_a_near_work_used_is_recommended_with_its_words() -> None:
    found = recommended(Library(EDGES))
    (first, *_) = of_kind(found, ResourceKind.BASELINE)
    assert (first.name, first.uses[0].quote) == (RIVAL.title, "Our model outperforms Huber (2010).")
    assert first.reason == "1 work near the idea compared with it"
    assert {each.name for each in of_kind(found, ResourceKind.DATA_SET)} == {
        SPEECH.title,
        "Alpine Speech",
    }
    metrics = of_kind(found, ResourceKind.METRIC)
    assert [each.name for each in metrics] == ["BLEU", "accuracy"], "the nearer work leads"
    assert METHOD.title not in {each.name for each in found.recommendations}, "it is only cited"


def test_a_chain_through_a_data_set_brings_baselines_and_says_so() -> None:
    found = of_kind(recommended(Library(EDGES)), ResourceKind.BASELINE)
    (chained,) = [each for each in found if each.name == BEATEN.title]
    assert chained.rank == 2
    assert chained.uses[0].through in (SPEECH.title, "Alpine Speech")
    assert "that used" in chained.reason


def test_without_passages_baselines_are_unknown_and_a_data_set_is_known_by_its_title() -> None:
    silent = [edge(each.citing_paper_id, each.cited_paper_id, known=False) for each in EDGES]
    found = recommended(Library(silent, works=(NEAR,)))
    assert found.known_contexts == 0
    assert found.citations > 0
    assert of_kind(found, ResourceKind.BASELINE) == []
    titled = [each for each in of_kind(found, ResourceKind.DATA_SET) if each.paper_id]
    assert [(each.name, each.uses[0].quote) for each in titled] == [(SPEECH.title, None)]
    assert "by citing its paper alone" in titled[0].reason


def test_nothing_near_recommends_nothing_and_failures_travel() -> None:
    failure = SourceFailure(
        source="live", endpoint="paper/search", reason=Reason.UNREACHABLE, detail="no answer"
    )
    found = recommended(Library((), works=(), failures=(failure,)))
    assert (found.recommendations, found.failures) == ((), (failure,))


def test_every_look_up_keeps_to_the_cutoff() -> None:
    library = Library(EDGES)
    recommended(library, date(2016, 1, 1))
    assert library.cutoffs == {date(2016, 1, 1)}


def test_a_paper_that_cites_itself_used_nothing() -> None:
    own = edge("near", "near", ("We outperform our baseline.", "Results"))
    assert of_kind(recommended(Library([own])), ResourceKind.BASELINE) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We test on the Penn Chinese Treebank 5.1 and others.", {"Penn Chinese Treebank 5.1"}),
        ("Results on the SQuAD dataset and the ImageNet 2012 benchmark.", {"SQuAD", "ImageNet 2012"}),
        ("This corpus is large. English corpora are common. Our dataset helps.", set()),
        ("Large datasets help.", set()),
    ],
)  # fmt: skip
def test_data_sets_are_known_by_proper_names_alone(text: str, names: set[str]) -> None:
    assert set(data_sets_in(text)) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We report BLEU and F1-score. The map shows Latin letters.", {"BLEU", "F1"}),
        ("We use maximum a posteriori (MAP) estimation.", set()),
        ("The MAP of the ranking rises.", {"average precision"}),
    ],
)
def test_metrics_are_read_as_they_are_written(text: str, names: set[str]) -> None:
    assert set(metrics_in(text)) == names


def test_a_passage_in_the_experiments_says_more_than_one_elsewhere() -> None:
    passages = (("It outperforms Huber.", "Introduction"), ("We outperform Huber.", "Experiments"))
    (said,) = uses_of(edge("near", "rival", *passages), RIVAL)
    assert (said.quote, said.weight > 1) == ("We outperform Huber.", True)


def test_near_works_say_more_than_far_ones_and_ties_stand_by_name() -> None:
    evidence = {
        "far": Evidence(((0.3, 1.0), (0.3, 1.0), (0.3, 1.0))),
        "near": Evidence(((0.9, 1.0),)),
        "b": Evidence(),
        "a": Evidence(),
    }
    assert [name for name, _ in in_order(evidence)] == ["near", "far", "a", "b"]
    assert in_order({"only": Evidence()}) == [("only", 0.0)]


def read_before(papers: Sequence[PaperId]) -> list[Resource]:
    """Rows of earlier evaluations about the near work, and one of a paper about itself."""
    told = (
        (ResourceKind.DATA_SET, "Valley Talk", None, "We also test on Valley Talk."),
        (ResourceKind.BASELINE, RIVAL.title, RIVAL.paper_id, "Huber is worse."),
        (ResourceKind.DATA_SET, NEAR.title, NEAR.paper_id, "We present a corpus."),
        (ResourceKind.MODEL, "BERT", None, "We start from the BERT model."),
    )
    if NEAR.paper_id not in papers:
        return []
    return [
        Resource(
            kind=kind,
            name=name,
            paper_id=NEAR.paper_id,
            quote=quote,
            section="Experiments",
            resource_paper_id=own,
        )
        for kind, name, own, quote in told
    ]


def test_what_evaluations_have_read_before_is_recommended_with_its_quote() -> None:
    found = recommended(Library(EDGES, works=(NEAR,)), known=read_before)
    (valley,) = [
        each
        for each in of_kind(found, ResourceKind.DATA_SET)
        if each.name == "Valley Talk" and each.paper_id is None
    ]
    assert valley.uses[0].quote == "We also test on Valley Talk."
    assert NEAR.title not in {each.name for each in found.recommendations}, "its own is no use"
    assert {each.kind for each in found.recommendations} <= set(RECOMMENDED)
    assert found.known_resources == 2


def test_a_use_known_twice_counts_once() -> None:
    of_rival = [
        each.uses
        for found in (
            recommended(Library(EDGES)),
            recommended(Library(EDGES), known=read_before),
        )
        for each in of_kind(found, ResourceKind.BASELINE)
        if each.paper_id == RIVAL.paper_id
    ]
    assert [len(uses) for uses in of_rival] == [1, 1]
