"""Where several models took part, reports say who answered, what was dropped and how far judges
agree.
"""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from dashboards.views.idea.judges_part import judged_steps, score_of_judges
from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.reasons import Reason
from tests.support import reports
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.evaluations import (
    JUDGES,
    make_judge_votes,
    make_llm_call,
    make_provenance,
    make_run,
)
from tests.support.report_lake import HOSTILE_TEXT
from tests.support.reports import Page
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

idea_report = cache(reports.idea_report)  # several tests read the same page
run_report = cache(reports.run_report)  # several tests read the same page

RUN = RunId("run-a")
IDEA = IdeaId("idea-00000")
REFUSED = Reason.REFUSED


def by_two_models() -> IdeaEvaluation:
    """Four calls to a model that thinks and drops, two to one that tells nothing of its thinking."""
    step = {"step": "judge_novelty", "model_requested": "openai/gpt-5"}
    thinks = {**step, "model_answered": "gpt-5-2026-01"}
    drops = {**thinks, "parameters_dropped": "seed, temperature", "thinking_tokens": 100}
    quiet = {"step": "extract_methods", "model_requested": "mistral/small"}
    calls = (
        *(make_llm_call(IDEA, number, **drops) for number in range(3)),
        make_llm_call(IDEA, 3, cache_hit=True, completion_tokens=0, **thinks),
        *(make_llm_call(IDEA, number, **quiet) for number in (4, 5)),
    )
    return replace(make_full_evaluation(0), llm_calls=calls)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    warehouse = Warehouse(tmp_path_factory.mktemp("judges"))
    land(warehouse, by_two_models())
    run = make_run("run-a", modules="soundness,contribution,committee,novelty")
    assert publish(warehouse, RUNS, run).published
    yield warehouse


def test_the_report_on_a_run_says_who_answered_what_was_dropped_and_how_far_judges_agree(
    lake: Warehouse,
) -> None:
    report = run_report(lake, RUN, "md")
    assert "| judge novelty | openai/gpt-5 | gpt-5-2026-01 | 4 |" in report
    assert "| extract methods | mistral/small | small-2026-01 | 2 |" in report
    assert "- openai/gpt-5 does not take seed: dropped in 3 of 3 calls\n" in report
    assert "- openai/gpt-5 does not take temperature: dropped in 3 of 3 calls\n" in report
    assert "| judge novelty | 1 | 3 | 3 | 0 | 1 | 0 % | 1.333 | undefined |" in report
    assert re.search(
        r"^\| soundness review \| 2 \| 4 \| 8 \| 2 \| 2 \| 0 % \|", report, re.MULTILINE
    )
    assert re.search(
        r"^\| comparison \| 5 \| 2 \| 20 \| 0 \| 10 \| 100 % \| 0 \| 1 \|$", report, re.MULTILINE
    )


def test_thinking_is_on_the_bill_and_calls_that_do_not_tell_are_counted(lake: Warehouse) -> None:
    report = run_report(lake, RUN, "md")
    assert "1,500 received; of them thinking: 300, and 2 calls that do not tell |" in report
    assert "| judge novelty | openai/gpt-5 | 4 | 1 | 0 | 4,800 | 900 | 300 |" in report
    assert "| extract methods | mistral/small | 2 | 0 | 0 | 2,400 | 600 | not told |" in report
    assert "received; of them thinking: 300, and 2 calls that do not tell |" in idea_report(
        lake, RUN, IDEA, "md", full=True
    )


def test_the_review_of_an_idea_says_where_a_score_is_the_median_of_several_judges(
    lake: Warehouse,
) -> None:
    report = idea_report(lake, RUN, IDEA, "md", full=True)
    assert "Score: median of 3 judges: 3, 2, 4.\n" in report
    assert re.search(
        r"^Score: median of 3 judges: \d+, \d+, \d+; one unscored: the engine refused to answer\.$",
        report,
        re.MULTILINE,
    )
    assert "Each mark: median of 2 judges: the same score on 10 of 10 items." in report
    assert re.search(
        r"^\*\*clarity: \d+\.0 of 10 \(median of 2 judges: \d+, \d+; one unscored: .*\)\*\*$",
        report,
        re.MULTILINE,
    )
    assert (
        f"| judge novelty | {', '.join(JUDGES[:3])} | the same score on 0 of 1 item | 0 |" in report
    )
    assert re.search(
        r"^\| soundness review \| .* \| 2: the engine refused to answer \|$", report, re.MULTILINE
    )


def test_what_models_call_themselves_and_their_items_stays_text(lake: Warehouse) -> None:
    hostile = Warehouse(lake.root.parent / "hostile")
    evaluation = by_two_models()
    votes = [
        replace(vote, item=f"{HOSTILE_TEXT}{vote.item}", judge=f"{HOSTILE_TEXT}{vote.judge}")
        for vote in evaluation.judge_votes
    ]
    calls = [
        replace(call, model_answered=HOSTILE_TEXT, parameters_dropped=HOSTILE_TEXT)
        for call in evaluation.llm_calls
    ]
    land(hostile, replace(evaluation, judge_votes=tuple(votes), llm_calls=tuple(calls)))
    assert publish(
        hostile, RUNS, make_run("run-a", modules="soundness,contribution,committee,novelty")
    ).published
    for page in (
        Page(run_report(hostile, RUN, "html")),
        Page(idea_report(hostile, RUN, IDEA, "html", full=True)),
    ):
        assert not page.elements & {"script", "img", "i"}
        assert not any(name.startswith("on") for name in page.attributes)


def test_votes_for_another_judgement_or_another_item_do_not_count() -> None:
    first, second = make_provenance("persona_review", 1), make_provenance("persona_review", 2)
    votes = (
        *make_judge_votes(first, 6, 7, 4.5, REFUSED, item="Technical Quality"),
        *make_judge_votes(first, 1, 1, item="clarity"),
        *make_judge_votes(second, 9, 9, item="technical_quality"),
    )
    refused = "one unscored: the engine refused to answer"
    assert (
        score_of_judges(votes, first, "technical_quality")
        == f"median of 3 judges: 6, 7, 4.5; {refused}"
    )
    assert score_of_judges(votes, second, "technical_quality") == "median of 2 judges: 9, 9"
    assert score_of_judges(votes, make_provenance("judge_novelty")) == ""


def test_judges_who_all_gave_no_score_are_said_to() -> None:
    asked = make_provenance("judge_novelty")
    votes = make_judge_votes(asked, REFUSED, REFUSED, Reason.TIMED_OUT)
    said = "no judge gave a score; 3 unscored: the engine refused to answer, it took too long"
    assert score_of_judges(votes, asked) == said
    (step,) = judged_steps(votes)
    assert (step.agreement, step.unscored_count) == ("nothing was scored by two of them", 3)
