"""Rated ideas: sets of ideas with statements and sentences, for people to word and correct."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from dashboards.app.access import services_of
from dashboards.app.choosing import Field, chosen
from dashboards.app.site import Shown, Visit, controls, with_query
from dashboards.app.site_pages.operate import part
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.views.curated_set import CuratedSet, changes
from dashboards.views.write_curation import idea_blocks
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import RunId
from schemas.literature.naming import unturned
from schemas.people.role import Action
from schemas.works.curation import Curation, StatementAxis, StatementSeverity, StatementType
from schemas.works.curation_edit import ADDED, NO, YES, CurationEdit, EditedField
from schemas.works.curation_run import CURATIONS
from warehouse.kinds.curations.edits import (
    Value,
    add_statements,
    apply_edits,
    citable_sentences,
    current_values,
    edits_of,
    record_edits,
    values_of,
)
from warehouse.queries import Queries
from warehouse.units.kind import kind_of

PATH = "/operate/rated"
LONGEST_PART, LONGEST_STATEMENT = 20_000, 2_000
_PARTS = (EditedField.PROBLEM, EditedField.METHOD, EditedField.EXPERIMENT)
_CHOICES: dict[EditedField, list[str]] = {
    EditedField.TYPE: [word.value for word in StatementType],
    EditedField.AXIS: [word.value for word in StatementAxis],
    EditedField.SEVERITY: [word.value for word in StatementSeverity],
}


def show(visit: Visit) -> Shown:
    """One paper of one set: what it gave, what was left out, and a form for who may edit."""
    lake = visit.lake
    heads = lake.heads(kind_of(CURATIONS))
    if not heads:
        none = pg.text("No set of rated ideas has been made here yet: ",
                       pg.code("assay curate PAPERS REVIEWS"), " makes one.")  # fmt: skip
        return part(visit, "Rated ideas", (none,))
    name = chosen(visit, "set", list(heads), next(iter(heads)))
    given, edits = _set_of(visit, name)
    head, papers = heads[name], list(given)
    paper = chosen(visit, "paper", papers, papers[0])
    may_edit = visit.may(Action.DECIDE)
    found = CuratedSet(head, tuple(apply_edits(each, edits) for each in given.values()), edits)
    now = apply_edits(given[paper], edits)
    blocks: list[pg.Block] = [
        pg.facts(figures.counted(len(found.kept), "idea"),
                 figures.counted(found.statement_count, "statement"), f"engine {head.engine}"),
        *map(pg.note, wording.banners(head.engine, "")),
    ]  # fmt: skip
    editor = Markup()
    if now.dropped_reason is not None:
        why = wording.reason(now.dropped_reason)
        blocks.append(pg.note(f"No part of the set: {why}; {now.dropped_detail}."))
        blocks += idea_blocks(now)
    elif may_edit:
        editor = _editor(visit, name, given[paper], edits)
        seen = given[paper] if visit.query.get("blind") == "1" else now
        blocks.append(
            pg.Fold("The idea as it stands, and what was left out", tuple(idea_blocks(seen)))
        )
    else:
        blocks += idea_blocks(now)
        blocks.append(pg.text("Who edits signs in as a decider; whoever runs this dashboard makes"
                              " the account."))  # fmt: skip
    blocks += changes(found)
    titles = [(each, given[each].title or each) for each in papers]
    sets = [
        (each, f"{own.started_at:%Y-%m-%d %H:%M} · {figures.counted(own.paper_count, 'paper')}")
        for each, own in heads.items()
    ]
    return part(
        visit, "Rated ideas", blocks,
        Field("set", "Set", name, sets[0][0], sets) if len(sets) > 1 else None,
        Field("paper", "Paper", paper, papers[0], titles) if len(papers) > 1 else None,
        Field("blind", "Reading", visit.query.get("blind", ""), "",
              [("", "words the set"), ("1", "second, blind")]) if may_edit else None,
        below=editor,
    )  # fmt: skip


def _set_of(visit: Visit, name: str) -> tuple[dict[str, Curation], tuple[CurationEdit, ...]]:
    """Papers of a set as the engine had them, and what people changed."""
    given = visit.lake.units(kind_of(CURATIONS), RunId(name))
    return {each.paper_id: each for each in given}, visit.lake.ask(edits_of_set, RunId(name))


def edits_of_set(queries: Queries, run_id: RunId) -> tuple[CurationEdit, ...]:
    """All edits of a set, oldest first."""
    return edits_of(queries.connection, run_id)


def _saved(visit: Visit) -> str:
    """What became of the form that led here."""
    saved, changed = visit.query.get("saved", ""), visit.query.get("changed", "0")
    if visit.query.get("added") == "1":
        return "The statement is part of the set."
    if saved.isdecimal() and changed.isdecimal() and len(saved + changed) < 12:
        fields = figures.counted(int(saved), "field")
        return f"{fields} saved, {int(changed):,} of them changed."
    return ""


def _editor(visit: Visit, name: str, given: Curation, edits: Sequence[CurationEdit]) -> Markup:
    """The forms: as people have it for who words the set, as the engine had it for who is blind."""
    blind = visit.query.get("blind") == "1"
    before = given if blind else add_statements(given, edits)
    own = visit.pseudonym if blind else None
    values = current_values(before, edits, blind_of=own)
    said = {each.sentence_id: (each.review_id, each.text) for each in before.sentences}
    statements = [
        {
            "id": each.statement_id,
            "sentences": [said[sentence] for sentence in each.sentence_ids],
            "text": values[each.statement_id, EditedField.STATEMENT],
            "choices": [
                (field.value, options, values[each.statement_id, field])
                for field, options in _CHOICES.items()
            ],
            "kept": values[each.statement_id, EditedField.KEPT] != NO,
        }
        for each in before.statements
    ]
    return controls(
        "rated",
        path=PATH, said=_saved(visit), set=name, paper=given.paper_id, blind="1" if blind else "",
        parts=[(each.value, values["", each]) for each in _PARTS],
        statements=statements, choices=[(each.value, words) for each, words in _CHOICES.items()],
        offered=citable_sentences(given), text_of=unturned,
        longest_part=LONGEST_PART, longest_statement=LONGEST_STATEMENT,
    )  # fmt: skip


def save(visit: Visit) -> Shown | Response:
    """Write down each field as it stands in the form, changed or not, or a new statement.

    Raises:
        UnknownNameError: there is no such set or paper.
        ConfigurationError: a field holds what it cannot.
    """
    name, blind = visit.word("set"), visit.word("blind") == "1"
    if name not in visit.lake.heads(kind_of(CURATIONS)):
        raise UnknownNameError(f"there is no set of rated ideas “{name[:100]}”")
    papers, edits = _set_of(visit, name)
    given = papers.get(visit.word("paper"))
    if given is None or given.dropped_reason is not None:
        raise UnknownNameError(f"no paper of this name can be edited in set {name}")
    place = {"set": name, "paper": given.paper_id, "blind": "1" if blind else ""}
    if visit.word("action") == "add":
        told = _new_statement(visit, given)
        _record(visit, name, given, told, is_blind=False)
        return RedirectResponse(with_query(PATH, **place, added="1"), 303)
    before = given if blind else add_statements(given, edits)
    told = {
        value: (was, entered)
        for value, was in values_of(before).items()
        if (entered := _entered(visit, value, was)) is not None
    }
    _record(visit, name, given, told, is_blind=blind)
    changed = sum(was.split() != after.split() for was, after in told.values())
    return RedirectResponse(with_query(PATH, **place, saved=len(told), changed=changed), 303)


def _entered(visit: Visit, value: Value, given: str) -> str | None:
    """What stands in the form; an emptied statement is the one that was given."""
    statement, field = value
    assert visit.sent is not None
    if f"{statement}.{EditedField.STATEMENT if statement else field}" not in visit.sent:
        return None  # it came to be after the form was opened
    if field is EditedField.KEPT:
        return YES if visit.word(f"{statement}.{field}") else NO
    told = _checked(visit, f"{statement}.{field}", field)
    emptied = field is not EditedField.EXPERIMENT and not told.strip()
    # A page shows no character that turns the reading order, so a form sends none back.
    return given if emptied or told.split() == unturned(given).split() else told


def _checked(visit: Visit, name: str, field: EditedField) -> str:
    told = visit.word(name).replace("\r\n", "\n")
    longest = LONGEST_PART if field in _PARTS else LONGEST_STATEMENT
    if len(told) > longest:
        raise ConfigurationError(f"{field.value}: write at most {longest:,} characters")
    if field in _CHOICES and told not in _CHOICES[field]:
        raise ConfigurationError(f"{field.value}: choose one of {', '.join(_CHOICES[field])}")
    return told


def _new_statement(visit: Visit, given: Curation) -> dict[Value, tuple[str, str]]:
    """Of which nothing was before."""
    assert visit.sent is not None
    entered = {field: _checked(visit, f"new.{field}", field)
               for field in (EditedField.STATEMENT, *_CHOICES)}  # fmt: skip
    offered = [each.sentence_id for each in citable_sentences(given)]
    named = [each for each in offered if each in visit.sent.getlist("new.sentences")]
    if not entered[EditedField.STATEMENT].strip() or not named:
        raise ConfigurationError(
            "the statement was not added: say what it says, and choose the sentences that say it"
            " in the reviews"
        )
    entered[EditedField.SENTENCES] = " ".join(named)
    name = f"{ADDED}{secrets.token_hex(4)}"
    return {(name, field): ("", after) for field, after in entered.items()}


def _record(
    visit: Visit,
    name: str,
    given: Curation,
    told: Mapping[Value, tuple[str, str]],
    *,
    is_blind: bool,
) -> None:
    """Write down what was before and after of each value."""
    editor, now = visit.pseudonym, datetime.now(UTC)
    edits = [
        CurationEdit(
            edit_id=f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(6)}",
            run_id=RunId(name),
            paper_id=given.paper_id,
            statement_id=statement,
            field=field,
            before=before,
            after=after,
            editor=editor,
            edited_at=now,
            is_blind=is_blind,
        )
        for (statement, field), (before, after) in told.items()
    ]
    record_edits(visit.lake.warehouse, services_of(visit.lake.warehouse), edits)
