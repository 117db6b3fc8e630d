"""What papers used, read out of their texts: every row has a quote that stands there."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from schemas.base import replace
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, Passage
from schemas.literature.recommendation import Resource, ResourceKind
from schemas.profile import ResourceParameters
from schemas.reasons import Reason
from tasks.recommendation.extracting import (
    Extracted,
    ResourceLines,
    Stretch,
    extract_resources,
    resource_lines,
)
from tasks.recommendation.steps import ResourcesInput, ResourcesReply, baseline_resources
from tasks.recommendation.uses import named_in
from tests.support.soundness_fakes import FakeEngine

SPEECH = Paper(
    paper_id=PaperId("speech"),
    title="AlpSpeech: a corpus of alpine dialects",
    abstract="Dialects are rarely recorded. We present a corpus of 40 hours of alpine speech.",
)
RIVAL = Paper(paper_id=PaperId("rival"), title="Phrase tables for dialects")
WORK = Paper(
    paper_id=PaperId("work"),
    title="Neural translation of spoken dialects",
    abstract="We train a BERT model on the AlpSpeech corpus. We reach 31 BLEU on its test set.",
)
PASSAGES = (
    "We train on the data of Meier (2012), the largest of its kind.",
    "Our model outperforms Huber (2010).",
)
EDGES = (
    CitationEdge(
        citing_paper_id=WORK.paper_id,
        cited_paper_id=SPEECH.paper_id,
        contexts=PASSAGES[:1],
        sections=("Experiments",),
    ),
    CitationEdge(
        citing_paper_id=WORK.paper_id,
        cited_paper_id=RIVAL.paper_id,
        contexts=PASSAGES[1:],
        sections=("Results",),
    ),
)
SETTINGS = Stretch(
    WORK.paper_id,
    "All layers share weights. We set the learning rate to 3e-4 with a batch size of 32, and"
    " train for 20 epochs.",
    "Training",
)
PAPERS = (SPEECH, RIVAL, WORK)


def extracted(
    papers: Sequence[Paper] = PAPERS,
    stretches: Sequence[Stretch] = (SETTINGS,),
    engine: Any = None,
    **parameters: int,
) -> Extracted:
    return asyncio.run(
        extract_resources(
            papers, EDGES, stretches, ResourceParameters(**parameters), cast("Any", engine)
        )
    )


def of(found: Extracted, kind: ResourceKind, paper_id: str = "work") -> list[Resource]:
    return [row for row in found.resources if (row.kind, row.paper_id) == (kind, paper_id)]


def test_rules_find_every_kind_without_asking_anybody() -> None:
    found = extracted()
    assert [row.name for row in of(found, ResourceKind.BASELINE)] == [RIVAL.title]
    assert [row.name for row in of(found, ResourceKind.METRIC)] == ["BLEU"]
    assert [row.name for row in of(found, ResourceKind.MODEL)] == ["BERT"]
    settings = {row.name: row.value for row in of(found, ResourceKind.HYPER_PARAMETER)}
    assert settings == {"learning rate": "3e-4", "batch size": "32", "epochs": "20"}
    assert {row.section for row in of(found, ResourceKind.HYPER_PARAMETER)} == {"Training"}
    assert all(row.provenance is None for row in found.resources)


def test_a_name_is_tied_to_the_one_paper_whose_title_begins_with_it() -> None:
    twin = Paper(paper_id=PaperId("twin"), title="AlpSpeech: another one")
    for papers, home in ((PAPERS, SPEECH.paper_id), ((*PAPERS, twin), None)):
        found = extract_resources(papers, (), (), ResourceParameters(), cast("Any", None))
        (row,) = of(asyncio.run(found), ResourceKind.DATA_SET)
        assert (row.name, row.resource_paper_id) == ("AlpSpeech", home)


def test_every_quote_stands_in_a_text_of_its_paper() -> None:
    texts = {
        "work": " ".join([WORK.abstract or "", *PASSAGES, SETTINGS.text]),
        "speech": SPEECH.abstract or "",
    }
    assert all(row.quote in texts[row.paper_id] for row in extracted().resources)


def test_what_others_say_of_a_data_set_is_joined_to_what_it_says_of_itself() -> None:
    about = [row for row in extracted().resources if row.resource_paper_id == SPEECH.paper_id]
    assert [(row.paper_id, row.quote) for row in about] == [
        ("speech", "We present a corpus of 40 hours of alpine speech."),
        ("work", PASSAGES[0]),
    ]


def test_a_paper_has_no_more_rows_than_the_profile_allows_and_data_sets_lead() -> None:
    found = [row for row in extracted(maximum_per_paper=2).resources if row.paper_id == "work"]
    assert [row.kind for row in found] == [ResourceKind.DATA_SET, ResourceKind.BASELINE]


def reply(inputs: ResourcesInput) -> ResourcesReply:
    key = next(paper.key for paper in inputs.papers if paper.title == WORK.title)
    proposed = (
        ("data_set", "AlpSpeech", "on the AlpSpeech corpus"),
        ("model", "BERT", "We train a BERT model"),
        ("data_set", "CommonVoice", "on the CommonVoice corpus"),
        ("metric", "METEOR", "We reach 31 BLEU on its test set"),
        ("gadget", "BERT", "We train a BERT model"),
    )
    return ResourcesReply.model_validate(
        {
            "resources": [
                {"key": key, "kind": kind, "name": name, "quote": quote}
                for kind, name, quote in proposed
            ]
        }
    )


def test_a_model_is_asked_of_so_many_papers_and_its_invented_quotes_are_left_out() -> None:
    engine = FakeEngine({"extract_resources": reply})
    found = extracted(engine=engine, asked_papers=2, papers_per_call=2)
    (inputs,) = engine.inputs_of("extract_resources")
    assert {paper.title for paper in inputs.papers} == {WORK.title, SPEECH.title}
    made = {row.name for row in found.resources if row.provenance is not None}
    assert made == {"AlpSpeech", "BERT"}
    (failure,) = found.failures
    assert failure.reason is Reason.PASSAGE_NOT_FOUND
    assert failure.detail.startswith("3 of 5 resources were left out")
    assert len(of(found, ResourceKind.MODEL)) == 1, "what rule and model both found stands once"


def test_a_call_without_an_answer_leaves_what_rules_found_and_a_failure() -> None:
    engine = FakeEngine({"extract_resources": lambda _: Reason.TIMEOUT})
    found = extracted(engine=engine, asked_papers=1)
    assert found.resources == extracted().resources
    assert [failure.reason for failure in found.failures] == [Reason.TIMEOUT]


def test_the_baseline_answers_what_the_rules_find() -> None:
    shown = {"key": "P1", "title": WORK.title, "text": WORK.abstract}
    inputs = ResourcesInput.model_validate({"papers": (shown,), "maximum_per_paper": 2})
    found = asyncio.run(baseline_resources(inputs, cast("Any", None)))
    assert [(each.key, each.name) for each in found.resources] == [
        ("P1", "AlpSpeech"),
        ("P1", "BLEU"),
    ]


def test_common_words_are_no_models_and_a_plain_number_sets_nothing() -> None:
    assert named_in("Neural networks and Bayesian models are used. We use a Large model.") == []
    models = named_in("We use a ResNet-50 encoder and the GPT-2 language model.")
    assert {(each.kind, each.name) for each in models} == {
        (ResourceKind.MODEL, "ResNet-50"),
        (ResourceKind.MODEL, "GPT-2"),
    }
    assert named_in("The learning rate matters; we ran 5 trials.") == []
    (found,) = named_in("Dropout with probability 0.1 is used throughout.")
    assert (found.name, found.value) == ("dropout", "0.1")


def test_a_title_that_speaks_of_corpora_is_a_data_set_where_its_paper_or_others_say_so() -> None:
    vague = Paper(
        paper_id=PaperId("vague"),
        title="Parsing with corpora",
        abstract="The literature on every corpus is large. We parse it.",
    )
    cited = replace(EDGES[0], cited_paper_id=vague.paper_id)

    def own(edges: Sequence[CitationEdge]) -> list[Resource]:
        found = extract_resources((vague, WORK), edges, (), ResourceParameters(), cast("Any", None))
        return of(asyncio.run(found), ResourceKind.DATA_SET, "vague")

    assert own(()) == []
    (row,) = own((cited,))
    assert row.quote == "The literature on every corpus is large."


def work(name: str, abstract: str) -> Paper:
    return Paper(paper_id=PaperId(name), title=f"Work {name}", abstract=abstract)


WORKS = (
    work("a", "We train on the Alpine Speech corpus. We reach 31 BLEU."),
    work(
        "b", "We test on the Alpine Speech corpus and the Valley Talk corpus. The BLEU rises there."
    ),
    work("c", "The Alpine Speech corpus is hard. Bridges are weighed."),
    work("d", "All of us use the Alpine Speech corpus."),
)


def test_what_most_works_used_leads_and_kinds_take_turns() -> None:
    found = resource_lines(WORKS, (), 3)
    assert found.lines == (
        "data set: Alpine Speech [P1] [P2] [P3]",
        "metric: BLEU [P1] [P2]",
        "data set: Valley Talk [P2]",
    )
    assert [paper.paper_id for _, paper in found.prompt_papers] == ["a", "b", "c"]


def test_a_passage_tells_with_what_its_paper_compared_itself() -> None:
    rival = Paper(paper_id=PaperId("r"), title="Phrase tables")
    said = Passage(
        passage_id="s1",
        paper_id=PaperId("c"),
        text="Our system outperforms phrase tables.",
        kind="body",
        score=1.0,
        cited_paper_ids=(rival.paper_id, PaperId("c"), PaperId("unknown")),
    )
    assert resource_lines((WORKS[2], rival), (said,), 5).lines[1:] == (
        "baseline: Phrase tables [P1]",
    )


def test_works_that_name_nothing_give_no_line() -> None:
    silent = work("z", "We thought about it.")
    assert resource_lines((silent,), (), 5) == resource_lines((), (), 5) == ResourceLines()
