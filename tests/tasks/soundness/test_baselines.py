"""The extractive answers: deterministic, never broken by any text, sensible on clear cases."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.reasons import Reason
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.soundness.steps.extract_methods import MethodsInput, MethodsReply, baseline_methods
from tasks.soundness.steps.method_evidence import (
    EvidenceInput,
    EvidenceReply,
    PaperShown,
    SectionShown,
    baseline_evidence,
)
from tasks.soundness.steps.soundness_query import QueriesInput, QueriesReply, baseline_queries
from tasks.soundness.steps.soundness_review import (
    EvidenceShown,
    ReviewInput,
    ReviewReply,
    ReviewShown,
    SummaryInput,
    baseline_review,
    baseline_summary,
)

DATA = Path(__file__).parents[4] / "shared" / "data"
TOOLS = BaselineTools(embedder=None)  # type: ignore[arg-type]
PLAN = """# Research Plan: Sparse attention for long protein sequences

## Problem

Existing attention models fail on long proteins. We have seen that memory grows quadratically.

## Method

**Sparse kernel:** We will replace dense attention by a block-sparse kernel over residues, so that memory grows linearly.

**Pre-computed masks:** We will derive the masks from predicted contact maps.

## Experiment Design

We will compare with dense attention on remote homology detection and report accuracy and memory.
"""
METHOD = (
    "Sparse kernel: We will replace dense attention by a block-sparse kernel over protein residues."
    " Context: Long proteins."
)


def shown(
    key: str, results: str, method: str = "", published: str = "2020-05", context: str = ""
) -> EvidenceShown:
    return EvidenceShown(
        key=key,
        title="Block-sparse attention over protein residues",
        published=published,
        read_from="abstract",
        citation_count=None,
        method=method or "We study a block-sparse attention kernel over protein residues.",
        results=results,
        context=context,
    )


async def review(*evidence: EvidenceShown, idea: str = PLAN) -> ReviewReply:
    reply = await baseline_review(ReviewInput(idea=idea, method=METHOD, evidence=evidence), TOOLS)
    assert isinstance(reply, ReviewReply)
    return reply


async def methods_of(idea: str) -> MethodsReply:
    reply = await baseline_methods(MethodsInput(idea=idea, maximum_methods=6), TOOLS)
    assert isinstance(reply, MethodsReply), idea
    return reply


def abstract(key: str, title: str, text: str) -> PaperShown:
    return PaperShown(key=key, title=title, sections=(SectionShown(kind="abstract", text=text),))


FRAGMENTS = [
    *("## Method", "\n", "\n\n", "- ", "1. ", "**Label:** ", "**", "We will ", "train a model "),
    *("on P3 ", "[P1] ", "(Smith, 2020) ", "outperforms ", "fails ", "however, ", "attention "),
    *("existing methods ", "kernel ", "significantly ", "3% ", ". ", "; ", "“", "”", "```", ":"),
    *("https://x.org ", "…", "e.g. ", "Context: "),
]
GOOD = (
    "Block-sparse attention significantly outperforms dense attention on protein residues and"
    " improves accuracy by 4%."
)
BAD = (
    "We find that block-sparse attention over protein residues fails to improve on dense attention"
    " and degrades accuracy by 4%."
)


async def test_methods_come_from_the_parts_that_propose_with_labels_context_and_verbatim_quotes() -> (
    None
):
    reply = await methods_of(PLAN)
    assert {method.text.split(":")[0] for method in reply.methods} >= {
        "Sparse kernel",
        "Pre-computed masks",
    }
    assert not any("quadratically" in method.text for method in reply.methods)
    assert all(
        "Sparse attention for long protein sequences" in method.text for method in reply.methods
    )
    assert all("".join(method.quote.split()) in "".join(PLAN.split()) for method in reply.methods)


async def test_a_long_paragraph_of_steps_is_cut_into_its_steps() -> None:
    steps = (
        "First, we collect night recordings of migrating songbirds with forty autonomous"
        " microphones placed along the coast by volunteers. Next, we will train a small"
        " convolutional detector on labelled flight calls, with weak labels for rare species. Then"
        " we estimate passage rates with a hierarchical occupancy model that accounts for wind,"
        " rain, moonlight and detector errors. Finally, we compare the estimates with radar"
        " measurements of biomass aloft at three stations and report their rank correlation."
    )
    reply = await methods_of(f"## Method\n\n{steps}")
    assert len(reply.methods) == 4
    assert reply.methods[0].text.startswith("We ")


@pytest.mark.parametrize("text", ["", "   \n", "!!! --- ###", "12 34 56"])
async def test_an_idea_without_words_has_nothing_to_judge(text: str) -> None:
    reply = await baseline_methods(MethodsInput(idea=text, maximum_methods=6), TOOLS)
    assert isinstance(reply, NoAnswer)
    assert reply.reason is Reason.NOTHING_TO_JUDGE


async def test_a_query_stays_within_its_limit_and_has_no_operators() -> None:
    reply = await baseline_queries(
        QueriesInput(
            idea=PLAN,
            methods=(METHOD, METHOD),
            word_limit=8,
            queries_per_method=3,
            search_failures=True,
        ),
        TOOLS,
    )
    assert isinstance(reply, QueriesReply)
    assert [answer.method for answer in reply.queries] == [1, 2]
    for answer in reply.queries:
        assert 1 < len(answer.queries) <= 3
        for query in (*answer.queries, answer.failure_query):
            assert 0 < len(query.split()) <= 8
            assert "AND" not in query
        assert answer.failure_query.endswith("fails limitations")


async def test_a_close_paper_is_relevant_and_a_distant_one_is_not() -> None:
    close = (
        "Attention over protein residues is costly. We propose a block-sparse kernel for"
        f" attention. {GOOD} Tests use 12 datasets."
    )
    distant = (
        "Birds migrate at night. We tracked forty warblers over the sea. Wind explained most of the"
        " variation in their routes."
    )
    papers = (abstract("P1", "Block-sparse attention", close), abstract("P2", "Warblers", distant))
    reply = await baseline_evidence(EvidenceInput(idea=PLAN, method=METHOD, papers=papers), TOOLS)
    assert isinstance(reply, EvidenceReply)
    assert [reading.relevance > 0 for reading in reply.papers] == [True, False]
    assert "outperforms" in reply.papers[0].results
    assert "We propose" in reply.papers[0].method


async def test_reading_one_paper_or_many_in_a_call_gives_the_same_answer() -> None:
    papers = tuple(abstract(f"P{n}", "T", f"{GOOD} {BAD} {n}") for n in (1, 2, 3))
    together = await baseline_evidence(
        EvidenceInput(idea=PLAN, method=METHOD, papers=papers), TOOLS
    )
    alone = [
        await baseline_evidence(EvidenceInput(idea=PLAN, method=METHOD, papers=(each,)), TOOLS)
        for each in papers
    ]
    assert together.papers == tuple(reading for reply in alone for reading in reply.papers)


async def test_favourable_evidence_scores_high_failures_low_and_both_between() -> None:
    good, bad = shown("P1", GOOD), shown("P2", BAD)
    for_it, against, mixed = (
        await review(good, shown("P2", GOOD), shown("P3", GOOD)),
        await review(bad),
        await review(good, bad),
    )
    assert for_it.score > 8
    assert against.score < 2
    assert against.score < mixed.score < for_it.score
    assert (mixed.support, mixed.contradictions) == (f"“{GOOD}” [P1]", f"“{BAD}” [P2]")
    assert (mixed.suggestions, mixed.open_questions) == ((), "")


SILENT = shown("P2", "Twelve proteins were aligned in this work by two of the authors.")


async def test_a_paper_that_states_no_outcome_moves_the_score_little_and_is_counted() -> None:
    silent = await review(SILENT)
    assert 3 < silent.score < 6
    assert silent.support == "Related papers that state no outcome: 1 [P2]"
    assert silent.contradictions == ""


async def test_evidence_that_shares_nothing_with_the_method_gives_no_answer() -> None:
    item = EvidenceShown(
        key="P1",
        title="Owls",
        published="n.d.",
        read_from="abstract",
        citation_count=1,
        method="Owls hunt.",
        results="",
        context="",
    )
    reply = await baseline_review(ReviewInput(idea=PLAN, method=METHOD, evidence=(item,)), TOOLS)
    assert isinstance(reply, NoAnswer)
    assert reply.reason is Reason.NO_EVIDENCE


async def test_the_summary_takes_strengths_from_good_methods_and_weaknesses_from_bad_ones_without_repeating_a_paper() -> (
    None
):
    reviews = tuple(
        ReviewShown(
            rank=rank,
            method=f"Part {rank}: We will do it. Context: x.",
            score_0_to_10=score,
            evidence_count=2,
            support=f"“It outperforms.” [P9]\n\n“It outperforms number {rank} by far.” [P{rank}]",
            contradictions=f"“Trouble with {word}.” [P{rank + 4}]",
            suggestions="",
        )
        for rank, score, word in (
            (1, 2.0, "heat and noise"),
            (2, 9.0, "slow convergence"),
            (3, 6.0, "missing labels"),
        )
    )
    reply = await baseline_summary(SummaryInput(idea=PLAN, reviews=reviews), TOOLS)
    assert reply.strengths[0] == "Method 2: “It outperforms.” [P9]"
    assert reply.weaknesses[0] == "Method 1: “Trouble with heat and noise.” [P5]"
    assert len(reply.strengths) == len(reply.weaknesses) == 3
    assert reply.suggestions == ()
    assert sum("[P9]" in strength for strength in reply.strengths) == 1


@example("WE\r```\rA0")
@given(
    st.one_of(st.text(max_size=600), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))
)
async def test_no_text_breaks_the_baselines(text: str) -> None:
    extracted = await baseline_methods(MethodsInput(idea=text, maximum_methods=3), TOOLS)
    methods = extracted.methods if isinstance(extracted, MethodsReply) else ()
    assert all(
        method.text and "".join(method.quote.split()) in "".join(text.split()) for method in methods
    )
    method = methods[0].text if methods else text
    await baseline_queries(QueriesInput(idea=text, methods=(method,), word_limit=70), TOOLS)
    paper = abstract("P1", text, text)
    await baseline_evidence(EvidenceInput(idea=text, method=method, papers=(paper,)), TOOLS)
    reply = await baseline_review(
        ReviewInput(
            idea=text, method=method, evidence=(shown("P1", text, method=text, context=text),)
        ),
        TOOLS,
    )
    assert isinstance(reply, NoAnswer) or 0 <= reply.score <= 10


def real_ideas() -> list[dict[str, Any]]:
    path = DATA / "scholarideas.jsonl"
    if not path.exists():
        pytest.skip("../shared/data/scholarideas.jsonl is not here")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


async def test_every_real_idea_yields_several_distinct_methods_with_verbatim_quotes() -> None:
    for entry in real_ideas():
        reply = await methods_of(entry["text"])
        assert 3 <= len(reply.methods) <= 6, entry["idea_id"]
        assert all(
            "".join(method.quote.split()) in "".join(entry["text"].split())
            for method in reply.methods
        )
        assert all(8 <= len(method.text.split()) <= 160 for method in reply.methods)


async def test_a_success_elsewhere_in_a_paper_on_the_subject_is_no_support_for_the_method() -> None:
    context = "Context: Fragment trees with latent optimisation for molecules."
    evidence = EvidenceShown(
        key="P1",
        title="Grammar autoencoders",
        published="2017",
        read_from="abstract",
        citation_count=1,
        method="Decodes parse trees of a grammar.",
        results=(
            "Latent optimisation improves both symbolic regression and molecule search in our"
            " experiments."
        ),
        context="",
    )
    method = f"We decompose every molecule into rings and bonds and link them as a tree. {context}"
    reply = await baseline_review(
        ReviewInput(idea=method, method=method, evidence=(evidence,)), TOOLS
    )
    assert isinstance(reply, ReviewReply)
    assert "“" not in reply.support
    near = f"We run latent optimisation for molecule search. {context}"
    reply = await baseline_review(ReviewInput(idea=near, method=near, evidence=(evidence,)), TOOLS)
    assert isinstance(reply, ReviewReply)
    assert reply.support.startswith("“Latent optimisation improves both")
