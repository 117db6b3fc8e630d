"""Steps that other models answer, and steps that several models judge."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.judging import AskingParameters, Effort, JudgingParameters, StepKind
from schemas.outcome import Scored, Unscored
from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.assessment.steps import AssessReply
from tasks.contribution.steps.compare_paper import ComparisonReply
from tasks.judging.findings_of_judges import first_of_each, join_findings
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.judging.panel import AssignedEngine, gives_scores, scores, with_scores
from tasks.manuscripts.steps.find_problems import (
    FIND_PROBLEMS,
    ProblemsInput,
    ProblemsReply,
    ReportedProblem,
)
from tasks.novelty.steps.judge_novelty import (
    JUDGE_NOVELTY,
    NoveltyInput,
    NoveltyReply,
    ScoreProbabilities,
    WorkShown,
)
from tests.support.evaluations import make_provenance
from tests.support.openai_server import OpenAIServer, Recorded

JUDGES = ("openai/one", "openai/two", "openai/three")


@pytest.fixture
def open_panel(open_engine: Any) -> Callable[..., Any]:
    """Engines of three judges on one server, and the ledger their votes go into."""

    async def opened(judging: JudgingParameters) -> tuple[AssignedEngine, Ledger]:
        ledger = Ledger(IdeaId("i1"))
        engines = {}
        for model in ("openai/default", *JUDGES):
            backend = (await open_engine(model=model, maximum_attempts=1)).backend
            engines[model] = LiteLLMEngine(backend, ledger, judging=judging)
        return AssignedEngine(engines["openai/default"], engines, judging, ledger), ledger

    return opened


def answers(server: OpenAIServer, by_judge: dict[str, Any]) -> None:
    """Let every judge give a score of its own, or misbehave as the text says."""

    def behaviour(request: Recorded) -> str:
        given = by_judge[request.body["model"]]
        if isinstance(given, str):
            return given
        return "text:" + json.dumps({"support": f"said by {request.body['model']}", "score": given})

    server.behaviour = behaviour


def judged(*judges: str) -> JudgingParameters:
    return JudgingParameters(reading=AskingParameters(effort=Effort.LOW, judges=judges))


async def test_the_median_of_several_judges_counts_and_every_vote_is_kept(
    server: OpenAIServer, open_panel: Any, step: Any, question: Any
) -> None:
    answers(server, {"one": 2, "two": 7, "three": 8})
    panel, ledger = await open_panel(judged(*JUDGES))
    outcome = await panel.run(step, question)
    assert isinstance(outcome, Scored), outcome
    assert (outcome.value.score, outcome.value.support) == (7, "said by two")
    assert outcome.provenance.model_requested == "openai/two"
    assert set(outcome.provenance.call_ids) == {call.call_id for call in ledger.llm_calls}
    assert [(vote.judge, vote.score) for vote in ledger.judge_votes] == [
        ("openai/one", 2.0),
        ("openai/two", 7.0),
        ("openai/three", 8.0),
    ]
    assert len({vote.question for vote in ledger.judge_votes}) == 1


async def test_a_judge_who_gives_no_score_is_left_out_and_said(
    server: OpenAIServer, open_panel: Any, step: Any, question: Any
) -> None:
    answers(server, {"one": "refusal", "two": 4, "three": 7})
    panel, ledger = await open_panel(judged(*JUDGES))
    outcome = await panel.run(step, question)
    assert isinstance(outcome, Scored)
    assert outcome.value.score == 5, "between 4 and 7, in whole numbers"
    refused = ledger.judge_votes[0]
    assert (refused.score, refused.unscored_reason) == (None, "refused")


async def test_with_fewer_than_half_of_the_judges_the_step_is_unscored(
    server: OpenAIServer, open_panel: Any, step: Any, question: Any
) -> None:
    answers(server, {"one": "refusal", "two": "refusal", "three": 7})
    panel, ledger = await open_panel(judged(*JUDGES))
    outcome = await panel.run(step, question)
    assert isinstance(outcome, Unscored)
    assert outcome.reason is Reason.REFUSED
    assert outcome.detail.startswith("2 of 3 judges gave no score")
    assert len(ledger.judge_votes) == 3


async def test_a_step_is_answered_by_the_model_assigned_to_it_or_to_its_kind(
    server: OpenAIServer, open_panel: Any, step: Any, question: Any
) -> None:
    by_kind = AskingParameters(effort=Effort.LOW, model="openai/one")
    own = {step.name: AskingParameters(model="openai/two")}
    for judging, answered in (
        (JudgingParameters(), "openai/default"),
        (JudgingParameters(judgement=by_kind), "openai/default"),
        (JudgingParameters(reading=by_kind), "openai/one"),
        (JudgingParameters(reading=by_kind, steps=own), "openai/two"),
    ):
        panel, _ = await open_panel(judging)
        assert step.kind is StepKind.READING
        outcome = await panel.run(step, question)
        assert outcome.provenance.model_requested == answered
        assert outcome.provenance.engine == f"litellm:{answered}"


def comparison(scored: dict[str, dict[str, int]]) -> ComparisonReply:
    papers = [
        {
            "key": key,
            "overall_comparison": "Both speak of the same.",
            "dimensions": [
                {"dimension": name, "comparison": "It differs.", "score": score}
                for name, score in dimensions.items()
            ],
        }
        for key, dimensions in scored.items()
    ]
    return ComparisonReply.model_validate({"papers": papers})


def test_scores_of_entries_are_known_by_paper_and_dimension() -> None:
    reply = comparison({"P1": {"d1": 1, "d2": -1}, "P2": {"d1": 0}})
    assert dict(scores(reply)) == {"P1/d1": 1.0, "P1/d2": -1.0, "P2/d1": 0.0}
    settled = with_scores(reply, {"P1/d1": -1.0, "P2/d1": 1.0})
    assert dict(scores(settled)) == {"P1/d1": -1.0, "P2/d1": 1.0}


def judged_as(score: int) -> Scored[NoveltyReply]:
    names = list(ScoreProbabilities.model_fields)
    percent = {name: 60 if place == score else 10 for place, name in enumerate(names, start=1)}
    reply = NoveltyReply(
        justification=f"It is a {score}.",
        probabilities=ScoreProbabilities.model_validate(percent),
    )
    return Scored(reply, make_provenance("judge_novelty"))


@pytest.mark.parametrize(
    ("given", "settled"), [((2, 5, 4), 4), ((3, 5), 3), ((4, 4), 4), ((5, 1, 1), 1)]
)
def test_where_scores_follow_from_probabilities_one_judges_reply_holds_whole(
    given: tuple[int, ...], settled: int
) -> None:
    ledger = Ledger(IdeaId("i1"))
    engine: Any = None
    panel = AssignedEngine(engine, {}, JudgingParameters(), ledger)
    judges = [f"openai/{place}" for place in range(len(given))]
    question = NoveltyInput(
        idea="An idea.",
        works=(WorkShown(key="P1", title="A", year=None, abstract="B."),),
        unanswered_searches=0,
    )
    outcome = panel._settle(JUDGE_NOVELTY, question, judges, [judged_as(one) for one in given])
    assert isinstance(outcome, Scored)
    assert outcome.value.score == settled
    assert outcome.value.justification == f"It is a {settled}."
    assert [vote.score for vote in ledger.judge_votes] == list(given)
    assert gives_scores(NoveltyReply)


def found(*problems: tuple[str, str]) -> Scored[ProblemsReply]:
    entries = [
        ReportedProblem(problem=problem, location="page 1", quote=quote, explanation="So it is.")
        for problem, quote in problems
    ]
    return Scored(ProblemsReply(problems=entries), make_provenance("find_problems"))


ARITHMETIC = ("The percentage of 12 of 40 is wrong.", "12 of 40 (25 %) recovered.")
SAME_ARITHMETIC = ("12 of 40 is a wrong percentage of patients.", "12 of 40 (25 %) recovered.")
CONTROL = ("The study has no control group.", "We treated all patients.")
SAMPLE = ("The sample size is too small.", "We had 40 patients.")
MANUSCRIPT = ProblemsInput(title="T", form="text", text="x", attached=False, maximum_problems=2)


def settle(*outcomes: Any) -> tuple[Any, Ledger]:
    ledger, engine = Ledger(IdeaId("i1")), cast(Any, None)
    panel = AssignedEngine(engine, {}, JudgingParameters(), ledger)
    return panel._settle(FIND_PROBLEMS, MANUSCRIPT, JUDGES[: len(outcomes)], outcomes), ledger


def test_findings_of_judges_are_joined_with_who_raised_them() -> None:
    outcome, ledger = settle(found(ARITHMETIC, CONTROL), found(SAMPLE, SAME_ARITHMETIC))
    one, two, _ = JUDGES
    assert [(each.problem, each.found_by) for each in outcome.value.problems] == [
        (ARITHMETIC[0], (one, two)),
        (SAMPLE[0], (two,)),
        (CONTROL[0], (one,)),
    ]
    assert outcome.value.answered_by == (one, two)
    assert [(vote.judge, vote.item, vote.score) for vote in ledger.judge_votes] == [
        (one, "finding 1", 1.0),
        (one, "finding 2", 0.0),
        (one, "finding 3", 1.0),
        (two, "finding 1", 1.0),
        (two, "finding 2", 1.0),
        (two, "finding 3", 0.0),
    ]
    limited = first_of_each(outcome.value.problems, 1)
    assert [each.problem for each in limited] == [ARITHMETIC[0], SAMPLE[0]]


def test_one_judge_without_a_reply_leaves_the_findings_of_the_others() -> None:
    refused = Unscored(Reason.REFUSED, "no", make_provenance("find_problems"))
    outcome, ledger = settle(refused, found(CONTROL))
    assert [each.found_by for each in outcome.value.problems] == [(JUDGES[1],)]
    assert [(vote.judge, vote.unscored_reason) for vote in ledger.judge_votes] == [
        (JUDGES[0], Reason.REFUSED),
        (JUDGES[1], None),
    ]
    outcome, _ = settle(refused, refused)
    assert isinstance(outcome, Unscored)
    assert outcome.detail.startswith("2 of 2 judges did not answer")


@given(st.lists(st.lists(st.sampled_from([ARITHMETIC, CONTROL, SAMPLE]), max_size=3), min_size=1))
def test_joining_loses_no_finding(lists: list[list[tuple[str, str]]]) -> None:
    replies = [(f"m{place}", found(*each).value) for place, each in enumerate(lists)]
    joined = join_findings(replies)
    assert sum(len(each.found_by) for each in joined.problems) == sum(map(len, lists))
    for model, reply in replies:
        texts = {each.problem for each in joined.problems if model in each.found_by}
        assert texts == {each.problem for each in reply.problems}


def test_a_score_that_a_judge_calls_unknown_is_no_vote_and_stays_unknown() -> None:
    criteria = [
        {"criterion": "new", "reasons": ["No work is shown."], "score": None},
        {"criterion": "overall", "reasons": ["The test decides."], "score": 60},
    ]
    reply = AssessReply.model_validate({"venue": "A venue.", "criteria": criteria})
    assert dict(scores(reply)) == {"overall": 60.0}
    settled = with_scores(reply, {"new": 30.0, "overall": 55.0})
    assert [each.score for each in settled.criteria] == [None, 55]


@pytest.fixture
def profile_file(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    from importlib import resources

    shipped = resources.files("flows.profiles").joinpath("economy.toml").read_text("utf-8")

    def written(addition: str) -> str:
        path = tmp_path / "profile.toml"
        path.write_text(f"{shipped}\n{addition}\n", "utf-8")
        return str(path)

    yield written


@pytest.mark.parametrize(
    ("addition", "complaint"),
    [
        ('[judging.steps.nonsense]\nmodel = "openai/gpt-5"', "no step 'nonsense'"),
        (
            '[judging.steps.contribution_review]\njudges = ["openai/a", "openai/b"]',
            "gives no score and no findings",
        ),
        ('[judging.steps.judge_novelty]\nmodel = "openai/gpt-5"', "--engine litellm:"),
        ('[judging.steps.judge_novelty]\njudges = ["openai/a"]', "judging.steps.judge_novelty"),
        ('[judging.steps.judge_novelty]\nmodel = "a/b"\njudges = ["a/c", "a/d"]', "not both"),
        ('[judging.steps.judge_novelty]\neffort = "most"', "effort"),
    ],
)
def test_a_profile_that_assigns_what_cannot_be_is_refused_in_one_line(
    profile_file: Callable[[str], str], addition: str, complaint: str
) -> None:
    from flows.profiles import load_profile
    from flows.works.evaluate.request import check_judging

    with pytest.raises(ConfigurationError, match=complaint) as caught:
        check_judging(load_profile(profile_file(addition)), EngineChoice.parse("extractive"))
    assert "\n" not in str(caught.value)
