"""Grounding: what each selected piece of knowledge says for or against each part of the idea
(InnoEval, "Knowledge Grounding").
"""

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
    """Some items of one phase, each to be held against one part. Phases never share a call."""

    phase: KnowledgePhase
    items: dict[str, Candidate]
    parts: dict[str, IdeaPart]

    @property
    def subject(self) -> str:
        return f"{GROUND_EVIDENCE.name} of {', '.join(dict.fromkeys(self.parts.values()))}"


async def ground(
    context: Context, candidates: Sequence[Candidate], names: dict[int, str]
) -> tuple[GroundedEvidence, ...]:
    """One row per part and item, judged or not, in the order of phases, parts and items.

    Knowledge from before is held against every part its kind bears on. Later knowledge, from which
    suggestions are made and nothing is judged, is held against the part it was found for.

    Args:
        names: the knowledge identifier of each candidate, by `id`.
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
    """The reply to each batch, by its `id`.

    Of calls that show the same items one goes ahead: the others' prompts begin alike.
    """
    alike: dict[tuple[int, ...], list[_Batch]] = {}
    for batch in batches:
        alike.setdefault(tuple(id(each) for each in batch.items.values()), []).append(batch)
    groups = await side_by_side(
        first_alone([partial(_ask_batch, context, batch) for batch in group])
        for group in alike.values()
    )
    return {
        id(batch): outcome
        for group, outcomes in zip(alike.values(), groups, strict=True)
        for batch, outcome in zip(group, outcomes, strict=True)
    }


def _batches(context: Context, candidates: Sequence[Candidate]) -> list[_Batch]:
    """Items in order of kind, so that the prompts of different parts begin alike and a provider's
    cache serves what they share.
    """
    by_kind = sorted(candidates, key=lambda each: tuple(SourceKind).index(each.item.kind))
    before = [each for each in by_kind if each.phase is KnowledgePhase.BEFORE]
    after = [each for each in by_kind if each.phase is KnowledgePhase.AFTER]
    batches = []
    for part in context.outline.parts:
        pairs = [
            (each, part) for each in before if part in context.outline.searched(each.item.kind)
        ]
        batches += _pack(context, KnowledgePhase.BEFORE, pairs)
    return batches + _pack(
        context, KnowledgePhase.AFTER, [(each, _own_part(context, each)) for each in after]
    )


def _pack(
    context: Context, phase: KnowledgePhase, pairs: Sequence[tuple[Candidate, IdeaPart]]
) -> list[_Batch]:
    """In calls of `items_per_grounding_call`; items without any text stand apart, because nobody is
    asked about them.
    """
    readable = [pair for pair in pairs if pair[0].shown().strip()]
    unreadable = [pair for pair in pairs if not pair[0].shown().strip()]
    packs = [
        *even_batches(readable, context.parameters.items_per_grounding_call),
        *([unreadable] if unreadable else []),
    ]
    keys = [assign_keys(pack) for pack in packs]
    return [
        _Batch(
            phase,
            {key: each for key, (each, _) in pack.items()},
            {key: part for key, (_, part) in pack.items()},
        )
        for pack in keys
    ]


def _own_part(context: Context, candidate: Candidate) -> IdeaPart:
    """The part it was searched for first, where its kind bears on that part."""
    searched_parts = context.outline.searched(candidate.item.kind)
    return candidate.query.part if candidate.query.part in searched_parts else searched_parts[0]


async def _ask_batch(context: Context, batch: _Batch) -> Outcome[GroundingReply] | None:
    """None where the items hold no text: there is nothing to ask about."""
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
    """The columns that say what an item says of its part, or why that is not known."""
    if outcome is None:
        detail = "neither its source nor its reading gives any text"
        provenance = unasked_provenance(GROUND_EVIDENCE, context.engine)
        return _unscored(Unscored(Reason.NO_EVIDENCE, detail, provenance))
    if isinstance(outcome, Unscored):
        return _unscored(outcome)
    if entry is None:
        detail = "the reply has no usable entry for it"
        context.failures.omission(batch.subject, f"{detail} among {len(batch.items)} items")
        return _unscored(Unscored(Reason.REPLY_UNPARSABLE, detail, outcome.provenance))
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


def _unscored(why: Unscored) -> dict[str, Any]:
    return {
        "relation": None,
        "unscored_reason": why.reason,
        "unscored_detail": why.detail,
        "provenance": why.provenance,
    }
