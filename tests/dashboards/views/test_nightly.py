"""The summary of a night: what is new, what leads, what alarms,
what it cost beside the last run.
"""

import shutil
from datetime import UTC, datetime, timedelta

import polars
import pytest

from dashboards.views.alarms import cost_alarms, judge_alarms, unscored_alarms
from dashboards.views.nightly_page import night_figures
from dashboards.views.write_nightly import write_nightly
from schemas.base import replace
from schemas.calls import CallStatus
from schemas.failure import Failure
from schemas.identifiers import RunId
from schemas.reasons import Reason
from tests.support.evaluations import (
    START,
    make_api_call,
    make_evaluation,
    make_idea,
    make_llm_call,
    make_run,
)
from tests.support.reports import Page
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.row_models import RunCost
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

NIGHT = datetime(2026, 3, 3, 1, 40, 5, tzinfo=UTC)
FIRST, SECOND = RunId("run-a"), RunId("run-b")
HOSTILE = "<script>alert(1)</script> | [x](javascript:alert(1))"


def all_alike_and_dear(number):
    """An evaluation whose comparisons all have one score and whose calls cost tenfold."""
    idea = make_idea(number, title=HOSTILE if number == 3 else f"Idea {number}")
    evaluation = make_evaluation(number, run_id="run-b", idea=idea)

    def alike(nouns, **fields):
        (name,) = fields
        return tuple(
            each if getattr(each, name) is None else replace(each, **fields) for each in nouns
        )

    contribution = replace(
        evaluation.contribution,
        comparisons=alike(evaluation.contribution.comparisons, score=1),
        reviews=alike(evaluation.contribution.reviews, mean_comparison_score=1.0),
    )
    calls = tuple(
        replace(call, cost_usd=None if call.cost_usd is None else 10 * call.cost_usd)
        for call in evaluation.llm_calls
    )
    return replace(evaluation, llm_calls=calls, contribution=contribution)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    warehouse = Warehouse(tmp_path_factory.mktemp("nights"))
    for number in (0, 1):
        land(warehouse, make_evaluation(number))
    publish(warehouse, RUNS, make_run(ideas=2))
    for number in (1, 2, 3):
        land(warehouse, all_alike_and_dear(number))
    start = START + timedelta(days=1)
    times = {"started_at": start, "finished_at": start + timedelta(hours=1)}
    report = publish(warehouse, RUNS, make_run("run-b", ideas=3, **times))
    assert report.published, report.validation.broken
    return warehouse


@pytest.fixture(scope="module")
def summary(warehouse):
    return write_nightly(
        warehouse,
        NIGHT,
        {"tonight.jsonl": "published as run-b: 3 of 3 ideas", "<b>.csv": "rejected: | no"},
        [SECOND],
    )


def test_it_says_what_is_new_since_the_last_run(summary):
    assert "2 files, 1 published run" in summary.markdown
    assert "3 ideas: 2 never seen before, 3 evaluated in this run. Engine" in summary.markdown
    assert "| | This run | Run run-a |" in summary.markdown


def test_it_prints_the_hash_of_the_ledgers_last_row_also_on_a_night_without_runs(
    summary, warehouse, tmp_path
):
    with warehouse.queries() as queries:
        head = queries.ledger_head()
    copy = Warehouse(shutil.copytree(warehouse.root, tmp_path / "copy"))
    assert head.sequence > 0
    assert head.entry_sha256 in summary.markdown
    assert head.entry_sha256 in write_nightly(copy, NIGHT, {}, []).markdown


def test_it_names_alarms_and_counts_them(summary):
    alarms = summary.markdown.split("### Alarms")[1].split("###")[0]
    assert "Label collapse: 100 % of" in alarms
    assert "Dearer: " in alarms
    assert summary.alarm_count == alarms.count("\n- ") >= 2


def test_a_source_that_answered_nothing_alarms_with_its_cause(tmp_path):
    evaluation = make_evaluation(1)
    cause = "the connection failed: the proxy refused it"
    refused = tuple(
        make_api_call(
            evaluation.idea.idea_id,
            number,
            call_id=f"pdf-{number}",
            source="download",
            endpoint=f"https://papers.example.org/{number}.pdf",
            status=None,
            failure_reason=Reason.UNREACHABLE,
            cache_hit=False,
        )
        for number in range(3)
    )
    failures = tuple(
        Failure(
            stage="documents",
            subject=call.endpoint,
            reason=Reason.UNREACHABLE,
            detail=f"download {call.endpoint}: {cause}",
        )
        for call in refused
    )
    calls = (*evaluation.api_calls, *refused)
    warehouse = Warehouse(tmp_path)
    land(warehouse, replace(evaluation, api_calls=calls, failures=failures))
    publish(warehouse, RUNS, make_run(ideas=1))
    with warehouse.queries() as queries:
        (night,) = night_figures(queries, [FIRST])
    sentences = [alarm.sentence for alarm in night.alarms if "Not answered" in alarm.sentence]
    assert sentences == [f"Not answered: none of 3 requests to download ({cause})."]


