"""Plain-language wording of the tables' enumerated values."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath

from dashboards.render import figures
from schemas.choices import BUNDLED_REMARK, BUNDLED_SAMPLE, EXTRACTIVE, LIVE, stored_snapshot
from schemas.judgement.soundness import ConcernKind
from schemas.literature.coverage import FieldCoverage
from schemas.reasons import BEYOND_THE_RUN, Reason, reason_named
from schemas.run import Run
from schemas.text.patterns import bounded
from schemas.works.check_run import CheckHead
from schemas.works.experiment import Finding
from warehouse.row_models import DroppedParameter, IdeaScore, LeftOutGroup, RankedIdea

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
    """Return the sentence of a reason; an unknown word is shown as it is."""
    entry = reason_named(word)
    return entry.sentence if entry else word.replace("_", " ")


def unscored_because(word: str) -> str:
    """Return the reason for a missing score, marked as a loss unless out of scope."""
    return reason(word) if word in BEYOND_THE_RUN else f"unscored: {reason(word)}"


def field_not_covered(coverage: FieldCoverage | None) -> str:
    """Return the warning about a field outside the literature; empty if covered."""
    return f"{coverage.warning}." if coverage is not None and not coverage.field_covered else ""


def ideas_not_covered(left_out: Iterable[LeftOutGroup], idea_count: int) -> str:
    """Return how many ideas are outside the literature; empty if none."""
    count = sum(group.idea_count for group in left_out if group.reason == Reason.FIELD_NOT_COVERED)
    if not count:
        return ""
    return (
        f"The literature does not cover the field of {count:,} of"
        f" {figures.plural(idea_count, 'idea')}: no evidence was bought for"
        f" {'it' if count == 1 else 'them'}"
    )


_FINDINGS: dict[Finding, str] = {
    Finding.SUPPORTED: "Supported, within this task",
    Finding.NOT_SUPPORTED: "Not supported, within this task",
    Finding.UNDECIDED: "Undecided",
}


def finding(value: Finding) -> str:
    """Return the conclusion that an experiment allows."""
    return _FINDINGS[value]


def stage(word: str) -> str:
    """Return the stage at which something failed."""
    return _STAGES.get(word, word.replace("_", " "))


def step(name: str) -> str:
    """Return a description of an evaluation step."""
    return _STEPS.get(name, name.replace("_", " "))


_KINDS: dict[ConcernKind, str] = {
    ConcernKind.CLAIM_NOT_TESTED: "the claim is not tested",
    ConcernKind.MISSING_CONTROL: "missing ablation or control",
    ConcernKind.CONFOUND: "confound or alternative explanation",
    ConcernKind.STATISTICS: "sample size and statistics",
    ConcernKind.LEAKAGE: "leakage or contamination",
    ConcernKind.FEASIBILITY: "feasibility and cost",
    ConcernKind.WORTH: "whether the question is worth asking",
    ConcernKind.NOVELTY: "whether it is new",
    ConcernKind.DERIVATION: "what it adds to works that the plan names",
}


def concern_kind(kind: ConcernKind) -> str:
    """Return the topic of a concern about a plan."""
    return _KINDS.get(kind, kind.replace("_", " "))


def literature(name: str, display_name: str = "") -> str:
    """Return the source of papers: its display name if given.

    For the path of a snapshot, only the last part, which readers recognize.
    """
    if display_name:
        return display_name if display_name == BUNDLED_SAMPLE else f"snapshot {display_name}"
    place = stored_snapshot(name)
    if place is not None:
        if _FINGERPRINT.fullmatch(place):
            return f"snapshot with fingerprint {place}"
        return f"snapshot {PurePath(place.rstrip('/')).name or place}" if place else "snapshot"
    return "live Semantic Scholar" if name == LIVE.text else name


def baseline_mark(engine: str) -> str:
    """Return the mark next to scores of the offline engine; empty for models."""
    return " (baseline)" if engine == EXTRACTIVE.text else ""


def banners(
    engine: str,
    literature_name: str,
    display_name: str = "",
    lacks: str = "",
    *,
    incomplete_reason: str | None = None,
    what: str = "run",
) -> tuple[str, ...]:
    """Return the warnings to show before any score.

    Args:
        display_name: as in `literature`.
        lacks: known gaps of the run's snapshot.
        incomplete_reason: why the run, or `what` it is called, ended early.
    """
    lines = []
    if engine == EXTRACTIVE.text:
        lines.append("Extractive engine: an offline baseline, not a language model's judgement.")
    if stored_snapshot(literature_name) is not None:
        name = literature(literature_name, display_name)
        lines.append(
            f"The evidence comes from a fixed collection of papers ({name}),"
            " not from the live literature: work the collection lacks could not be found."
            f"{' ' + lacks if lacks else ''}"
        )
    if display_name == BUNDLED_SAMPLE:
        lines.append(f"That sample is {BUNDLED_REMARK}.")
    if incomplete_reason is not None:
        lines.append(early_end(incomplete_reason, what))
    return tuple(lines)


def early_end(why: str, what: str = "run") -> str:
    """Return that a run ended early, and how to resume it."""
    return f"The {what} ended early ({reason(why)}). The same command resumes it."


_RULES_OF_THE_OFFLINE_CHECK = (
    "shares that do not fit their counts, estimates outside their intervals, numbers of the"
    " abstract that the text contradicts or does not have, p-values that do not fit their"
    " statistics, totals and cells of tables, claims made twice and differently, claims without the"
    " proof, test or sample size that they need, words that tell a reviewer how to judge, references"
    " that lead nowhere, and equations, tables, figures and statements that are not there"
)


def check_scope(head: CheckHead) -> str:
    """Return the scope of a check of manuscripts, and its limits."""
    if head.dataset:
        return (
            f"What {head.dataset} reports, as it was published: which problems {head.engine} named"
            " in each manuscript. Nothing was read again."
        )
    if head.engine == EXTRACTIVE.text:
        return (
            f"The text of each manuscript was held against rules: {_RULES_OF_THE_OFFLINE_CHECK}."
            " Whether the argument is right was not tested: no rule understands it."
        )
    judges_note = (
        "Whether they are the ones that the authors named was asked of the judges."
        if head.judges
        else "Nobody has judged whether they are real."
    )
    if head.review:
        return (
            f"{head.engine} read each manuscript section by section, raised what may be wrong with"
            " the sentence that shows it, and looked at each point again to refute it."
            f" {judges_note} A manuscript in which none was found is not proved right."
        )
    return (
        f"{head.engine} read each manuscript and was asked for the problems, at most"
        f" {head.maximum_problems:,}, that would bring down a conclusion, each with its place."
        f" {judges_note} A manuscript in which none was found is not proved right."
    )


def weights_in_words(run: Run) -> str:
    """Return `soundness × 0.5, contribution × 0.5`, of the requested modules.

    Of an assessed run `worth asking × 1, feasible × 2`, or `overall`.
    """
    weights = run.score_weights.acting(assessed=run.assessed)
    modules = run.modules.split(",")
    weight_of = {
        name: weight
        for name, weight in weights.items()
        if (weight > 0 if run.assessed else name in modules)
    }
    return (
        ", ".join(f"{with_spaces(name)} × {weight:g}" for name, weight in weight_of.items())
        or "overall"
    )


def rank_with_range(rank: int | None, best: int | None, worst: int | None) -> str:
    """Return `3`, `3 (1–28)` if intervals allow other ranks, or `–` without a rank."""
    if rank is None:
        return "–" if best is None or worst is None else f"– ({best}–{worst})"
    if best is None or worst is None or best == worst == rank:
        return str(rank)
    return f"{rank} ({best}–{worst})"


def rank_in_words(rank: int | None, idea: RankedIdea | IdeaScore) -> str:
    """Return `rank 3`, or `not ranked: contribution unscored, place between 2 and 7`."""
    if rank is not None:
        return f"rank {rank}"
    return f"not ranked: {missing_in_words(idea)}" if idea.missing else "not ranked"


def score_placement(idea: RankedIdea) -> str:
    """Return `ranked by score`, or why its score gives it no rank."""
    return "ranked by score" if idea.rank is not None else rank_in_words(None, idea)


def why_unranked(idea: RankedIdea) -> str:
    """Return why an idea's score gives it no rank; empty if it has one."""
    if idea.rank is not None or idea.by_matches or idea.missing is None:
        return ""
    return rank_in_words(None, idea)


