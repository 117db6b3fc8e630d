"""Curated sets: ideas with their statements and sentences, for people to word and correct."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime

import streamlit as st

from dashboards.app import empty, state, text
from dashboards.app.access import check_may, may, services_of
from dashboards.app.data import Lake
from dashboards.render import figures, wording
from dashboards.views.curated_set import CuratedSet
from schemas.errors import AssayError, NotAllowedError
from schemas.identifiers import RunId
from schemas.people.role import Action
from schemas.works.curation import (
    CuratedStatement,
    Curation,
    StatementAxis,
    StatementSeverity,
    StatementType,
)
from schemas.works.curation_edit import ADDED, NO, YES, CurationEdit, EditedField
from schemas.works.curation_run import CURATIONS, CurationHead
from warehouse.app.people import pseudonym_of
from warehouse.kinds.curations.edits import (
    Value,
    edited,
    edits_of,
    record_edits,
    sentences_offered,
    values_of,
    values_seen,
    with_added,
)
from warehouse.queries import Queries
from warehouse.units.kind import kind_of

_SAID = "what became of the last save"
_PARTS = (EditedField.PROBLEM, EditedField.METHOD, EditedField.EXPERIMENT)
_CHOICES = {
    EditedField.TYPE: tuple(StatementType),
    EditedField.AXIS: tuple(StatementAxis),
    EditedField.SEVERITY: tuple(StatementSeverity),
}
_LONGEST_PART, _LONGEST_STATEMENT = 20_000, 2_000


def show(lake: Lake) -> None:
    """One set, one of its papers: what it gave, what was left out, and a form for who may edit."""
    heads = lake.heads(kind_of(CURATIONS))
    if not heads:
        empty.show(
            "No set of rated ideas has been made here yet.",
            f"assay curate papers reviews --warehouse {lake.warehouse.address}",
        )
        return
    _tell_last()
    chosen = state.choose(
        "Set", list(heads), key="curation", shown=lambda name: _title(heads[name])
    )
    given, edits = lake.units(kind_of(CURATIONS), RunId(chosen)), lake.ask(_edits, RunId(chosen))
    found = CuratedSet(heads[chosen], tuple(edited(each, edits) for each in given), edits)
    for banner in wording.banners(heads[chosen].engine, ""):
        st.caption(text.line(banner))
    ideas = figures.counted(len(found.kept), "idea")
    st.markdown(f"**{ideas}, {figures.counted(found.statement_count, 'statement')}**")
    _shares(found)
    papers = {each.paper_id: each for each in found.curations}
    wanted = state.choose(
        "Paper", list(papers), key="paper", shown=lambda name: papers[name].title or name
    )
    before = next(each for each in given if each.paper_id == wanted)
    _paper(lake, heads[chosen], before, edited(before, edits), edits)


def _edits(queries: Queries, run_id: RunId) -> tuple[CurationEdit, ...]:
    return edits_of(queries.connection, run_id)


def _title(head: CurationHead) -> str:
    count = figures.counted(head.paper_count, "paper")
    return f"{head.started_at:%Y-%m-%d %H:%M} · {count} · {head.engine}"


def _shares(found: CuratedSet) -> None:
    if not found.shares:
        return
    with st.expander(f"What {figures.counted(found.editors, 'person', 'people')} changed"):
        for share in found.shares:
            published = (
                f"; of ScholarIdeas {figures.percent(share.published_0_to_1)}"
                if share.published_0_to_1 is not None
                else ""
            )
            changed = figures.percent(share.share_0_to_1)
            looked_at = f"{share.changed_count:,} of {share.looked_at_count:,} looked at"
            st.markdown(f"- {share.name}: {changed} ({looked_at}){published}")


def _paper(
    lake: Lake,
    head: CurationHead,
    before: Curation,
    now: Curation,
    edits: tuple[CurationEdit, ...],
) -> None:
    st.caption(
        text.line(
            f"{now.used_review_count} of {now.review_count} reviews used ·"
            f" {figures.counted(now.sentence_count, 'sentence')} about the idea ·"
            f" licence {now.licence or 'not stated'}"
        )
    )
    if now.dropped_reason is not None:
        why = wording.reason(now.dropped_reason)
        st.warning(text.line(f"No part of the set: {why}; {now.dropped_detail}."))
    elif may(lake.warehouse, Action.DECIDE):
        _edit(lake, head, before, edits)
    else:
        _read(now)
    _left_out(now)


def _read(curation: Curation) -> None:
    for part in _PARTS:
        st.subheader(part.value.capitalize(), anchor=False)
        st.markdown(text.prose(getattr(curation, part.value)))
    st.subheader("Statements", anchor=False)
    for statement in curation.statements:
        kind = f"{statement.severity.value} {statement.type.value}, {statement.axis.value}"
        st.markdown(f"**{kind}:** {text.line(statement.statement)}")
        _sentences(curation, statement)
    st.caption("Who edits signs in as a decider; whoever runs this dashboard makes the account.")


def _sentences(curation: Curation, statement: CuratedStatement) -> None:
    sentences = {each.sentence_id: each for each in curation.sentences}
    for name in statement.sentence_ids:
        own = sentences[name]
        st.caption(text.line(f"{own.review_id}: “{own.text}”"))


def _edit(
    lake: Lake, head: CurationHead, before: Curation, edits: tuple[CurationEdit, ...]
) -> None:
    """The form: as people have it for who words the set, as the engine had it for blind readers."""
    scope = f"{head.run_id} {before.paper_id}"
    blind = st.toggle(
        "Second reading, blind",
        key=f"{scope} blind",
        help=(
            "What others changed is not shown, and what you save is not in the set: it says how far"
            " two people agree, in the datasheet that the next `assay curate` writes."
        ),
    )
    if blind:
        person = check_may(lake.warehouse, Action.DECIDE)
        own = pseudonym_of(services_of(lake.warehouse), person.name) if person is not None else ""
        _form(lake, head, before, values_seen(before, edits, blind_of=own), blind=True)
        return
    whole = with_added(before, edits)
    _form(lake, head, whole, values_seen(whole, edits), blind=False)
    _add_form(lake, head, before)


def _form(
    lake: Lake, head: CurationHead, before: Curation, values: Mapping[Value, str], *, blind: bool
) -> None:
    """Everything that can be edited; saving says that all of it was looked at."""
    scope = f"{head.run_id} {before.paper_id}{' blind reading' if blind else ''}"
    with st.form(f"edit {scope}"):
        for part in _PARTS:
            st.text_area(
                part.value.capitalize(),
                values["", part],
                key=_key(scope, ("", part)),
                max_chars=_LONGEST_PART,
            )
        for statement in before.statements:
            name = statement.statement_id
            _sentences(before, statement)
            st.text_area(
                f"Statement {name}",
                values[name, EditedField.STATEMENT],
                key=_key(scope, (name, EditedField.STATEMENT)),
                max_chars=_LONGEST_STATEMENT,
            )
            row = st.columns(len(_CHOICES) + 1)
            for column, (field, words) in zip(row, _CHOICES.items(), strict=False):
                options = [word.value for word in words]
                column.selectbox(
                    f"{field.value.capitalize()} of {name}",
                    options,
                    index=options.index(values[name, field]),
                    key=_key(scope, (name, field)),
                )
            row[-1].checkbox(
                f"{name} is part of the set",
                values[name, EditedField.KEPT] != NO,
                key=_key(scope, (name, EditedField.KEPT)),
            )
        st.form_submit_button("Save", on_click=_save, args=(lake, head, before, scope, blind))


def _add_form(lake: Lake, head: CurationHead, before: Curation) -> None:
    """A statement that the engine did not make, of sentences that stand in the reviews."""
    scope = f"{head.run_id} {before.paper_id} added"
    offered = {each.sentence_id: each for each in sentences_offered(before)}

    def shown(name: str) -> str:
        return text.line(f"{name} · {offered[name].review_id}: {offered[name].text}")

    with (
        st.expander("Add a statement that is missing"),
        st.form(f"add {scope}", clear_on_submit=True),
    ):
        st.multiselect(
            "Sentences it says",
            list(offered),
            format_func=shown,
            key=_key(scope, ("", EditedField.SENTENCES)),
        )
        st.text_area(
            "New statement",
            key=_key(scope, ("", EditedField.STATEMENT)),
            max_chars=_LONGEST_STATEMENT,
        )
        for column, (field, words) in zip(st.columns(len(_CHOICES)), _CHOICES.items(), strict=True):
            options = [word.value for word in words]
            label = f"{field.value.capitalize()} of the new statement"
            column.selectbox(label, options, key=_key(scope, ("", field)))
        st.form_submit_button("Add", on_click=_add, args=(lake, head, before, scope))


def _key(scope: str, value: Value) -> str:
    return f"{scope} {value[0]} {value[1].value}"


def _save(lake: Lake, head: CurationHead, before: Curation, scope: str, blind: bool) -> None:
    """Write down each field as it stands in the form, changed or not."""
    told = {
        value: (given, _entered(scope, value, given)) for value, given in values_of(before).items()
    }
    changed = sum(given.split() != after.split() for given, after in told.values())
    said = f"{figures.counted(len(told), 'field')} saved, {changed:,} of them changed."
    _record(lake, head, before, told, said, is_blind=blind)


def _add(lake: Lake, head: CurationHead, before: Curation, scope: str) -> None:
    """Write down a new statement, of which nothing was before."""
    fields = (EditedField.STATEMENT, *_CHOICES)
    entered = {field: str(st.session_state.get(_key(scope, ("", field)), "")) for field in fields}
    named = st.session_state.get(_key(scope, ("", EditedField.SENTENCES)), [])
    if not entered[EditedField.STATEMENT].strip() or not named:
        lacking = "say what it says, and choose the sentences that say it in the reviews"
        st.session_state[_SAID] = (False, f"The statement was not added: {lacking}.")
        return
    entered[EditedField.SENTENCES] = " ".join(named)
    name = f"{ADDED}{secrets.token_hex(4)}"
    told = {(name, field): ("", after) for field, after in entered.items()}
    _record(lake, head, before, told, "The statement is part of the set.", is_blind=False)


def _record(
    lake: Lake,
    head: CurationHead,
    before: Curation,
    told: Mapping[Value, tuple[str, str]],
    said: str,
    *,
    is_blind: bool,
) -> None:
    """Write down what was before and after of each value, and say so."""
    try:
        person = check_may(lake.warehouse, Action.DECIDE)
        if person is None:
            raise NotAllowedError("sign in to edit: what is changed bears a name")
        database = services_of(lake.warehouse)
        editor, now = pseudonym_of(database, person.name), datetime.now(UTC)
        edits = [
            CurationEdit(
                edit_id=f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(6)}",
                run_id=head.run_id,
                paper_id=before.paper_id,
                statement_id=value[0],
                field=value[1],
                before=given,
                after=after,
                editor=editor,
                edited_at=now,
                is_blind=is_blind,
            )
            for value, (given, after) in told.items()
        ]
        record_edits(lake.warehouse, database, edits)
    except AssayError as error:
        st.session_state[_SAID] = (False, str(error))
    else:
        st.session_state[_SAID] = (True, said)


def _entered(scope: str, value: Value, given: str) -> str:
    """What stands in the form; an emptied statement is the one that was given."""
    entered = st.session_state.get(_key(scope, value), given)
    if isinstance(entered, bool):
        return YES if entered else NO
    told = str(entered)
    needed = value[1] not in (EditedField.EXPERIMENT,)
    return given if needed and not told.strip() else told


def _left_out(curation: Curation) -> None:
    if not curation.drops:
        return
    with st.expander(f"Left out: {len(curation.drops):,}"):
        for each in curation.drops:
            where = f"{each.left_out_of.value} {each.subject}".strip()
            st.caption(text.line(f"{where}: {each.detail}"))
            st.markdown(text.line(each.text))


def _tell_last() -> None:
    taken, said = st.session_state.pop(_SAID, (True, ""))
    if said and taken:
        st.success(text.line(said), icon=":material/check:")
    elif said:
        st.warning(text.line(said), icon=":material/block:")
