"""The closed words of the tables in plain language."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from dashboards.reports import figures
from schemas.check_run import CheckHead
from schemas.choices import BUNDLED_REMARK, BUNDLED_SAMPLE, EXTRACTIVE, LIVE, stored_snapshot
from schemas.experiment import Finding
from schemas.patterns import bounded
from schemas.profile import ScoreWeights
from schemas.reasons import Reason, reason_named
from schemas.run import Run
from schemas.soundness import ConcernKind
from warehouse.answers import DroppedParameter, IdeaScore, RankedIdea

_FINGERPRINT = bounded(r"[0-9a-f]{12,64}")

_STAGES: dict[str, str] = {
    "read_ideas": "reading the ideas",
    "soundness": "judging soundness",
    "contribution": "judging contribution",
    "literature": "looking up literature",
    "documents": "reading full texts",
    "committee": "searching for knowledge and reviewing",
    "novelty": "judging novelty",
    "assessment": "weighing concerns and assessing the plan",
    "resources": "reading what papers used",
    "survey": "surveying the literature",
    "ideation": "making ideas",
    "writing": "writing the draft",
    "evaluate": "evaluating the idea",
}


_STEPS: dict[str, str] = {"verify_citations": "citation checks"}


def reason(word: str) -> str:
    """Why something did not work out; a word this page does not know is shown as it is."""
    known = reason_named(word)
    return known.sentence if known else word.replace("_", " ")


def unscored(word: str) -> str:
    """Return that something has no score, and why: what the offline baseline leaves is no loss."""
    return reason(word) if word == Reason.OFFLINE_ENGINE else f"unscored: {reason(word)}"


_FINDINGS: dict[Finding, str] = {
    Finding.SUPPORTED: "Supported, within this task",
    Finding.NOT_SUPPORTED: "Not supported, within this task",
    Finding.UNDECIDED: "Undecided",
}


def finding(found: Finding) -> str:
    """What an experiment allows to be said."""
    return _FINDINGS[found]


def stage(word: str) -> str:
    """Where it did not work out."""
    return _STAGES.get(word, word.replace("_", " "))


def step(name: str) -> str:
    """Return what a step of an evaluation does."""
    return _STEPS.get(name, name.replace("_", " "))


_KINDS: dict[ConcernKind, str] = {
    ConcernKind.CLAIM_NOT_TESTED: "the claim is not tested",
    ConcernKind.MISSING_CONTROL: "missing ablation or control",
    ConcernKind.CONFOUND: "confound or alternative explanation",
    ConcernKind.STATISTICS: "sample size and statistics",
    ConcernKind.LEAKAGE: "leakage or contamination",
    ConcernKind.FEASIBILITY: "feasibility and cost",
}


def concern_kind(kind: ConcernKind) -> str:
    """What a point about a plan is about."""
    return _KINDS.get(kind, kind.replace("_", " "))


def literature(name: str, told: str = "") -> str:
    """Where papers came from: as the run's user knows it, where the run says so; of a snapshot's
    path only its last part, which is what a reader recognises.
    """
    if told:
        return told if told == BUNDLED_SAMPLE else f"snapshot {told}"
    place = stored_snapshot(name)
    if place is not None:
        if _FINGERPRINT.fullmatch(place):
            return f"snapshot with fingerprint {place}"
        return f"snapshot {PurePath(place.rstrip('/')).name or place}" if place else "snapshot"
    return "live Semantic Scholar" if name == LIVE.text else name


def baseline_mark(engine: str) -> str:
    """What stands beside a score of the offline engine; empty for one of a model."""
    return " (baseline)" if engine == EXTRACTIVE.text else ""


def banners(engine: str, literature_name: str, told: str = "", lacks: str = "") -> tuple[str, ...]:
    """What a reader must know before reading any score; `told` as in `literature`, `lacks` what the
    run says of its snapshot.
    """
    found = []
    if engine == EXTRACTIVE.text:
        found.append("Extractive engine: an offline baseline, not a language model's judgement.")
    if stored_snapshot(literature_name) is not None:
        name = literature(literature_name, told)
        found.append(
            f"The evidence comes from a fixed collection of papers ({name}),"
            " not from the live literature: work the collection lacks could not be found."
            f"{' ' + lacks if lacks else ''}"
        )
    if told == BUNDLED_SAMPLE:
        found.append(f"That sample is {BUNDLED_REMARK}.")
    return tuple(found)


_RULES_OF_THE_OFFLINE_CHECK = (
    "shares that do not fit their counts, estimates outside their intervals, numbers of the"
    " abstract that the text contradicts or does not have, p-values that do not fit their"
    " statistics, totals and cells of tables, claims made twice and differently, claims without the"
    " proof, test or sample size that they need, words that tell a reviewer how to judge, references"
    " that lead nowhere, and equations, tables, figures and statements that are not there"
)


def tested(head: CheckHead) -> str:
    """What a check of manuscripts looked for, and what it did not."""
    if head.dataset:
        return (
            f"What {head.dataset} reports, as it was published: which problems {head.engine} named"
            " in each manuscript. Nothing was read anew."
        )
    if head.engine == EXTRACTIVE.text:
        return (
            f"The text of each manuscript was held against rules: {_RULES_OF_THE_OFFLINE_CHECK}."
            " Whether the argument is right was not tested: no rule understands it."
        )
    judged = (
        "Whether they are the ones that the authors named was asked of the judges."
        if head.judges
        else "Nobody has judged whether they are real."
    )
    if head.review:
        return (
            f"{head.engine} read each manuscript section by section, raised what may be wrong with"
            " the sentence that shows it, and looked at each point again to refute it."
            f" {judged} A manuscript in which none was found is not proved right."
        )
    return (
        f"{head.engine} read each manuscript and was asked for the problems, at most"
        f" {head.maximum_problems:,}, that would bring down a conclusion, each with its place."
        f" {judged} A manuscript in which none was found is not proved right."
    )


def weights_in_words(run: Run) -> str:
    """`soundness × 0.5, contribution × 0.5`, of the modules that were asked for."""
    asked = run.modules.split(",")
    weights = (
        (name, getattr(run.score_weights, name))
        for name in ScoreWeights.model_fields
        if name in asked
    )
    return ", ".join(f"{name} × {weight:g}" for name, weight in weights)


def what_leads(*, by_matches: bool, undecided: bool) -> str:
    """What the order of ideas rests on, in the same words wherever there is one.

    Args:
        undecided: whether the matches of some group tell no ideas apart.
    """
    if undecided and not by_matches:
        return "The matches tell no ideas apart: ranks rest on scores."
    if not by_matches:
        return "Ranks rest on scores."
    said = (
        "Ranks rest on matches and lead; the score of the modules stands beside, and the two may"
        " disagree."
    )
    more = " Groups whose matches tell no ideas apart are ranked by scores."
    return said + more if undecided else said


def what_leads_among(ranked: Iterable[RankedIdea]) -> str:
    """`what_leads` of these ideas."""
    ideas = tuple(ranked)
    return what_leads(
        by_matches=any(idea.by_matches for idea in ideas),
        undecided=any(idea.undecided for idea in ideas),
    )


def score_in_words(run: Run, score: IdeaScore) -> str:
    """What an idea's score is made of, and what the modules that are missing leave open."""
    told = weights_in_words(run)
    if score.score_lower is None or score.score_lower == score.score_upper:
        return told
    return (
        f"{told}; coverage {score.coverage_0_to_1 or 0.0:.0%}: the mean over the run stands in for"
        f" what is missing, which leaves {score.score_lower:.2f} to {score.score_upper:.2f}"
    )


