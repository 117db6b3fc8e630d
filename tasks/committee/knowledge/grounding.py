"""Grounding of selected items in the parts of the idea (InnoEval, "Knowledge Grounding")."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from schemas.judgement.committee import GroundedEvidence, IdeaPart, KnowledgePhase
from schemas.literature.knowledge import SourceKind
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import Reason
from tasks.committee.knowledge.context import Context
from tasks.committee.knowledge.pool import Candidate, assign_keys, spell_out_keys
from tasks.committee.steps.finds import (
    GROUND_EVIDENCE,
    GroundingEntry,
    GroundingInput,
    GroundingReply,
    ItemShown,
    PartHeld,
)
from tasks.judging.packing import even_batches, first_alone, side_by_side
from tasks.judging.reply_fields import by_key
from tasks.judging.step import unasked_provenance
from tasks.text.quotations import stands_in


@dataclass(frozen=True, slots=True)
class _Batch:
    """Items of one phase, each grounded in one part.

    Phases never share a call.
    """

    phase: KnowledgePhase
    items: dict[str, Candidate]
    parts: dict[str, IdeaPart]

    @property
    def subject(self) -> str:
        return f"{GROUND_EVIDENCE.name} of {', '.join(dict.fromkeys(self.parts.values()))}"


async def ground(
    context: Context, candidates: Sequence[Candidate], names: dict[int, str]
) -> tuple[GroundedEvidence, ...]:
    """Return one row per part and item, scored or not.

    Rows are ordered by phase, part and item.

    Earlier knowledge is grounded in every part of its kind. Later knowledge, used for suggestions
    only, is grounded in the part it was searched for.

    Args:
        names: knowledge identifiers by `id` of the candidate.
    """
    batches = list(_batches(context, candidates))
    outcomes = await _outcomes(context, batches)
    rows: list[GroundedEvidence] = []
    for batch in batches:
        outcome = outcomes[id(batch)]
        entries = by_key(outcome.value.items, batch.items) if isinstance(outcome, Scored) else {}
        for key, candidate in batch.items.items():
            rows.append(
                GroundedEvidence(
                    evidence_id=f"e{len(rows) + 1}",
                    knowledge_id=names[id(candidate)],
                    part=batch.parts[key],
                    phase=batch.phase,
                    **_evidence_columns(context, batch, key, outcome, entries.get(key)),
                )
            )
    return tuple(rows)


async def _outcomes(
    context: Context, batches: Sequence[_Batch]
) -> dict[int, Outcome[GroundingReply] | None]:
    """Return the reply to each batch, by its `id`.

    Of batches with the same items one call runs first, to fill the provider's cache.
    """
    batches_by_items: dict[tuple[int, ...], list[_Batch]] = {}
    for batch in batches:
        batches_by_items.setdefault(tuple(id(each) for each in batch.items.values()), []).append(
            batch
        )
    groups = await side_by_side(
        first_alone([partial(_ask_batch, context, batch) for batch in group])
        for group in batches_by_items.values()
    )
    return {
        id(batch): outcome
        for group, outcomes in zip(batches_by_items.values(), groups, strict=True)
        for batch, outcome in zip(group, outcomes, strict=True)
    }


def _batches(context: Context, candidates: Sequence[Candidate]) -> list[_Batch]:
    """Group items by part, in order of kind.

    Prompts of different parts then share a prefix.
    """
    by_kind = sorted(candidates, key=lambda each: tuple(SourceKind).index(each.item.kind))
    earlier_candidates = [each for each in by_kind if each.phase is KnowledgePhase.BEFORE]
    later_candidates = [each for each in by_kind if each.phase is KnowledgePhase.AFTER]
    batches = []
    for part in context.outline.parts:
        pairs = [
            (each, part)
            for each in earlier_candidates
            if part in context.outline.searched(each.item.kind)
        ]
        batches += _pack(context, KnowledgePhase.BEFORE, pairs)
    pairs = []
    for each in later_candidates:
        # The part of its first query, if its kind is grounded in that part.
        searched_parts, own_part = context.outline.searched(each.item.kind), each.query.part
        pairs.append((each, own_part if own_part in searched_parts else searched_parts[0]))
    return batches + _pack(context, KnowledgePhase.AFTER, pairs)


def _pack(
    context: Context, phase: KnowledgePhase, pairs: Sequence[tuple[Candidate, IdeaPart]]
) -> list[_Batch]:
    """Make batches of `items_per_grounding_call`.

    Items without text form a batch without a call.
    """
    readable = [pair for pair in pairs if pair[0].shown().strip()]
    unreadable = [pair for pair in pairs if not pair[0].shown().strip()]
    packs = even_batches(readable, context.parameters.items_per_grounding_call)
    return [
        _Batch(
            phase,
            assign_keys([each for each, _ in pack]),
            assign_keys([part for _, part in pack]),
        )
        for pack in (*packs, unreadable)
        if pack
    ]


async def _ask_batch(context: Context, batch: _Batch) -> Outcome[GroundingReply] | None:
    """Ask about a batch; None if its items have no text."""
    items = tuple(
        ItemShown(key=key, kind=each.item.kind.value, title=each.item.title, text=each.shown())
        for key, each in batch.items.items()
        if each.shown().strip()
    )
    if not items:
        return None
    parts = tuple(
        PartHeld(
            part=part.value,
            claims=context.outline.claims[part],
            keys=tuple(key for key, item_part in batch.parts.items() if item_part is part),
        )
        for part in dict.fromkeys(batch.parts.values())
    )
    outcome = await context.engine.run(
        GROUND_EVIDENCE, GroundingInput(idea=context.outline.gist, items=items, parts=parts)
    )
    if isinstance(outcome, Unscored):
        context.failures.unscored(outcome, batch.subject)
    return outcome


def _evidence_columns(
    context: Context,
    batch: _Batch,
    key: str,
    outcome: Outcome[GroundingReply] | None,
    entry: GroundingEntry | None,
) -> dict[str, Any]:
    """Return the evidence columns of a row, scored or with the reason why not."""
    unscored = outcome if isinstance(outcome, Unscored) else None
    if outcome is None:
        detail = "neither its source nor its reading gives any text"
        provenance = unasked_provenance(GROUND_EVIDENCE, context.engine)
        unscored = Unscored(Reason.NO_EVIDENCE, detail, provenance)
    elif unscored is None and entry is None:
        detail = "the reply has no usable entry for it"
        context.failures.omission(batch.subject, f"{detail} among {len(batch.items)} items")
        unscored = Unscored(Reason.REPLY_UNPARSABLE, detail, outcome.provenance)
    if unscored is not None:
        return {"relation": None, **unscored.columns}
    assert outcome is not None
    assert entry is not None
    candidate, passage = batch.items[key], " ".join(entry.passage.split())
    evidence, evidence_removed = spell_out_keys(entry.evidence, batch.items, key)
    analysis, analysis_removed = spell_out_keys(entry.analysis, batch.items, key)
    return {
        "relation": entry.relation,
        "evidence": evidence,
        "analysis": analysis,
        "removed_citation_count": evidence_removed + analysis_removed,
        "relevance_0_to_1": entry.relevance / 10,
        "passage": passage,
        "passage_verified": bool(passage)
        and stands_in(passage, candidate.quotable or candidate.item.text),
        "provenance": outcome.provenance,
    }
