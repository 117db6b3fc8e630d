"""What becomes of a cited sentence after it was held against the stored text."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import Noun
from schemas.identifiers import PaperId
from schemas.judging import Wording
from schemas.literature.paper import Paper
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import Reason
from tasks.citations.keys import show
from tasks.citations.references import reference
from tasks.citations.settle import citing_sentences, settle
from tasks.judging.step import BaselineTools, Step
from tasks.judging.steps import (
    ClaimShown,
    ClaimVerdict,
    SourceShown,
    Verdict,
    VerifyInput,
    VerifyReply,
    baseline_verify,
)
from tasks.judging.verifying import VerifiedText, verifies, verify
from tests.support.contribution_fakes import WordEmbedder
from tests.support.evaluations import make_provenance

PAPERS = [
    Paper(paper_id=PaperId(name), title=name.title(), year=2020, url=f"https://example.org/{name}")
    for name in ("one", "two", "three")
]
SHOWN = show(PAPERS)
STORED = {paper.paper_id: f"The text of {paper.title}." for paper in PAPERS}
MADE = make_provenance("verify_citations")
TEXT = settle(
    "It worked on owls [P1]. The plan does so too. It failed on bats [P2][P3].\n\nMore of it [P3].",
    SHOWN,
).markdown


class Verifier:
    """Gives the verdicts it was made with, and keeps what it was asked."""

    name = "litellm:m"

    def __init__(self, verdicts: Sequence[dict[str, Any]] | Reason) -> None:
        self.verdicts = verdicts
        self.asked: list[VerifyInput] = []

    async def run(self, step: Step[Any, Any], inputs: Noun) -> Outcome[Any]:
        assert isinstance(inputs, VerifyInput)
        assert step.messages(inputs)
        self.asked.append(inputs)
        if isinstance(self.verdicts, Reason):
            return Unscored(self.verdicts, "no answer", MADE)
        return Scored(VerifyReply(claims=[ClaimVerdict(**each) for each in self.verdicts]), MADE)


async def verified(verdicts: Sequence[dict[str, Any]] | Reason) -> VerifiedText:
    (found,), _ = await verify([(TEXT, SHOWN)], STORED, Verifier(verdicts), stage="soundness")
    return found


async def test_only_sentences_that_cite_are_asked_about_beside_what_they_cite() -> None:
    engine = Verifier([{"claim": 1, "verdict": "supported"}])
    await verify([(TEXT, SHOWN)], STORED, engine, stage="soundness")
    (asked,) = engine.asked
    assert [claim.sentence for claim in asked.claims] == [
        "It worked on owls [P1].",
        "It failed on bats [P2] [P3].",
        "More of it [P3].",
    ]
    assert [source.text for source in asked.sources] == [STORED[paper.paper_id] for paper in PAPERS]


async def test_what_is_supported_stays_word_for_word() -> None:
    found = await verified([{"claim": n, "verdict": "supported"} for n in (1, 2, 3)])
    assert found == VerifiedText(TEXT, checked=3)


async def test_a_sentence_that_no_text_carries_is_corrected_once_or_taken_out() -> None:
    found = await verified(
        [
            {"claim": 1, "verdict": "not", "correction": "It worked on hens [P1]."},
            {"claim": 2, "verdict": "not"},
            {"claim": 3, "verdict": "partly"},
        ]
    )
    assert (found.checked, found.corrected, found.dropped) == (3, 1, 1)
    assert found.markdown == (
        f"It worked on hens {reference(PAPERS[0])}. The plan does so too.\n\n"
        f"More of it {reference(PAPERS[2])}."
    )


@pytest.mark.parametrize("correction", ["It worked.", "It worked [P9].", "It worked [P2]."])
async def test_a_correction_that_does_not_cite_what_its_sentence_cited_is_none(
    correction: str,
) -> None:
    found = await verified([{"claim": 1, "verdict": "not", "correction": correction}])
    assert (found.corrected, found.dropped) == (0, 1)


async def test_contradicting_unknown_and_missing_verdicts_check_nothing() -> None:
    found = await verified(
        [
            {"claim": 1, "verdict": "not"},
            {"claim": 1, "verdict": "supported"},
            {"claim": 2, "verdict": "perhaps"},
            {"claim": 9, "verdict": "not"},
        ]
    )
    assert found == VerifiedText(TEXT)


UNCITED = settle(
    "## Owls and other birds of prey\nIt worked on owls in two studies. It failed on bats [P2]. Why?",
    SHOWN,
).markdown


@pytest.mark.parametrize(
    ("correction", "sentence"),
    [
        ("It worked on owls in two studies [P1].", f"in two studies {reference(PAPERS[0])}."),
        ("It worked on owls in three studies [P1].", "in two studies."),
        ("It worked on owls in two studies [P9].", "in two studies."),
        ("", "in two studies."),
    ],
)
async def test_the_published_check_adds_citations_and_changes_no_word(
    correction: str, sentence: str
) -> None:
    engine = Verifier([{"claim": 1, "verdict": "not", "correction": correction}])
    (found,), _ = await verify(
        [(UNCITED, SHOWN)], STORED, engine, stage="soundness", wording=Wording.PUBLISHED
    )
    (asked,) = engine.asked
    assert [claim.sentence for claim in asked.claims] == [
        "It worked on owls in two studies.",
        "It failed on bats [P2].",
    ]
    assert [source.key for source in asked.sources] == ["P1", "P2", "P3"], "all of its prompt"
    assert sentence in found.markdown
    assert found.markdown.endswith("Why?")
    added = sentence.endswith(").")
    assert (found.corrected, found.dropped) == (int(added), 0)
    before, after = (
        settle(text, SHOWN).uncited_sentence_count for text in (UNCITED, found.markdown)
    )
    assert before - after == added


async def test_without_an_answer_the_text_stays_and_a_failure_says_so() -> None:
    engine = Verifier(Reason.TIMED_OUT)
    (found,), failures = await verify([(TEXT, SHOWN)], STORED, engine, stage="soundness")
    assert found == VerifiedText(TEXT)
    assert [(each.subject, each.reason) for each in failures] == [
        ("verify_citations", Reason.TIMED_OUT)
    ]


async def test_a_paper_without_a_stored_text_is_not_asked_about() -> None:
    engine = Verifier([])
    (found,), failures = await verify([(TEXT, SHOWN)], {}, engine, stage="soundness")
    assert (found, failures, engine.asked) == (VerifiedText(TEXT), (), [])


def test_the_offline_engine_is_not_asked_about_what_it_quotes() -> None:
    engine = Verifier([])
    assert verifies(engine)
    engine.name = "extractive"
    assert not verifies(engine)


VERDICTS = st.lists(
    st.builds(
        dict,
        claim=st.integers(0, 6),
        verdict=st.sampled_from([*Verdict, "other"]),
        correction=st.sampled_from(["", "Rather so [P1].", "Rather so [P3].", "Rather so.", "\n"]),
    ),
    min_size=1,
    max_size=8,
)


@given(VERDICTS)
async def test_every_sentence_is_kept_corrected_or_counted_as_dropped(
    verdicts: list[dict[str, Any]],
) -> None:
    found = await verified(verdicts)
    before = [each.text.strip() for line in citing_sentences(TEXT, SHOWN) for each in line]
    after = [each.text.strip() for line in citing_sentences(found.markdown, SHOWN) for each in line]
    assert found.corrected + found.dropped <= found.checked <= 3
    assert len(after) == len(before) - found.dropped
    assert len([text for text in after if text not in before]) == found.corrected
    assert "The plan does so too." in after
    assert settle(found.markdown, SHOWN).removed_citation_count == 0


async def test_the_baseline_tells_a_text_that_says_the_same_from_one_that_does_not() -> None:
    sources = (
        SourceShown(key="P1", title="Owls", text="Owls hunt voles by sound in the dark."),
        SourceShown(key="P2", title="Steel", text="Steel bridges rust where salt is spread."),
    )
    claims = (
        ClaimShown(number=1, sentence="Owls hunt by sound [P1]."),
        ClaimShown(number=2, sentence="Owls hunt by sound [P2]."),
    )
    reply = await baseline_verify(
        VerifyInput(claims=claims, sources=sources), BaselineTools(WordEmbedder())
    )
    assert [each.verdict for each in reply.claims] == [Verdict.SUPPORTED, Verdict.NOT]