def dropped(row: DroppedParameter) -> str:
    """`openai/gpt-5 does not take temperature: dropped in 28 of 28 calls`; what was sent in its
    place is named.
    """
    parameter, _, instead = row.parameter.partition(" (sent ")
    what = f"{instead.removesuffix(')')} sent instead" if instead else "dropped"
    times = f"{row.dropped_calls:,} of {row.calls:,} {'call' if row.calls == 1 else 'calls'}"
    return f"{row.model_requested} does not take {parameter}: {what} in {times}"


BASELINE_ANSWERS = (
    "Both answers come from the offline baseline: no model is asked, and nothing is paid."
)


def both_answers(expected: Sequence[Mapping[str, object]], bound_usd: float) -> str:
    """What two answers to one question take together, as `assay plan` and `--dry-run` tell it of
    each; of either alone it would say who answers.

    Args:
        bound_usd: what each may spend.
    """
    calls = sum(each for one in expected if isinstance(each := one["model_calls"], int))
    costs = [cost for one in expected if isinstance(cost := one["cost_usd"], int | float)]
    cost = f"about {figures.usd(sum(costs))}" if len(costs) == len(expected) else "price unknown"
    return (
        f"Both answers together: {figures.counted(calls, 'model call')}, {cost}; each ends when it"
        f" has spent {figures.usd(bound_usd)}."
    )


def shortened(name: str, characters: int) -> str:
    """The name on one line, an ellipsis in place of what is more than `characters`."""
    line = " ".join(name.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"
