"""The closed words of the tables in plain language."""

from pathlib import PurePath

from schemas.patterns import bounded
from schemas.profile import ScoreWeights
from schemas.run import Run
from warehouse.answers import DroppedParameter

_FINGERPRINT = bounded(r"[0-9a-f]{12,64}")

_REASONS: dict[str, str] = {
    "reply_unparsable": "the engine's reply could not be read",
    "reply_empty": "the engine replied nothing",
    "reply_cut_off": "the engine's reply was cut off",
    "refused": "the engine refused to answer",
    "no_evidence": "no relevant evidence was found",
    "nothing_to_judge": "there was nothing to judge",
    "budget_exhausted": "the budget was spent",
    "source_unavailable": "the literature source did not answer",
    "engine_unavailable": "the engine could not be reached",
    "input_too_long": "the text was too long for the engine",
    "timed_out": "it took too long",
    "worker_lost": "the worker that did it was lost",
    "fitted_on_it": "the calibrator was fitted on it",
    "internal_error": "Assay itself failed",
    "rate_limited": "the source asked to slow down",
    "server_error": "the source failed",
    "timeout": "the source took too long",
    "unreachable": "the source could not be reached",
    "forbidden": "the source does not allow it",
    "bad_request": "the source rejected the request",
    "not_found": "the source does not know it",
    "circuit_open": "the source had failed too often and was left alone",
    "malformed_answer": "the source's answer could not be read",
    "withheld": "the publisher withholds it, or the source does not have it",
    "not_configured": "the source is not set up here",
    "no_date": "it carries no date, so it cannot be shown to lie before the cutoff",
    "the_idea_itself": "it is the idea's own publication",
    "passage_not_found": "a quotation does not stand in its source",
    "wrong_type": "the link leads to another kind of file",
    "document": "the document could not be had or read",
    "empty": "the entry is empty",
    "too_short": "the text is too short",
    "too_long": "the text is too long",
    "bad_cutoff_date": "the cutoff date is no date",
    "duplicate_id": "the identifier was taken already",
    "duplicate_text": "the text repeats another idea",
    "unreadable": "the entry could not be read",
    "bad_field": "a field holds something else than it should",
}

_STAGES: dict[str, str] = {
    "read_ideas": "reading the ideas",
    "soundness": "judging soundness",
    "contribution": "judging contribution",
    "literature": "looking up literature",
    "documents": "reading full texts",
    "committee": "searching for knowledge and reviewing",
    "novelty": "judging novelty",
    "evaluate": "evaluating the idea",
}


def reason(word: str) -> str:
    """Why something did not work out; a word this page does not know is shown as it is."""
    return _REASONS.get(word, word.replace("_", " "))


def stage(word: str) -> str:
    """Where it did not work out."""
    return _STAGES.get(word, word.replace("_", " "))


def literature(name: str) -> str:
    """Where papers came from; of a snapshot's path only its last part, which is what a reader recognises."""
    kind, _, place = name.partition(":")
    if kind == "snapshot":
        if _FINGERPRINT.fullmatch(place):
            return f"snapshot with fingerprint {place}"
        return f"snapshot {PurePath(place.rstrip('/')).name or place}" if place else "snapshot"
    return "live Semantic Scholar" if name == "live" else name


def banners(engine: str, literature_name: str) -> tuple[str, ...]:
    """What a reader must know before reading any score."""
    found = []
    if engine == "extractive":
        found.append("Extractive engine: an offline baseline, not a language model's judgement.")
    if literature_name.startswith("snapshot"):
        found.append(
            f"The evidence comes from a fixed collection of papers ({literature(literature_name)}), not from the live literature: "
            "work the collection lacks could not be found."
        )
    return tuple(found)


def weights_in_words(run: Run) -> str:
    """`soundness × 0.5, contribution × 0.5`, of the modules that were asked for."""
    asked = run.modules.split(",")
    weights = ((name, getattr(run.score_weights, name)) for name in ScoreWeights.model_fields if name in asked)
    return ", ".join(f"{name} × {weight:g}" for name, weight in weights)


def dropped(row: DroppedParameter) -> str:
    """`openai/gpt-5 does not take temperature: dropped in 28 of 28 calls`; what was sent in its place is named."""
    parameter, _, instead = row.parameter.partition(" (sent ")
    what = f"{instead.removesuffix(')')} sent instead" if instead else "dropped"
    times = f"{row.dropped_calls:,} of {row.calls:,} {'call' if row.calls == 1 else 'calls'}"
    return f"{row.model_requested} does not take {parameter}: {what} in {times}"


def shortened(name: str, characters: int) -> str:
    """The name on one line, an ellipsis in place of what is more than `characters`."""
    line = " ".join(name.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"