def test_the_files_link_to_the_run_and_titles_stay_text(summary, warehouse):
    page = Page(summary.html_path.read_text())
    assert "../run-b/index.html" in page.addresses
    assert not page.elements & {"script", "b"}
    assert all(not address.startswith("javascript") for address in page.addresses)
    assert "](../run-b/index.md)" in summary.markdown_path.read_text()
    assert "](../" not in summary.markdown
    assert sorted(path.name for path in summary.html_path.parent.iterdir()) == [
        "2026-03-03.html",
        "2026-03-03.md",
        "2026-03-03T014005Z.html",
        "2026-03-03T014005Z.md",
    ]


def test_a_second_night_of_one_day_leaves_the_first_ones_summary(tmp_path):
    outcomes = {"a.csv": "rejected: no idea"}
    first = write_nightly(Warehouse(tmp_path), NIGHT, outcomes, [])
    before = first.markdown_path.read_text()
    second = write_nightly(Warehouse(tmp_path), NIGHT + timedelta(hours=3), {}, [])
    assert first.markdown_path.read_text() == before
    assert "No new file was waiting" in second.markdown_path.read_text()
    page = Page((tmp_path / "reports/nightly/2026-03-03.html").read_text())
    assert {first.html_path.name, second.html_path.name} <= set(page.addresses)
    day = (tmp_path / "reports/nightly/2026-03-03.md").read_text()
    assert "1 file, 0 published runs" in day


def test_what_is_no_summary_of_the_day_is_passed_over(tmp_path):
    folder, other = tmp_path / "reports/nightly", tmp_path / "other.txt"
    other.write_text("# Other\n\na secret of this machine\n")
    folder.mkdir(parents=True)
    (folder / "2026-03-03T010203Z.md").symlink_to(other)
    (folder / "2026-03-03T99Z.md").write_text(other.read_text())
    write_nightly(Warehouse(tmp_path), NIGHT, {}, [])
    day = (folder / "2026-03-03.md").read_text()
    assert "01:40:05" in day
    assert "secret" not in day


def test_few_judgements_and_unknown_prices_raise_no_alarm():
    few = {"judgement": "decision", "label": "accept", "judgements": 19, "share": 1.0}
    matches = {"ranking_id": "r", "group": "g", "match_count": 25, "unscored_match_count": 6,
               "position_bias": 0.9, "order_agreement_0_to_1": 0.1}  # fmt: skip
    labels, groups = polars.DataFrame([few]), polars.DataFrame([matches])
    assert judge_alarms(make_run(), labels, groups) == []
    judged = polars.DataFrame(
        {"judgement": "comparisons", "reason": [None, "no_evidence"], "judgements": [90, 10]},
        schema_overrides={"reason": polars.String},
    )
    assert unscored_alarms(judged, None) == []
    worse = judged.with_columns(judgements=polars.Series([70, 30]))
    assert len(unscored_alarms(worse, judged)) == 1
    unknown = {"run_id": FIRST, "cost_usd": None, "cost_usd_per_idea": None}
    fields = dict.fromkeys(RunCost.model_fields, 0) | unknown
    assert cost_alarms(RunCost.model_validate(fields, strict=False), None) == []


UNANSWERED = "Unanswered: citation checks, 4 of 4 questions; most often: the engine's reply could not be read."


def _checks(idea_id, answered, failed):
    """Calls of `verify_citations`: each failed question has two attempts."""
    first = make_llm_call(idea_id, 0, step="verify_citations")
    ends = [(CallStatus.OK, 1)] * answered + [
        (CallStatus.UNPARSABLE, attempt) for _ in range(failed) for attempt in (1, 2)
    ]
    return [
        replace(first, call_id=f"check-{place}", status=status, attempt=attempt)
        for place, (status, attempt) in enumerate(ends)
    ]


@pytest.mark.parametrize(
    ("answered", "failed", "status", "alarms"),
    [
        (0, 4, "In order, with 1 alarm.", [UNANSWERED]),
        (3, 1, "In order, with 1 alarm.", None),
        pytest.param(4, 1, "In order.", [], marks=pytest.mark.long),
    ],
)
def test_a_step_without_judgements_raises_one_alarm_if_too_few_of_its_replies_can_be_used(
    tmp_path, answered, failed, status, alarms
):
    warehouse = Warehouse(tmp_path)
    evaluation = make_evaluation(0, methods=1)
    calls = (*evaluation.llm_calls, *_checks(evaluation.idea.idea_id, answered, failed))
    land(warehouse, replace(evaluation, llm_calls=calls))
    assert publish(warehouse, RUNS, make_run(ideas=1)).published
    with warehouse.queries() as queries:
        (night,) = night_figures(queries, [FIRST])
    told = [alarm.sentence for alarm in night.alarms]
    assert night.status == status
    assert told == alarms if alarms is not None else "1 of 4 questions" in told[0]


def test_a_kind_of_judgement_that_keeps_a_run_from_being_in_order_is_no_alarm_too():
    judged = polars.DataFrame(
        {"judgement": ["plan_reviews"], "reason": ["reply_unparsable"], "judgements": [4]}
    )
    whole, kind = unscored_alarms(judged, None)
    assert kind.startswith("Unanswered: plan reviews, 4 of 4")
    missing = ["plan reviews missing for 4 of 4 ideas: the engine's reply could not be read (4)"]
    assert unscored_alarms(judged, None, order_reasons=missing) == [whole]
