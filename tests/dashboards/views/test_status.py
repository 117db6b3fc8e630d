"""The status of a run and why judgements are missing, alike wherever they are stated."""

import pytest

from dashboards.render.formats.markdown import markdown
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.idea.plan_blocks import first_blocks
from dashboards.views.nightly_page import night_run
from dashboards.views.write_nightly import write_nightly
from dashboards.views.write_run import run_page, write_reports
from schemas.base import replace
from schemas.calls import CallStatus
from schemas.failure import Failure
from schemas.identifiers import RunId
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import PlanReview, SoundnessSummary
from schemas.reasons import Reason
from schemas.run import Run
from tests.support.evaluations import START, make_evaluation, make_provenance, make_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

UNREAD, QUOTA = RunId("run-unread"), RunId("run-quota")
IDEAS = 5
TOLD = "Rate limit reached for requests: quota exceeded"


def without_plan_review(evaluation: IdeaEvaluation, reason: Reason, detail: str) -> IdeaEvaluation:
    """The evaluation after every call about its plan failed."""
    assert evaluation.soundness is not None
    review = PlanReview(
        unscored_reason=reason, unscored_detail=detail, provenance=make_provenance("plan_review")
    )
    failure = Failure(stage="soundness", subject="plan", reason=reason, detail=detail)
    soundness = replace(evaluation.soundness, concerns=(), plan_review=review, failures=(failure,))
    return replace(evaluation, soundness=soundness, suggestions=())


def without_any_answer(evaluation: IdeaEvaluation) -> IdeaEvaluation:
    """The evaluation of an idea all of whose calls met the provider's limit."""
    reason = Reason.ENGINE_UNAVAILABLE
    bare = without_plan_review(evaluation, reason, TOLD)
    assert bare.soundness is not None
    assert bare.contribution is not None
    summary = SoundnessSummary(unscored_reason=reason, provenance=make_provenance("summary"))
    failed = Failure(
        stage="contribution", subject="dimensions", reason=reason, detail=f"3 calls: {TOLD}."
    )
    limited = tuple(
        replace(call, status=CallStatus.RATE_LIMITED, error=TOLD) for call in bare.llm_calls
    )
    empty = dict.fromkeys(
        (
            "methods",
            "passages",
            "sections",
            "evidence",
            "reviews",
            "elements",
        ),
        (),
    )
    return replace(
        bare,
        soundness=replace(bare.soundness, summary=summary, **empty),
        contribution=replace(
            bare.contribution,
            dimensions=(),
            candidates=(),
            comparisons=(),
            reviews=(),
            failures=(failed,),
        ),
        citations=(),
        resources=(),
        llm_calls=limited,
    )


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A lake with a night of unreadable plan reviews, and one that met the provider's limit."""
    warehouse = Warehouse(tmp_path_factory.mktemp("status"))
    unread = "the reply holds no JSON object"
    for run_id in (UNREAD, QUOTA):
        receipts = []
        for number in range(IDEAS):
            whole = make_evaluation(number, run_id=run_id)
            if run_id == QUOTA:
                whole = without_any_answer(whole)
            elif number:
                whole = without_plan_review(whole, Reason.REPLY_UNPARSABLE, unread)
            receipts.append(land(warehouse, whole))
        concluded = make_run(run_id, ideas=IDEAS, started_at=START).concluded(receipts)
        report = publish(warehouse, RUNS, concluded)
        assert report.published, report.validation.broken
    return warehouse


def run_of(warehouse: Warehouse, run_id: RunId) -> Run:
    with warehouse.queries() as queries:
        return queries.run(run_id)


def test_a_step_that_failed_for_most_ideas_is_told_although_other_judgements_outnumber_it(
    warehouse: Warehouse,
) -> None:
    run = run_of(warehouse, UNREAD)
    why = (
        "plan reviews missing for 4 of 5 ideas: the engine's reply could not be read (4, most"
        " often: the reply holds no JSON object)"
    )
    assert (run.in_order, run.order_reasons, run.in_a_word()) == (False, (why,), "not_in_order")
    with warehouse.queries() as queries:
        night = night_run(queries, UNREAD)
        assert night.alarms == ()
    assert run_page(warehouse, UNREAD).alarms == ()
    assert night.status == f"Not in order: {why}."


@pytest.mark.parametrize("run_id", [UNREAD, QUOTA])
def test_report_summary_and_record_state_the_same(warehouse: Warehouse, run_id: RunId) -> None:
    status = f"**{run_of(warehouse, run_id).order_in_words}**"
    assert status.startswith("**Not in order: ")
    summary = write_nightly(warehouse, START, {"ideas.jsonl": "published"}, [run_id])
    assert status in summary.markdown
    _, report = write_reports(warehouse, run_id)
    assert status in report.read_text("utf-8")


def test_an_exhausted_quota_is_named_in_the_words_of_the_provider(warehouse: Warehouse) -> None:
    assert run_of(warehouse, QUOTA).order_reasons == (
        f"5 of 5 ideas without any score: the engine did not answer (5, most often: {TOLD})",
    )


def test_a_page_of_an_idea_does_not_claim_comparisons_that_were_never_made(
    warehouse: Warehouse,
) -> None:
    with warehouse.queries() as queries:
        unanswered, judged = (
            idea_page(queries.idea_review(run_id, make_evaluation(1).idea.idea_id))
            for run_id in (QUOTA, UNREAD)
        )
    cause = f"the engine did not answer ({TOLD})"
    page = markdown(first_blocks(unanswered.first))
    assert f"Nothing was compared: {cause}." in page
    assert f"Nothing was judged: {cause}." in page
    assert "overlaps with what the idea claims" not in page
    assert "Nothing was judged" not in markdown(first_blocks(judged.first))
