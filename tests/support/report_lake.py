"""A small published lake with everything a report must cope with."""

import shutil
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from schemas.base import replace
from schemas.failure import Failure
from schemas.idea import RejectedIdea
from schemas.identifiers import IdeaId, RunId
from schemas.reasons import Reason
from tests.support.evaluations import make_evaluation, make_idea, make_run
from warehouse.kinds.runs.landing import RUNS, land, land_rejections
from warehouse.units.later_validation import validate_published
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")
HOSTILE = IdeaId("../../etc/passwd\n<b>")
UNSCORED = IdeaId("nothing-scored")
HOSTILE_TEXT = (
    "# Not a heading | <script>alert(1)</script> [click](javascript:alert(1)) `tick`"
    " ![i](http://x.example/i.png) **bold** &lt;img src=x onerror=alert(1)&gt; ](ideas/x.html)"
    " <https://y.example> https://z.example\n---\n| a | b |\n|---|---|\n```chart\n```\n[ref]:"
    " javascript:alert(2)\n<svg onload=alert(3)>"
)


def hostile_evaluation():
    """Every free text holds an attack; the structure around it is that of a sound evaluation."""
    idea = replace(make_idea(1), idea_id=HOSTILE, title=HOSTILE_TEXT, group="<i>|# g")
    evaluation = make_evaluation(1, idea=idea)
    soundness, contribution = evaluation.soundness, evaluation.contribution
    papers = tuple(
        replace(
            p,
            title=HOSTILE_TEXT,
            authors=("Mallory <script>",),
            venue="|*x*|",
            url="javascript:alert(4)",
        )
        for p in evaluation.papers
    )
    return replace(
        evaluation,
        papers=papers,
        soundness=replace(
            soundness,
            methods=tuple(replace(method, text=HOSTILE_TEXT) for method in soundness.methods),
            evidence=tuple(
                replace(entry, method=HOSTILE_TEXT, results=HOSTILE_TEXT, context=HOSTILE_TEXT)
                for entry in soundness.evidence
            ),
            reviews=tuple(
                (
                    review
                    if review.unscored_reason
                    else replace(review, support=HOSTILE_TEXT, suggestions=HOSTILE_TEXT)
                )
                for review in soundness.reviews
            ),
            elements=tuple(replace(element, text=HOSTILE_TEXT) for element in soundness.elements),
            concerns=tuple(
                replace(
                    concern,
                    point=HOSTILE_TEXT,
                    quote=HOSTILE_TEXT if concern.quote else "",
                    omission=HOSTILE_TEXT if concern.omission else "",
                    why=HOSTILE_TEXT,
                    would_change=HOSTILE_TEXT,
                    action=HOSTILE_TEXT,
                    supported=HOSTILE_TEXT,
                    weakened=HOSTILE_TEXT,
                )
                for concern in soundness.concerns
            ),
            summary=replace(
                soundness.summary, strengths=(HOSTILE_TEXT,), weaknesses=(HOSTILE_TEXT,)
            ),
        ),
        contribution=replace(
            contribution,
            dimensions=tuple(
                replace(entry, name=HOSTILE_TEXT, statements=(HOSTILE_TEXT,))
                for entry in contribution.dimensions
            ),
            comparisons=tuple(
                replace(
                    entry,
                    dimension=HOSTILE_TEXT,
                    overall_comparison=HOSTILE_TEXT,
                    remains=HOSTILE_TEXT,
                    quote=HOSTILE_TEXT,
                )
                for entry in contribution.comparisons
            ),
            reviews=tuple(
                replace(entry, dimension=HOSTILE_TEXT, strengths=HOSTILE_TEXT)
                for entry in contribution.reviews
            ),
        ),
        failures=(
            Failure(
                stage="literature", subject=HOSTILE_TEXT, reason=Reason.TIMEOUT, detail=HOSTILE_TEXT
            ),
        ),
    )


def unscored_evaluation():
    """Nothing could be judged: the source was away and the budget spent."""
    evaluation = make_evaluation(
        2,
        idea=replace(
            make_idea(2),
            idea_id=UNSCORED,
            title="Nothing scored",
            group=None,
            cutoff_date=date(2025, 6, 30),
        ),
    )
    reason = Reason.BUDGET_EXHAUSTED
    soundness = replace(
        evaluation.soundness,
        evidence=tuple(
            replace(entry, relevant=None, method="", results="", context="", unscored_reason=reason)
            for entry in evaluation.soundness.evidence
        ),
        reviews=tuple(
            replace(
                review,
                score_0_to_10=None,
                confidence_0_to_3=None,
                support="",
                contradictions="",
                suggestions="",
                evidence_count=0,
                unscored_reason=reason,
            )
            for review in evaluation.soundness.reviews
        ),
        concerns=(),
        plan_review=replace(
            evaluation.soundness.plan_review,
            concern_count=None,
            dropped_point_count=0,
            unscored_reason=reason,
        ),
        summary=None,
    )
    contribution = replace(
        evaluation.contribution,
        comparisons=tuple(
            replace(entry, score=None, comparison="", unscored_reason=Reason.REPLY_UNPARSABLE)
            for entry in evaluation.contribution.comparisons
        ),
        reviews=tuple(
            replace(
                review,
                strengths="",
                weaknesses="",
                suggestions="",
                mean_comparison_score=None,
                novelty_0_to_10=None,
                novelty_lower_0_to_10=None,
                novelty_upper_0_to_10=None,
                confidence_0_to_3=None,
                scored_comparison_count=0,
                unscored_comparison_count=review.scored_comparison_count,
                unscored_reason=reason,
            )
            for review in evaluation.contribution.reviews
        ),
    )
    calls = tuple(replace(call, cost_usd=None) for call in evaluation.llm_calls)
    return replace(
        evaluation,
        soundness=soundness,
        contribution=contribution,
        suggestions=(),
        llm_calls=calls,
    )


def publish_report_lake(root: Path) -> Warehouse:
    """Ideas: sound ones, one that attacks, one without any score, one without contribution, made by
    the extractive engine.
    """
    made = Path(_published().name) / "warehouse"
    return Warehouse(shutil.copytree(made, root, dirs_exist_ok=True))


def publish_validated_report_lake(root: Path) -> Warehouse:
    """The same, validated by Great Expectations."""
    warehouse = publish_report_lake(root)
    assert validate_published(warehouse, [RUNS]).validated == 1
    return warehouse


@cache
def _published() -> TemporaryDirectory[str]:
    """Made once a process, which removes it as it ends."""
    folder = TemporaryDirectory(prefix="assay-report-lake-")
    warehouse = Warehouse(Path(folder.name) / "warehouse")
    land(warehouse, replace(make_evaluation(0), engine="extractive"))
    land(warehouse, make_evaluation(3))
    land(warehouse, hostile_evaluation())
    land(warehouse, unscored_evaluation(), incomplete_reason=Reason.BUDGET_EXHAUSTED)
    land(warehouse, replace(make_evaluation(4), contribution=None, llm_calls=()))
    rejected = RejectedIdea(
        idea_id=None,
        location="ideas.jsonl line 7",
        reason=Reason.TOO_SHORT,
        detail="<b>3 words</b> | write at least 20",
    )
    land_rejections(warehouse, RUN, [rejected])
    report = publish(
        warehouse, RUNS, make_run(ideas=5, rejected_count=1, evaluated_count=4, failed_count=1)
    )
    assert report.published, report.validation.broken
    return folder
