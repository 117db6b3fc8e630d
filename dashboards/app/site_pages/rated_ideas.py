"""Page “Rated ideas”: curated sets for people to edit."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from dashboards.app.access import services_of
from dashboards.app.fields import Field, option_in_address
from dashboards.app.site import PageContent, Visit, controls, with_query
from dashboards.app.site_pages.operate import operate_page
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
from warehouse.kinds.curation_edits import (
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


def show(visit: Visit) -> PageContent:
    """Show a paper of a set, what was left out, and for editors a form."""
    lake = visit.lake
    heads = lake.heads(kind_of(CURATIONS))
    if not heads:
        none = pg.text("No set of rated ideas has been made here yet: ",
                       pg.code("assay curate PAPERS REVIEWS"), " makes one.")  # fmt: skip
        return operate_page(visit, "Rated ideas", (none,))
    name = option_in_address(visit, "set", list(heads), next(iter(heads)))
    curations, edits = _set_of(visit, name)
    head, papers = heads[name], list(curations)
    paper = option_in_address(visit, "paper", papers, papers[0])
    may_edit = visit.may(Action.DECIDE)
    curated_set = CuratedSet(
        head, tuple(apply_edits(each, edits) for each in curations.values()), edits
    )
    current = apply_edits(curations[paper], edits)
    blocks: list[pg.Block] = [
        pg.facts(figures.plural(len(curated_set.included_papers), "idea"),
                 figures.plural(curated_set.statement_count, "statement"), f"engine {head.engine}"),
        *map(pg.note, wording.banners(head.engine, "")),
    ]  # fmt: skip
    editor = Markup()
    if current.dropped_reason is not None:
        reason = wording.reason(current.dropped_reason)
        blocks.append(pg.note(f"No part of the set: {reason}; {current.dropped_detail}."))
        blocks += idea_blocks(current)
    elif may_edit:
        editor = _editor(visit, name, curations[paper], edits)
        visible = curations[paper] if visit.query.get("blind") == "1" else current
        blocks.append(
            pg.Fold("The current idea, and what was left out", tuple(idea_blocks(visible)))
        )
    else:
        blocks += idea_blocks(current)
        blocks.append(pg.text("Sign in as a decider to edit; whoever runs this dashboard makes"
                              " the account."))  # fmt: skip
    blocks += changes(curated_set)
    titles = [(each, curations[each].title or each) for each in papers]
    sets = [
        (
            each,
            f"{figures.moment(set_head.started_at)} · {figures.plural(set_head.paper_count, 'paper')}",
        )
        for each, set_head in heads.items()
    ]
    return operate_page(
        visit, "Rated ideas", blocks,
        Field("set", "Set", name, sets[0][0], sets) if len(sets) > 1 else None,
        Field("paper", "Paper", paper, papers[0], titles) if len(papers) > 1 else None,
        Field("blind", "Reading", visit.query.get("blind", ""), "",
              [("", "words the set"), ("1", "second, blind")]) if may_edit else None,
        form_below=editor,
    )  # fmt: skip


def _set_of(visit: Visit, name: str) -> tuple[dict[str, Curation], tuple[CurationEdit, ...]]:
    """Return the papers of a set as the engine made them, and the edits."""
    curations = visit.lake.units(kind_of(CURATIONS), RunId(name))
    return {each.paper_id: each for each in curations}, visit.lake.ask(edits_of_set, RunId(name))


def edits_of_set(queries: Queries, run_id: RunId) -> tuple[CurationEdit, ...]:
    """Return all edits of a set, oldest first."""
    return edits_of(queries.connection, run_id)


def _notice(visit: Visit) -> str:
    saved_count, changed_count = visit.query.get("saved", ""), visit.query.get("changed", "0")
    if visit.query.get("added") == "1":
        return "The statement is part of the set."
    if (
        saved_count.isdecimal()
        and changed_count.isdecimal()
        and len(saved_count + changed_count) < 12
    ):
        fields = figures.plural(int(saved_count), "field")
        return f"{fields} saved, {int(changed_count):,} of them changed."
    return ""


def _editor(visit: Visit, name: str, curation: Curation, edits: Sequence[CurationEdit]) -> Markup:
    """Return the edit forms: current values, or for blind editors the engine's."""
    blind = visit.query.get("blind") == "1"
    base = curation if blind else add_statements(curation, edits)
    editor = visit.pseudonym if blind else None
    values = current_values(base, edits, blind_of=editor)
    sentence_of = {each.sentence_id: (each.review_id, each.text) for each in base.sentences}
    statements = [
        {
            "id": each.statement_id,
            "sentences": [sentence_of[sentence] for sentence in each.sentence_ids],
            "text": values[each.statement_id, EditedField.STATEMENT],
            "choices": [
                (field.value, options, values[each.statement_id, field])
                for field, options in _CHOICES.items()
            ],
            "kept": values[each.statement_id, EditedField.KEPT] != NO,
        }
        for each in base.statements
    ]
    return controls(
        "rated",
        path=PATH, notice=_notice(visit), set=name, paper=curation.paper_id, blind="1" if blind else "",
        parts=[(each.value, values["", each]) for each in _PARTS],
        statements=statements, choices=[(each.value, words) for each, words in _CHOICES.items()],
        offered=citable_sentences(curation), text_of=unturned,
        longest_part=LONGEST_PART, longest_statement=LONGEST_STATEMENT,
    )  # fmt: skip


