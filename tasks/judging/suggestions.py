"""Suggestions in replies: their fields and their conversion to rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from schemas.base import Reply
from schemas.failure import Failure
from schemas.judgement.soundness import Concern
from schemas.judgement.suggestion import ActionEffort, Suggestion
from schemas.outcome import Provenance
from tasks.citations.keys import Shown
from tasks.citations.settle import Settled, settle
from tasks.judging.findings import keys_of, omission_failures
from tasks.judging.reply_fields import Prose, word_of

_TEXTS = ("change", "because", "how", "deciding_outcome")


class ProposedSuggestion(Reply):
    """One suggestion of a reply; it stands where it says what to change, and why or by what."""

    change: Prose = Field(default="", description="What to change, add, replace or drop.")
    because: Prose = Field(default="", description="Why, with keys such as [P3].")
    how: Prose = Field(default="", description="Data set, baseline, number, statistic.")
    effort: Annotated[ActionEffort | None, word_of(ActionEffort)] = None
    deciding_outcome: Prose = Field(default="", description="Which outcome would decide.")


def _entries(value: Any) -> Any:
    """Read null as an empty list, and text as one suggestion.

    Such a suggestion has only a change.
    """
    if value is None:
        return []
    entries = value if isinstance(value, list | tuple) else [value]
    return [
        {"change": entry} if isinstance(entry, str) else entry
        for entry in entries
        if not isinstance(entry, str) or entry.strip()
    ]


ProposedSuggestions = Annotated[tuple[ProposedSuggestion, ...], BeforeValidator(_entries)]


@dataclass(frozen=True, slots=True)
class SettledSuggestions:
    """Usable suggestions as rows and one text, and failures for others."""

    rows: tuple[Suggestion, ...]
    text: Settled
    failures: tuple[Failure, ...]


def settle_suggestions(
    proposals: Sequence[ProposedSuggestion],
    prompt_papers: Shown,
    *,
    module: str,
    subject: str,
    provenance: Provenance,
) -> SettledSuggestions:
    """Render the citations of `proposals`.

    Proposals without a change or a reason are omitted and counted in a failure.
    """
    settled_proposals = [
        (each, {name: settle(getattr(each, name), prompt_papers) for name in _TEXTS})
        for each in proposals
    ]
    usable = [
        (each, texts)
        for each, texts in settled_proposals
        if texts["change"].markdown and (texts["because"].markdown or texts["change"].cited)
    ]
    rows = tuple(
        Suggestion(
            module=module,
            subject=subject,
            rank=rank,
            **{name: text.markdown for name, text in texts.items()},
            effort=each.effort,
            citation_keys=tuple(
                dict.fromkeys(
                    key for text in texts.values() for key in keys_of(text, prompt_papers)
                )
            ),
            provenance=provenance,
        )
        for rank, (each, texts) in enumerate(usable, start=1)
    )
    combined_text = settle("\n\n".join(_paragraph(row) for row in rows), prompt_papers)
    removed_count = sum(
        text.removed_citation_count for _, texts in usable for text in texts.values()
    )
    reasons = "\n\n".join(f"{row.change} {row.because}" for row in rows)
    text = Settled(
        combined_text.markdown,
        combined_text.cited,
        removed_count,
        settle(reasons, prompt_papers).uncited_sentence_count,
    )
    dropped_count = len(settled_proposals) - len(usable)
    detail = (
        f"{dropped_count} of {len(settled_proposals)} suggestions were left out: they do not say what to change or"
        " give no reason"
    )
    return SettledSuggestions(rows, text, omission_failures(module, subject, detail, dropped_count))


def _paragraph(row: Suggestion) -> str:
    parts = [row.change, row.because]
    if row.how:
        parts.append(f"How: {row.how}")
    if row.effort is not None:
        parts.append(f"Effort: {row.effort}.")
    if row.deciding_outcome:
        parts.append(f"What would decide: {row.deciding_outcome}")
    return " ".join(part for part in parts if part)


def suggestion_about(
    concern: Concern, rank: int, keys: tuple[str, ...], *, module: str
) -> Suggestion:
    """Return a concern's action as a suggestion that cites `keys`."""
    return Suggestion(
        module=module,
        subject="plan",
        rank=rank,
        change=concern.action,
        because=f"“{concern.quote}”" if concern.quote else concern.omission,
        effort=concern.effort,
        deciding_outcome=concern.would_change,
        concern_id=concern.concern_id,
        citation_keys=keys,
        provenance=concern.provenance,
    )
