"""What calibration gains for decisions: from the evaluated scores of a submission to the conference's decision, in its own order."""

from collections.abc import Mapping

from flows.benchmarks.novelty_calibration import calibrate_on, source_of
from flows.benchmarks.trial import Trial
from schemas.benchmark import BenchmarkScore
from schemas.identifiers import RunId, content_hash
from tasks.metrics.decisions import GRADES
from tasks.novelty.calibration.examples import Example, LabelScale, item_sha256
from warehouse.answers import IdeaReview

DECISION = "decision"
DECISIONS = LabelScale(tuple(GRADES), tuple(float(grade) for grade in GRADES.values()))
FILE = "decision-calibrator.json"
_SCORES = (
    "soundness_0_to_10",
    "contribution_0_to_10",
    "committee_0_to_10",
    "novelty_1_to_5",
    "soundness_unscored_share",
    "contribution_unscored_share",
    "committee_unscored_share",
    "dimension_count",
    "scored_comparison_count",
    "failure_count",
)


def decision_features(review: IdeaReview) -> dict[str, float | None]:
    """Scores of the modules with how much of them is unscored, and the committee's means, spreads and agreement by dimension."""
    found: dict[str, float | None] = {name: _number(getattr(review.score, name)) for name in _SCORES}
    committee = review.evaluation.committee
    meta = committee.meta_review if committee is not None else None
    if meta is not None:
        found |= {f"mean {name}": value for name, value in meta.dimension_means.items()}
        found |= {f"spread {name}": value for name, value in meta.dimension_spreads.items()}
        found["krippendorff_alpha"] = meta.krippendorff_alpha
    return found


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def decision_calibration(
    trial: Trial, suite: str, run_id: RunId, gold: Mapping[str, str | None], said: Mapping[str, str | None]
) -> list[BenchmarkScore]:
    """Cross-validated gain over the suite's submissions, `gold` and `said` by idea; the calibrator stays in the trial's folder.

    Submissions that share a text count once. Too few of a decision: one undefined row that says so.
    """
    texts: dict[str, str] = {}
    examples: list[Example] = []
    steps: set[str] = set()
    for review in trial.reviews(run_id):
        idea = review.evaluation.idea
        if (name := str(idea.idea_id)) not in gold:
            continue
        texts[name] = idea.text
        steps |= {f"{call.step}" for call in review.evaluation.llm_calls}
        examples.append(Example(item_sha256(idea.text), gold[name], said.get(name), decision_features(review)))
    return calibrate_on(
        examples,
        DECISIONS,
        suite=suite,
        part="decisions",
        engine=trial.request.engine,
        source=source_of("innoeval_points.jsonl", texts),
        seed=trial.seed,
        target=trial.folder / FILE,
        predicts=DECISION,
        judged=f"run {run_id} {content_hash(*sorted(steps), length=12)}",
    )