def save(visit: Visit) -> PageContent | Response:
    """Record every field of the form, changed or not, or a new statement.

    Raises:
        UnknownNameError: there is no such set or paper.
        ConfigurationError: a field has an invalid value.
    """
    name, blind = visit.form_text("set"), visit.form_text("blind") == "1"
    if name not in visit.lake.heads(kind_of(CURATIONS)):
        raise UnknownNameError(f"there is no set of rated ideas “{name[:100]}”")
    papers, edits = _set_of(visit, name)
    curation = papers.get(visit.form_text("paper"))
    if curation is None or curation.dropped_reason is not None:
        raise UnknownNameError(f"no paper of this name can be edited in set {name}")
    place = {"set": name, "paper": curation.paper_id, "blind": "1" if blind else ""}
    if visit.form_text("action") == "add":
        changes_made = _new_statement(visit, curation)
        _record(visit, name, curation, changes_made, is_blind=False)
        return RedirectResponse(with_query(PATH, **place, added="1"), 303)
    base = curation if blind else add_statements(curation, edits)
    changes_made = {
        value: (was, new_text)
        for value, was in values_of(base).items()
        if (new_text := _form_value(visit, value, was)) is not None
    }
    _record(visit, name, curation, changes_made, is_blind=blind)
    changed_count = sum(was.split() != after.split() for was, after in changes_made.values())
    return RedirectResponse(
        with_query(PATH, **place, saved=len(changes_made), changed=changed_count), 303
    )


def _form_value(visit: Visit, value: Value, old_text: str) -> str | None:
    """Return a form value; an emptied statement keeps its old text."""
    statement, field = value
    assert visit.form is not None
    if f"{statement}.{EditedField.STATEMENT if statement else field}" not in visit.form:
        return None  # added after the form was opened
    if field is EditedField.KEPT:
        return YES if visit.form_text(f"{statement}.{field}") else NO
    text = _read_field(visit, f"{statement}.{field}", field)
    is_empty = field is not EditedField.EXPERIMENT and not text.strip()
    # Pages drop bidirectional controls, so the form comes back without them.
    return old_text if is_empty or text.split() == unturned(old_text).split() else text


def _read_field(visit: Visit, name: str, field: EditedField) -> str:
    text = visit.form_text(name).replace("\r\n", "\n")
    longest = LONGEST_PART if field in _PARTS else LONGEST_STATEMENT
    if len(text) > longest:
        raise ConfigurationError(f"{field.value}: write at most {longest:,} characters")
    if field in _CHOICES and text not in _CHOICES[field]:
        raise ConfigurationError(f"{field.value}: choose one of {', '.join(_CHOICES[field])}")
    return text


def _new_statement(visit: Visit, curation: Curation) -> dict[Value, tuple[str, str]]:
    """Return the values of an added statement, each with an empty old value."""
    assert visit.form is not None
    values = {field: _read_field(visit, f"new.{field}", field)
               for field in (EditedField.STATEMENT, *_CHOICES)}  # fmt: skip
    offered_ids = [each.sentence_id for each in citable_sentences(curation)]
    sentence_ids = [each for each in offered_ids if each in visit.form.getlist("new.sentences")]
    if not values[EditedField.STATEMENT].strip() or not sentence_ids:
        raise ConfigurationError(
            "the statement was not added: say what it says, and choose the sentences that say it"
            " in the reviews"
        )
    values[EditedField.SENTENCES] = " ".join(sentence_ids)
    name = f"{ADDED}{secrets.token_hex(4)}"
    return {(name, field): ("", after) for field, after in values.items()}


def _record(
    visit: Visit,
    name: str,
    curation: Curation,
    changes_made: Mapping[Value, tuple[str, str]],
    *,
    is_blind: bool,
) -> None:
    editor, now = visit.pseudonym, datetime.now(UTC)
    edits = [
        CurationEdit(
            edit_id=f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(6)}",
            run_id=RunId(name),
            paper_id=curation.paper_id,
            statement_id=statement,
            field=field,
            before=before,
            after=after,
            editor=editor,
            edited_at=now,
            is_blind=is_blind,
        )
        for (statement, field), (before, after) in changes_made.items()
    ]
    record_edits(visit.lake.warehouse, services_of(visit.lake.warehouse), edits)
