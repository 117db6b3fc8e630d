"""A check of two manuscripts in a lake: one with a problem, one that could not be read."""

from schemas.base import replace
from schemas.identifiers import RunId
from schemas.reasons import Reason
from schemas.works.check_run import CHECKS, CheckHead
from schemas.works.manuscripts import Attempt, ManuscriptCheck, ManuscriptForm, Problem
from tests.support.lakes import made, publish_units
from tests.support.report_lake import HOSTILE_TEXT
from warehouse.units.kind import kind_of
from warehouse.warehouse import Warehouse

CHECK = RunId("check-a")


def publish_check_lake(
    warehouse: Warehouse, run_id: RunId = CHECK, explanation: str = "It divides by zero."
) -> None:
    common = {"form": ManuscriptForm.TEXT, "word_count": 100, "failures": ()}
    wrong = ManuscriptCheck(
        manuscript_id="wrong",
        title="A proof",
        content_sha256="ab" * 32,
        attempts=(Attempt(attempt=1, problem_count=1),),
        problems=(
            Problem(
                problem_id="a1p1",
                attempt=1,
                rank=1,
                problem=HOSTILE_TEXT,
                location="Lemma 2",
                explanation=explanation,
                location_found=False,
            ),
        ),
        **common,
    )
    unread = ManuscriptCheck(
        manuscript_id="unread",
        title="A scan",
        content_sha256="cd" * 32,
        unread_reason=Reason.NO_TEXT,
        attempts=(Attempt(attempt=1, problem_count=None, unscored_reason=Reason.NOTHING_TO_JUDGE),),
        problems=(),
        **common,
    )
    publish_units(warehouse, kind_of(CHECKS), replace(check_head(), run_id=run_id), wrong, unread)


def check_head() -> CheckHead:
    """Of the check `CHECK`, of two manuscripts."""
    told = {"engine": "litellm:small", "judges": (), "form": "auto", "maximum_problems": 5}
    return made(CheckHead, run_id=CHECK, manuscript_count=2, **told)