def missing_in_words(idea: RankedIdea | IdeaScore) -> str:
    """Return `contribution and novelty unscored, place between 2 and 7`; may be empty."""
    if idea.missing is None:
        return ""
    *names, last = with_spaces(idea.missing).split(", ")
    text = f"{', '.join(names)} and {last} unscored" if names else f"{last} unscored"
    if idea.best_rank is None or idea.worst_rank is None:
        return text
    if idea.best_rank == idea.worst_rank:
        return f"{text}, place {idea.best_rank}"
    return f"{text}, place between {idea.best_rank} and {idea.worst_rank}"


def with_spaces(name: str) -> str:
    """Return `worth asking` for `worth_asking`."""
    return name.replace("_", " ")


def what_leads(*, by_matches: bool, undecided: bool) -> str:
    """Return the sentence on the basis of the order of ideas.

    Args:
        undecided: whether the matches of some group do not separate its ideas.
    """
    if undecided and not by_matches:
        return "The matches tell no ideas apart: ranks rest on scores."
    if not by_matches:
        return "Ranks rest on scores."
    text = (
        "Ranks rest on matches and lead; the score is shown next to them, and the two may disagree."
    )
    more = " Groups whose matches tell no ideas apart are ranked by scores."
    return text + more if undecided else text


def what_leads_among(ranked_ideas: Iterable[RankedIdea]) -> str:
    """Return `what_leads` for these ideas."""
    ideas = tuple(ranked_ideas)
    return what_leads(
        by_matches=any(idea.by_matches for idea in ideas),
        undecided=any(idea.undecided for idea in ideas),
    )


