"""The module against fakes: what it rests on, what it refuses to conclude, what it cites."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.judgement.novelty import Difference, NoveltyEvaluation, WorkOverlap
from schemas.profile import NoveltyParameters
from schemas.reasons import Reason
from tasks.calibration.calibrator_files import write_fitted
from tasks.calibration.examples import Example, LabelScale, item_sha256
from tasks.calibration.fitting import fit_calibrator
from tasks.judging.findings import Findings
from tasks.novelty.evaluate import evaluate_novelty
from tasks.novelty.profile_files import NOVELTY, fold_of, judged_by, read_exemplars
from tasks.novelty.steps.judge_novelty import JUDGE_NOVELTY, NoveltyReply, ScoreProbabilities
from tasks.novelty.steps.novelty_queries import StatementsReply
from tests.support.contribution_fakes import Delays, FakeEngine, FakeLiterature, WordEmbedder, paper

IDEA = Idea(
    idea_id=IdeaId("bats"),
    title="Listening to bats at night",
    text=(
        "We will build a small recorder for the echo calls of bats. We propose a theory of how bats"
        " share caves by their calls."
    ),
    cutoff_date=date(2024, 1, 1),
)
WORKS = (
    paper("recorder", "A small recorder for the echo calls of bats is built and tested in caves."),
    paper("law", "Tax law of islands and its history."),
    paper("untold", None),
)
USUAL = NoveltyParameters()
LATE = replace(
    paper("late", "The echo calls of bats, recorded."), publication_date=date(2025, 5, 5)
)


def statements(_: Any) -> StatementsReply:
    queries = [["bats recorder", "echo calls"], ["bats caves"]]
    return StatementsReply.model_validate({"statements": [{"queries": each} for each in queries]})


def judged(question: Any) -> NoveltyReply:
    known = {"contribution": "A recorder.", "closest": "[P1]", "overlap": "Full"}
    new = {"contribution": "A theory.", "closest": None, "overlap": "none"}
    return NoveltyReply.model_validate(
        {
            "contributions": [known | {"difference": "trivial"}, new | {"difference": "new"}],
            "known_aspects": ["A recorder exists [P1] and [P77].", "[P78]"],
            "novel_aspects": ["The theory of sharing."],
            "justification": "The recorder is known [P1]. The theory is not (Smith et al., 2019).",
            "probabilities": percent(5, 20, 50, 20, 5),
        }
    )


def percent(*by_score: object) -> dict[str, object]:
    return dict(zip(ScoreProbabilities.model_fields, by_score, strict=True))


ANSWERS = {"novelty_queries": statements, "judge_novelty": judged}


async def evaluated(
    answers: dict[str, Any] | None = None,
    *,
    literature: FakeLiterature | None = None,
    given: Any = None,
    idea: Idea = IDEA,
    parameters: NoveltyParameters = USUAL,
    seed: int | None = None,
    by_baseline: bool = False,
) -> tuple[Findings[NoveltyEvaluation], FakeEngine]:
    embedder = WordEmbedder()
    usual = {} if by_baseline else ANSWERS
    engine = FakeEngine(embedder, {**usual, **(answers or {})}, Delays(seed))
    if literature is None and given is None:
        literature = FakeLiterature(WORKS)
    return await evaluate_novelty(idea, parameters, engine, literature, embedder, given), engine


def outcome(findings: Findings[NoveltyEvaluation]) -> tuple[int | None, Reason | None]:
    return findings.evaluation.judgement.score_1_to_5, findings.evaluation.judgement.unscored_reason


async def test_a_judgement_cites_what_was_shown_and_nothing_else() -> None:
    findings, _ = await evaluated()
    judgement = findings.evaluation.judgement
    assert judgement.score_1_to_5 == 3
    assert "P1" not in judgement.justification + "".join(judgement.known_aspects)
    assert "Smith" not in judgement.justification
    assert judgement.known_aspects == ("A recorder exists (recorder, 2020) and.",), (
        "what was never shown leaves nothing behind"
    )
    assert judgement.removed_citation_count == 3
    assert {(row.field, row.paper_id, row.count) for row in findings.citations} == {
        ("justification", "recorder", 1),
        ("known_aspects", "recorder", 1),
    }
    assert {row.module for row in findings.citations} == {"novelty"}


async def test_works_are_searched_by_statement_and_the_most_similar_come_first() -> None:
    literature = FakeLiterature(WORKS)
    findings, engine = await evaluated(literature=literature)
    assert literature.queries == ["bats recorder", "echo calls", "bats caves"]
    assert literature.cutoffs == {IDEA.cutoff_date}
    _, question = engine.asked[-1]
    assert [work.title for work in question.works] == ["On recorder"], (
        "a work without abstract cannot be judged by"
    )
    assert findings.evaluation.judgement.related_paper_ids == ("recorder",)


async def test_given_works_are_shown_in_their_order_and_nothing_is_searched() -> None:
    findings, engine = await evaluated(given=WORKS[::-1])
    assert [name for name, _ in engine.asked] == ["judge_novelty"]
    assert findings.evaluation.judgement.related_paper_ids == ("law", "recorder")
    assert {one.paper_id for one in findings.papers} == {"recorder", "law", "untold"}


async def test_nothing_after_the_cutoff_is_shown_even_when_given() -> None:
    findings, _ = await evaluated(given=(*WORKS, LATE))
    assert LATE.paper_id not in findings.evaluation.judgement.related_paper_ids
    assert LATE not in findings.papers


async def test_the_ideas_own_publication_does_not_make_it_known() -> None:
    own = replace(WORKS[0], title="Listening to Bats at Night.", paper_id="own")
    findings, _ = await evaluated(given=(own, WORKS[1]))
    assert findings.evaluation.judgement.related_paper_ids == ("law",)


async def test_an_empty_field_is_unscored_not_novel() -> None:
    findings, engine = await evaluated(literature=FakeLiterature())
    assert outcome(findings) == (None, Reason.NO_EVIDENCE)
    assert "not proof of novelty" in findings.evaluation.judgement.unscored_detail
    assert [name for name, _ in engine.asked] == ["novelty_queries"]


async def test_could_not_look_is_another_reason_than_nothing_found() -> None:
    findings, _ = await evaluated(literature=FakeLiterature(WORKS, failing=lambda _: True))
    assert outcome(findings) == (None, Reason.SOURCE_UNAVAILABLE)
    assert findings.evaluation.judgement.unanswered_search_count == 3
    assert [one.reason for one in findings.evaluation.failures] == ["server_error"] * 3
    assert all(one.retryable for one in findings.evaluation.failures)


async def test_half_a_search_is_judged_and_told_most_of_a_search_missing_is_not() -> None:
    one_fails, engine = await evaluated(
        literature=FakeLiterature(WORKS, failing=lambda query: query == "echo calls")
    )
    assert one_fails.evaluation.judgement.score_1_to_5 == 3
    assert engine.asked[-1][1].unanswered_searches == 1
    two_fail, _ = await evaluated(
        literature=FakeLiterature(WORKS, failing=lambda query: query != "echo calls")
    )
    assert two_fail.evaluation.judgement.unscored_reason is Reason.SOURCE_UNAVAILABLE


@pytest.mark.parametrize("step", ["novelty_queries", "judge_novelty"])
async def test_an_engine_that_refuses_leaves_a_reason_and_a_failure(step: str) -> None:
    findings, _ = await evaluated({step: lambda _: Reason.REFUSED})
    assert outcome(findings) == (None, Reason.REFUSED)
    assert [(one.stage, one.reason) for one in findings.evaluation.failures] == [
        ("novelty", "refused")
    ]


async def test_the_result_does_not_depend_on_who_answers_first() -> None:
    found = [
        (await evaluated(literature=FakeLiterature(WORKS, delays=Delays(seed)), seed=seed))[0]
        for seed in (1, 2)
    ]
    assert found[0].papers == found[1].papers
    assert (
        found[0].evaluation.judgement.related_paper_ids
        == found[1].evaluation.judgement.related_paper_ids
    )


FOREIGN = "which share little with what lives at sea or what is sold in town and elsewhere."


@pytest.mark.parametrize(
    ("work", "score"),
    [
        (replace(WORKS[0], abstract=IDEA.text), 1),
        (paper("calls", f"Echo calls of birds in parks, {FOREIGN}"), 5),
    ],
    ids=["repeated", "foreign"],
)
async def test_the_baseline_tells_a_repeated_idea_from_a_foreign_one(work: Any, score: int) -> None:
    findings, _ = await evaluated(given=(work, WORKS[1]), by_baseline=True)
    judgement = findings.evaluation.judgement
    assert judgement.score_1_to_5 == score
    aspects = (*judgement.known_aspects, *judgement.novel_aspects)
    assert len(aspects) == judgement.statement_count == 2
    assert judgement.removed_citation_count == 0


async def test_works_that_have_nothing_to_do_with_the_idea_do_not_make_it_new() -> None:
    findings, _ = await evaluated(given=(WORKS[1],), by_baseline=True)
    assert outcome(findings) == (None, Reason.NO_EVIDENCE)


async def test_the_baseline_never_gives_a_five_when_searches_went_unanswered() -> None:
    foreign = paper("calls", f"Echo calls of bats, {FOREIGN}")
    literature = FakeLiterature((foreign,), failing=lambda query: query == "echo calls")
    answers = {"novelty_queries": statements}
    findings, _ = await evaluated(answers, literature=literature, by_baseline=True)
    assert findings.evaluation.judgement.score_1_to_5 == 4


def stored(path: Path, *, trained_on: str = "another idea", engine: str = "fake") -> str:
    scale = LabelScale(("1", "3", "5"), (1.0, 3.0, 5.0))
    rows = [(str(n), str(1 + 2 * (n % 3)), 1 - (n % 3) / 3) for n in range(30)]
    examples = [
        Example(item_sha256(text), label, "3", {"mean_closeness_0_to_1": closeness})
        for text, label, closeness in (*rows, (trained_on, "3", 0.5))
    ]
    made = {"target": NOVELTY, "engine": engine, "judged_by": judged_by(), "source": "made up"}
    write_fitted(fit_calibrator(examples, scale, **made), path)
    return str(path)


async def test_a_calibrator_named_by_the_profile_is_applied_with_its_identity(
    tmp_path: Path,
) -> None:
    parameters = NoveltyParameters(calibrator=stored(tmp_path / "c.json"))
    findings, _ = await evaluated(parameters=parameters)
    judgement = findings.evaluation.judgement
    assert judgement.calibrated_score_1_to_5 is not None
    assert (
        judgement.calibrated_lower_1_to_5
        <= judgement.calibrated_score_1_to_5
        <= judgement.calibrated_upper_1_to_5
    )
    assert judgement.calibrator_sha256 is not None
    assert judgement.score_1_to_5 == 3


async def test_an_idea_the_calibrator_was_fitted_on_stays_uncalibrated_and_says_so(
    tmp_path: Path,
) -> None:
    parameters = NoveltyParameters(calibrator=stored(tmp_path / "c.json", trained_on=IDEA.text))
    findings, _ = await evaluated(parameters=parameters)
    assert findings.evaluation.judgement.calibrated_score_1_to_5 is None
    assert [one.reason for one in findings.evaluation.failures] == ["fitted_on_it"]


async def test_a_calibrator_of_another_engine_is_refused(tmp_path: Path) -> None:
    parameters = NoveltyParameters(calibrator=stored(tmp_path / "c.json", engine="litellm:other"))
    with pytest.raises(
        ConfigurationError, match="fitted on judgements of litellm:other, not of fake"
    ):
        await evaluated(parameters=parameters)


async def test_each_claimed_contribution_names_its_closest_work_and_what_it_adds() -> None:
    findings, _ = await evaluated()
    known, new = findings.evaluation.contributions
    assert (known.paper_id, known.overlap, known.difference) == (
        "recorder",
        WorkOverlap.FULL,
        Difference.TRIVIAL,
    )
    assert (new.paper_id, new.overlap, new.difference) == (None, WorkOverlap.NONE, Difference.NEW)
    judgement = findings.evaluation.judgement
    assert judgement.probabilities_percent == {"1": 5, "2": 20, "3": 50, "4": 20, "5": 5}
    assert judgement.neighbour_density_0_to_1 is not None


async def test_a_closest_work_that_was_never_shown_is_taken_out_and_counted() -> None:
    def invented(question: Any) -> NoveltyReply:
        reply = judged(question)
        made_up = reply.contributions[0].model_copy(update={"closest": "P77"})
        return reply.model_copy(update={"contributions": [made_up]})

    findings, _ = await evaluated({"judge_novelty": invented})
    (contribution,) = findings.evaluation.contributions
    assert (contribution.paper_id, contribution.overlap) == (None, None)
    assert findings.evaluation.judgement.removed_citation_count == 4


@pytest.mark.parametrize(
    ("given", "score", "whole"),
    [
        ((10, 20, 40, 20, 10), 3, (10, 20, 40, 20, 10)),
        ((40, 40, 10, 5, 5), 1, (40, 40, 10, 5, 5)),
        ((33, 33, 33, 0, 0), 1, (34, 33, 33, 0, 0)),
        (("5 %", 0.2, "50", 20.0, 5), 3, (5, 20, 50, 20, 5)),
        ((21, 21, 21, 21, 21), 1, (20, 20, 20, 20, 20)),
    ],
)
def test_the_score_is_the_likeliest_one_and_of_equal_ones_the_lowest(
    given: tuple[object, ...], score: int, whole: tuple[int, ...]
) -> None:
    probabilities = ScoreProbabilities.model_validate(percent(*given))
    assert probabilities.percent == whole
    reply = NoveltyReply(justification="Why.", probabilities=probabilities)
    assert reply.score == score


@pytest.mark.parametrize(
    "given", [(10, 20, 30, 20, 10), (100, 100, 0, 0, 0), (-5, 45, 40, 20, 0), ("high", 0, 0, 0, 0)]
)
def test_probabilities_that_are_none_make_the_reply_malformed(given: tuple[object, ...]) -> None:
    with pytest.raises(ValidationError):
        ScoreProbabilities.model_validate(percent(*given))


def labelled_file(path: Path, count: int = 40) -> str:
    rows = [
        {
            "idea": f"A recorder number {number} for the calls of bats in caves.",
            "score": 1 + number % 5,
            "reason": f"Because of {number}.",
        }
        for number in range(count)
    ]
    path.write_text("\n".join(map(json.dumps, [*rows, {"idea": "Not judged by anyone."}])))
    return str(path)


async def test_exemplars_are_the_nearest_of_every_label_and_never_of_the_ideas_fold(
    tmp_path: Path,
) -> None:
    path = labelled_file(tmp_path / "labelled.jsonl")
    parameters = NoveltyParameters(exemplars=path)
    findings, engine = await evaluated(parameters=parameters)
    _, question = engine.asked[-1]
    assert sorted(one.scores for one in question.exemplars) == [(1,), (2,), (3,), (4,), (5,)]
    assert fold_of(IDEA.text) not in {fold_of(one.idea) for one in question.exemplars}
    assert findings.evaluation.judgement.exemplar_count == 5
    prompt = JUDGE_NOVELTY.messages(question)[1]["content"]
    assert "Another idea, judged by experts: 5, highly novel. Their reason:" in prompt


async def test_an_idea_never_sees_its_own_label(tmp_path: Path) -> None:
    row = {"idea": IDEA.text, "novel": True}
    (tmp_path / "own.jsonl").write_text(json.dumps(row))
    parameters = NoveltyParameters(exemplars=str(tmp_path / "own.jsonl"))
    findings, engine = await evaluated(parameters=parameters)
    assert engine.asked[-1][1].exemplars == ()
    assert findings.evaluation.judgement.exemplar_count == 0


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "no entry has an idea with a label"),
        ('{"idea": "x", "score": 7}', "entry 1 has neither a `score` from 1 to 5 nor `novel`"),
        ('{"score": 3}', "entry 1 has no text under `idea`"),
        ("[1]", "entry 1 is no JSON object"),
        ("{", "neither JSON lines nor a JSON list"),
    ],
)
def test_a_file_that_holds_no_exemplars_is_refused_in_one_line(
    tmp_path: Path, content: str, complaint: str
) -> None:
    (tmp_path / "labelled.jsonl").write_text(content)
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        read_exemplars(tmp_path / "labelled.jsonl")
    assert "\n" not in str(caught.value)


def test_rinobenchs_own_files_are_exemplars_as_they_are(tmp_path: Path) -> None:
    row = {
        "research_idea": {"objective": "Record bats.", "problem_statement": "Nobody has."},
        "novelty_score": 2,
        "novelty_reasoning": "Known.",
    }
    (tmp_path / "train.json").write_text(json.dumps([row]))
    (found,) = read_exemplars(tmp_path / "train.json")
    assert found.idea == "## Problem\n\nNobody has.\n\n## Objective\n\nRecord bats."
    assert (found.label, found.reason) == ("2, marginally novel", "Known.")
