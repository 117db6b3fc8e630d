"""How an audit is told."""

import dataclasses

import orjson

from flows.cli.answer import print_answer
from flows.cli.output import print_table
from flows.cli.talk import print_note, print_warning
from flows.works.literature.auditing import Audited
from schemas.literature.audit import Action, Proposal

_TITLE_CHARACTERS = 40
_VALUE_CHARACTERS = 60


def print_audit(audited: Audited, *, as_json: bool) -> None:
    shown = audited.standing
    waiting = sum(each["proposed"] + each["without_remedy"] for each in shown.counts)
    if as_json:
        print_answer(
            "findings" if waiting else "in_order",
            shown.proposals,
            warnings=audited.warnings,
            fingerprint=shown.fingerprint,
            rules=shown.counts,
            decided=dataclasses.asdict(audited.decided),
        )
        return
    for line in audited.warnings:
        print_warning(line)
    done = audited.decided
    for count, word in (
        (len(done.accepted), "accepted"),
        (len(done.rejected), "rejected"),
        (len(done.undone), "taken back"),
    ):
        if count:
            print_note(f"{count:,} {word}")
    print_note(f"snapshot {shown.fingerprint[:12]}: {waiting:,} open")
    names = ("rule", "proposed", "without_remedy", "accepted", "rejected", "undone")
    print_table(
        [name.replace("_", " ") for name in names],
        [[each[name] for name in names] for each in shown.counts],
    )
    if shown.proposals:
        print_table(
            ["proposal", "sure", "rule", "paper", "change", "why"],
            [_line(each) for each in shown.proposals],
        )


def _line(proposal: Proposal) -> list[str]:
    return [
        proposal.proposal_id,
        f"{proposal.confidence_0_to_1:.2f}",
        proposal.rule,
        _cut(proposal.title, _TITLE_CHARACTERS),
        _change(proposal),
        proposal.evidence,
    ]


def _change(proposal: Proposal) -> str:
    old, new = (_value(each) for each in (proposal.old, proposal.new))
    if proposal.action is Action.MERGE:
        return f"merge {old} into {new}"
    if proposal.action is Action.REMOVE_REFERENCE:
        return f"remove entry {old} of the reference list"
    right = "?" if proposal.action is Action.NONE else new
    return f"{proposal.field}: {old} → {right}"


def _value(text: str | None) -> str:
    try:
        value = None if text is None else orjson.loads(text)
    except orjson.JSONDecodeError:  # nothing that an audit writes
        value = text
    if value in (None, []):
        return "nothing"
    return _cut(
        ", ".join(map(str, value)) if isinstance(value, list) else str(value), _VALUE_CHARACTERS
    )


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"