def score_in_words(run: Run, score: IdeaScore) -> str:
    """Return the weighted parts of a score, and its bounds if a part is missing."""
    weights = weights_in_words(run)
    if score.missing is None or score.score_lower is None or score.score_upper is None:
        return weights
    return (
        f"{weights}; no score, as it may be {figures.between(score.score_lower, score.score_upper)}:"
        f" {missing_in_words(score)}"
    )


def dropped_parameter(row: DroppedParameter) -> str:
    """Return `openai/gpt-5 does not take temperature: dropped in 28 of 28 calls`.

    A value sent instead is named.
    """
    parameter, _, sent_value = row.parameter.partition(" (sent ")
    outcome = f"{sent_value.removesuffix(')')} sent instead" if sent_value else "dropped"
    times = f"{row.dropped_calls:,} of {row.calls:,} {'call' if row.calls == 1 else 'calls'}"
    return f"{row.model_requested} does not take {parameter}: {outcome} in {times}"


BASELINE_ANSWERS = (
    "Both answers come from the offline baseline: no model is asked, and nothing is paid."
)


def both_answers(estimates: Sequence[Mapping[str, object]], bound_usd: float) -> str:
    """Return calls and cost of two answers together.

    The estimate of one answer alone would reveal which engine gives it.

    Args:
        estimates: as printed by `--dry-run --json`.
        bound_usd: cost limit of each.
    """
    calls = sum(each for one in estimates if isinstance(each := one["model_calls"], int))
    costs = [cost for one in estimates if isinstance(cost := one["cost_usd"], int | float)]
    cost = f"about {figures.usd(sum(costs))}" if len(costs) == len(estimates) else "price unknown"
    return (
        f"Both answers together: {figures.plural(calls, 'model call')}, {cost}; each ends when it"
        f" has spent {figures.usd(bound_usd)}."
    )


def title_or_name(title: str | None, name: str, characters: int = 110) -> str:
    """Return a title on one line, or the name if there is no title."""
    return shorten(" ".join((title or "").split()) or name, characters)


def shorten(name: str, characters: int) -> str:
    """Return a name on one line, cut with an ellipsis after `characters`."""
    line = " ".join(name.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


_ABBREVIATIONS = frozenset({"al.", "e.g.", "i.e.", "vs.", "cf.", "fig.", "eq.", "sec.", "no."})
_CLOSING, _OPENING = "”\"')]*", "“\"'([*"


def whole_sentences(text: str, most_words: int) -> str:
    """Return the first sentences with at most `most_words` words, on one line.

    A longer first sentence is cut after a word, with an ellipsis, but not within a Markdown link.
    """
    words = text.split()
    if len(words) <= most_words:
        return " ".join(words)
    end = last_whole = depth = 0
    for number, word in enumerate(words[:most_words], start=1):
        depth += word.count("[") - word.count("]")
        if depth > 0:
            continue
        last_whole = number
        if _ends_a_sentence(word, words[number]):
            end = number
    if end:
        return " ".join(words[:end])
    return f"{' '.join(words[: last_whole or most_words]).rstrip(',;:')}…"


def first_sentences(text: str, most_words: int, *, at_least_one: bool) -> tuple[str, str]:
    """Split a text after the sentences with at most `most_words` words.

    Args:
        at_least_one: whether the first sentence is included however long it is.
    """
    words = text.split()
    if len(words) <= most_words:
        return text, ""
    end = depth = 0
    for number, (word, following) in enumerate(pairwise(words), start=1):
        if number > most_words and (end or not at_least_one):
            break
        depth += word.count("[") - word.count("]")
        if depth <= 0 and _ends_a_sentence(word, following):
            end = number
    if not end:
        return (text, "") if at_least_one else ("", text)
    rest = text.split(None, end)[end]
    return text[: len(text) - len(rest)].rstrip(), rest


def _ends_a_sentence(word: str, following: str) -> bool:
    bare_word = word.rstrip(_CLOSING)
    first_sign = following.lstrip(_OPENING)[:1]
    initial = len(bare_word) == 2 and bare_word[0].isupper()
    return (
        bare_word.endswith((".", "!", "?"))
        and not initial
        and bare_word.lower() not in _ABBREVIATIONS
        and (first_sign.isupper() or first_sign.isdigit())
    )
