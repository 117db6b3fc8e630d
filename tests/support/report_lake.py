"""A small published lake with everything a report must cope with."""

import shutil
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from schemas.base import replace
from schemas.failure import LEFT_OUT, Failure
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


def _attacked(noun, fields: str):
    """Replace texts by the attack; those with a question mark only if there is one."""
    names = (
        name.removesuffix("?")
        for name in fields.split()
        if name[-1] != "?" or getattr(noun, name[:-1])
    )
    return replace(noun, **dict.fromkeys(names, HOSTILE_TEXT))


def _attacked_parts(module, **fields_of: str):
    return replace(
        module,
        **{
            name: tuple(_attacked(each, fields) for each in getattr(module, name))
            for name, fields in fields_of.items()
        },
    )


def hostile_evaluation():
    """Every free text holds an attack; the structure around it is that of a sound evaluation."""
    idea = replace(make_idea(1), idea_id=HOSTILE, title=HOSTILE_TEXT, group="<i>|# g")
    evaluation = make_evaluation(1, idea=idea)
    hostile = {"title": HOSTILE_TEXT, "authors": ("Mallory <script>",), "venue": "|*x*|",
               "url": "javascript:alert(4)"}  # fmt: skip
    soundness = _attacked_parts(
        evaluation.soundness,
        methods="text",
        evidence="method results context",
        reviews="support? suggestions?",
        elements="text",
        officer_answers="quote? paper_quote? calculation?",
        concerns="point quote? omission? why would_change action supported weakened",
    )
    summary = replace(soundness.summary, strengths=(HOSTILE_TEXT,), weaknesses=(HOSTILE_TEXT,))
    contribution = _attacked_parts(
        evaluation.contribution,
        dimensions="name",
        comparisons="dimension overall_comparison remains quote",
        reviews="dimension strengths",
    )
    dimensions = (replace(each, statements=(HOSTILE_TEXT,)) for each in contribution.dimensions)
    failure = Failure(
        stage="literature", subject=HOSTILE_TEXT, reason=Reason.TIMEOUT, detail=HOSTILE_TEXT
    )
    return replace(
        evaluation,
        papers=tuple(replace(paper, **hostile) for paper in evaluation.papers),
        soundness=replace(soundness, summary=summary),
        contribution=replace(contribution, dimensions=tuple(dimensions)),
        failures=(failure, replace(failure, stage=LEFT_OUT, reason=Reason.RETRACTED)),
    )


def _blank(nouns, reason: Reason, *texts: str, **values):
    """Replace judgements by none: empty texts, these values, and the reason."""
    empty = dict.fromkeys(texts, "")
    return tuple(replace(noun, unscored_reason=reason, **empty, **values) for noun in nouns)


def unscored_evaluation():
    """Nothing could be judged: the source was away and the budget spent."""
    idea = replace(
        make_idea(2),
        idea_id=UNSCORED,
        title="Nothing scored",
        group=None,
        cutoff_date=date(2025, 6, 30),
    )
    evaluation, reason = make_evaluation(2, idea=idea), Reason.BUDGET_EXHAUSTED
    soundness, contribution = evaluation.soundness, evaluation.contribution
    no_score = {"score_0_to_10": None, "confidence_0_to_3": None, "evidence_count": 0}
    (plan_review,) = _blank(
        [soundness.plan_review], reason, concern_count=None, dropped_point_count=0
    )
    soundness = replace(
        soundness,
        evidence=_blank(soundness.evidence, reason, "method", "results", "context", relevant=None),
        reviews=_blank(
            soundness.reviews, reason, "support", "contradictions", "suggestions", **no_score
        ),
        concerns=(),
        plan_review=plan_review,
        summary=None,
    )
    numbers = ("mean_comparison_score", "novelty_0_to_10", "novelty_lower_0_to_10",
               "novelty_upper_0_to_10", "confidence_0_to_3")  # fmt: skip
    reviews = (
        replace(
            each, scored_comparison_count=0, unscored_comparison_count=each.scored_comparison_count
        )
        for each in contribution.reviews
    )
    contribution = replace(
        contribution,
        comparisons=_blank(
            contribution.comparisons, Reason.REPLY_UNPARSABLE, "comparison", score=None
        ),
        reviews=_blank(
            reviews, reason, "strengths", "weaknesses", "suggestions", **dict.fromkeys(numbers)
        ),
    )
    return replace(
        evaluation,
        soundness=soundness,
        contribution=contribution,
        suggestions=(),
        llm_calls=tuple(replace(call, cost_usd=None) for call in evaluation.llm_calls),
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
