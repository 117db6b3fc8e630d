"""Provenance of judgements: step, prompt, calls and transcripts."""

from collections.abc import Callable, Iterator

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.views.idea.gaps import judgements
from schemas.base import Noun
from schemas.choices import EXTRACTIVE
from schemas.outcome import Provenance
from warehouse.row_models import IdeaReview
from warehouse.stores.transcripts import Transcripts, transcripts_path
from warehouse.warehouse import Warehouse

_SCORES = (
    *("score_0_to_10", "score", "relevance_0_to_5", "score_1_to_5", "relevant", "relation"),
    *("judge_score_0_to_1", "total_score_0_to_10"),
)
_NAMES = (
    *("method_id", "dimension_id", "paper_id", "persona_id", "dimension"),
    *("claim_id", "evidence_id", "knowledge_id"),
)


def judgement_blocks(
    review: IdeaReview, address_of_call: Callable[[str], str]
) -> Iterator[pg.Block]:
    """Yield all judgements and all calls of an idea as two folds.

    Args:
        address_of_call: maps a call_id to the URL of its transcript.
    """
    rows = list(judgements(review.evaluation))
    if not rows:
        yield pg.text("Nothing was judged.")
        return
    columns = ("Judged", "Outcome", "Step", "Prompt (SHA-256)", "Engine", "Model", "Seed:",
               "Calls", "Left out of the input", "When")  # fmt: skip
    numbers = {call.call_id: n for n, call in enumerate(review.evaluation.llm_calls, 1)}
    table = pg.table(columns, (_row(*row, numbers) for row in rows))
    note = pg.text("The hash names the exact text of the prompt template.")
    yield pg.Fold(figures.plural(len(rows), "judgement"), (note, table))
    yield pg.Fold("Model calls", tuple(_calls(review, address_of_call)))


def _row(
    name: str, entry: Noun, provenance: Provenance, numbers: dict[str, int]
) -> tuple[pg.Part, ...]:
    names = (getattr(entry, field, None) for field in _NAMES)
    subject = " ".join(text for text in names if isinstance(text, str))
    calls = ", ".join(str(numbers[each]) for each in provenance.call_ids if each in numbers)
    return (
        f"{name.replace('_', ' ')} {subject}".strip(),
        _outcome(entry),
        f"{wording.step(provenance.step)}, version {provenance.step_version}",
        pg.code(provenance.prompt_sha256[:12]),
        provenance.engine,
        provenance.model_answered or provenance.model_requested,
        "" if provenance.seed is None else str(provenance.seed),
        calls,
        provenance.shortening or "",
        provenance.created_at,
    )


def _outcome(entry: Noun) -> str:
    reason = getattr(entry, "unscored_reason", None)
    if reason is not None:
        return wording.unscored_because(reason)
    scores = (getattr(entry, field, None) for field in _SCORES)
    return next((str(value) for value in scores if value is not None), "")


def _calls(review: IdeaReview, address_of_call: Callable[[str], str]) -> Iterator[pg.Block]:
    calls = review.evaluation.llm_calls
    if not calls:
        yield pg.text(_why_no_calls(review))
        return
    waiting_time = figures.duration(sum(call.latency_seconds for call in calls))
    yield pg.text(f"{figures.plural(len(calls), 'call')}, {waiting_time} of waiting.")
    columns = ("No.:", "Step", "Model", "Ended", "Prompt tokens:", "Completion tokens:", "Cost:",
               "Latency:", "Attempt:", "From the cache", "Error", "When")  # fmt: skip
    rows = (
        (
            number,
            pg.report(wording.step(call.step), address_of_call(call.call_id)),
            call.model_answered or call.model_requested,
            call.status.value.replace("_", " "),
            call.prompt_tokens,
            call.completion_tokens,
            figures.usd(call.cost_usd),
            figures.duration(call.latency_seconds),
            call.attempt,
            "yes" if call.cache_hit else "",
            call.error or "",
            call.created_at,
        )
        for number, call in enumerate(calls, 1)
    )
    yield pg.table(columns, rows)


def _why_no_calls(review: IdeaReview) -> str:
    if review.evaluation.engine == EXTRACTIVE.text:
        return "The extractive engine judges without calling a model."
    if review.evaluation.reused_from_run_id is not None:
        return "The evaluation was taken over from an earlier run, and the calls are booked there."
    return "No call is recorded."


def call_blocks(review: IdeaReview, call_id: str, warehouse: Warehouse) -> Iterator[pg.Block]:
    """Yield prompt and reply of a call, or why they are not stored."""
    call = next((each for each in review.evaluation.llm_calls if each.call_id == call_id), None)
    if call is None:
        yield pg.text("This idea has no such call.")
        return
    if call.transcript_sha256 is None:
        yield pg.text(
            "No transcript was kept: the call was not answered, or transcripts are off"
            " (ASSAY_LANGUAGE_MODEL__KEEP_TRANSCRIPTS_DAYS)."
        )
        return
    path = transcripts_path(warehouse)
    transcript = Transcripts(path).read(call.transcript_sha256) if path.exists() else None
    if transcript is None:
        yield pg.text(
            "The transcript is no longer kept, or is on another machine: it is deleted after"
            " ASSAY_LANGUAGE_MODEL__KEEP_TRANSCRIPTS_DAYS days."
        )
        return
    for role, content in (*transcript.messages, ("reply", transcript.reply)):
        yield pg.heading(role.capitalize(), level=3)
        yield pg.Code(content)
