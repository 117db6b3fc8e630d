"""The extractive reviewers: deterministic, moved by the evidence and by the idea, never constant."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.base import replace
from schemas.judgement.committee import Decision, IdeaPart
from tasks.committee.steps.prompt_inputs import FindingShown, KnowledgeShown, PartShown
from tasks.committee.steps.reviews import (
    DimensionShown,
    MetaReply,
    PersonaInput,
    PersonaReply,
    ReviewerShown,
    baseline_review,
)
from tasks.committee.steps.structure_idea import StructureReply
from tasks.judging.step import BaselineTools
from tasks.personas.roster import load_roster
from tests.support.contribution_fakes import WordEmbedder

TOOLS = BaselineTools(embedder=WordEmbedder())
DIMENSIONS = tuple(
    DimensionShown(name=each.name, question=each.question, scale=each.scale)
    for each in load_roster(None).dimensions
)
CLAIMS = {
    IdeaPart.TLDR: ("Learned hashing routes sparse attention in transformers.",),
    IdeaPart.MOTIVATIONS: (
        "Dense attention needs 40 GB of memory for documents of 100,000 words.",
    ),
    IdeaPart.METHODS: ("Each query attends to the keys of its own bucket only.",),
    IdeaPart.EXPERIMENTAL_SETTINGS: ("We compare with dense attention on three QA benchmarks.",),
}


def item(
    number: int,
    relation: str,
    part: IdeaPart = IdeaPart.METHODS,
    relevance: float = 0.8,
    kind: str = "papers",
) -> KnowledgeShown:
    finding = FindingShown(
        part=part.value,
        relation=relation,
        relevance_0_to_1=relevance,
        evidence=f"Finding {number} on hashing.",
        analysis="It bears on it.",
    )
    return KnowledgeShown(
        key=f"P{number}", kind=kind, title=f"Item {number}", published="2020", findings=(finding,)
    )


def question(*evidence: KnowledgeShown, **changes: Any) -> PersonaInput:
    whole = PersonaInput(
        idea="Learned hashing for sparse attention. We will train a small model.",
        parts=tuple(PartShown(part=part.value, claims=CLAIMS.get(part, ())) for part in IdeaPart),
        evidence=evidence,
        unanswered_searches=0,
        reviewer=ReviewerShown(name="Ada", profile="Engineer.", habits="Even-handed."),
        dimensions=DIMENSIONS,
    )
    return replace(whole, **changes)


async def scores(asked: PersonaInput) -> dict[str, float]:
    reply = await baseline_review(asked, TOOLS)
    assert isinstance(reply, PersonaReply)
    return {each.dimension: each.score for each in reply.reviews}


SUPPORTED = question(item(1, "supports"))
UNTESTED = replace(
    SUPPORTED,
    parts=tuple(
        replace(part, claims=()) if part.part == IdeaPart.EXPERIMENTAL_SETTINGS else part
        for part in SUPPORTED.parts
    ),
)
DEMANDING = replace(
    SUPPORTED, idea="A nationwide longitudinal clinical trial on thousands of GPUs."
)
PURPOSE = question(*(item(n, "supports", IdeaPart.MOTIVATIONS) for n in range(1, 5)))


@pytest.mark.parametrize(
    ("dimensions", "rising"),
    [
        (
            "validity feasibility",
            [question(item(1, one)) for one in ("refutes", "neither", "supports")],
        ),
        ("novelty", [question(item(1, "supports", relevance=one)) for one in (0.9, 0.2)]),
        ("clarity validity feasibility", [UNTESTED, SUPPORTED]),
        ("feasibility", [DEMANDING, SUPPORTED, question(item(1, "supports", kind="code"))]),
        ("significance", [SUPPORTED, PURPOSE]),
    ],
    ids=["refuted", "nearness", "missing test", "code and demands", "purpose"],
)
async def test_scores_rise_with_the_evidence_and_the_plan(
    dimensions: str, rising: list[PersonaInput]
) -> None:
    for dimension in dimensions.split():
        values = [(await scores(case))[dimension] for case in rising]
        assert values == sorted(set(values)), dimension


async def test_reasons_quote_both_sides_under_their_keys() -> None:
    reply = await baseline_review(question(item(1, "supports"), item(2, "refutes")), TOOLS)
    assert isinstance(reply, PersonaReply)
    (validity,) = [each for each in reply.reviews if each.dimension == "validity"]
    assert validity.review.split("\n\n") == [
        "Findings for: 1; against: 1; test stated: yes",
        "supports methods: “Finding 1 on hashing.” [P1]",
        "refutes methods: “Finding 2 on hashing.” [P2]",
    ]


FINDING = st.builds(
    FindingShown,
    part=st.sampled_from([part.value for part in IdeaPart]),
    relation=st.sampled_from(["supports", "refutes", "neither"]),
    relevance_0_to_1=st.floats(0, 1),
    evidence=st.text(max_size=60),
    analysis=st.just(""),
)


@given(
    st.lists(st.lists(FINDING, min_size=1, max_size=3), max_size=6),
    st.text(min_size=1, max_size=80),
)
async def test_no_evidence_and_no_text_takes_a_score_out_of_bounds_or_changes_it_on_repetition(
    found: list[list[FindingShown]], idea: str
) -> None:
    evidence = tuple(
        KnowledgeShown(
            key=f"P{n}", kind="papers", title="T", published="2020", findings=tuple(findings)
        )
        for n, findings in enumerate(found, start=1)
    )
    asked = question(*evidence, idea=idea)
    assert await baseline_review(asked, TOOLS) == await baseline_review(asked, TOOLS)
    assert all(0 <= score <= 10 for score in (await scores(asked)).values())


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Reject", Decision.REJECT),
        ("reject.", Decision.REJECT),
        ("Accept (Poster)", Decision.POSTER),
        ("SPOTLIGHT", Decision.SPOTLIGHT),
    ],
)
def test_a_decision_is_known_however_it_is_spelled(written: str, meant: Decision) -> None:
    reply = MetaReply.model_validate(
        {"summary": "S", "strengths": None, "weaknesses": ["a", "b"], "decision": written}
    )
    assert (reply.decision, reply.strengths, reply.weaknesses) == (meant, "", "a\n\nb")


@pytest.mark.parametrize("written", ["Accept", "Poster or Spotlight", "", None, 3])
def test_a_decision_that_names_none_or_two_is_no_decision(written: object) -> None:
    with pytest.raises(ValidationError):
        MetaReply.model_validate(
            {"summary": "S", "strengths": "", "weaknesses": "", "decision": written}
        )


def test_a_score_out_of_bounds_costs_its_dimension_and_no_other() -> None:
    entries = [
        {"dimension": "[clarity]", "review": "R", "score": "7"},
        {"dimension": "novelty", "review": "R", "score": 70},
    ]
    reply = PersonaReply.model_validate({"reviews": entries})
    assert [(each.dimension, each.score) for each in reply.reviews] == [("clarity", 7.0)]
    with pytest.raises(ValidationError):
        PersonaReply.model_validate({"reviews": entries[1:]})


def test_a_part_written_as_null_or_as_one_sentence_is_a_list() -> None:
    reply = StructureReply.model_validate(
        dict.fromkeys(map(str, IdeaPart)) | {"tldr": "One claim."}
    )
    assert reply.claims()[IdeaPart.TLDR] == ("One claim.",)
    assert reply.claims()[IdeaPart.METHODS] == ()
