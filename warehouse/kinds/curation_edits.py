"""Edits of curated sets by people.

Edits are recorded at once, copied to the lake, and applied to what is displayed and exported.
Landed units are not changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations

from schemas.base import replace
from schemas.errors import TransientError
from schemas.identifiers import RunId
from schemas.outcome import Provenance
from schemas.works.curation import (
    CuratedSentence,
    CuratedStatement,
    Curation,
    DroppedPart,
    StatementAxis,
    StatementSeverity,
    StatementType,
    idea_text,
)
from schemas.works.curation_edit import (
    ADDED,
    NO,
    YES,
    CurationEdit,
    EditedField,
    EditShare,
)
from warehouse.app.database import ServiceDatabase
from warehouse.app.records import fold_into_lake, record
from warehouse.catalogue.connection import Connection
from warehouse.lake import rows_in
from warehouse.rows import noun_of
from warehouse.statements import statement
from warehouse.warehouse import Warehouse

TABLE_NAME = "curation_edits"
PUBLISHED_IDEAS, PUBLISHED_STATEMENTS = 0.134, 0.791
"""Shares that the experts of ScholarIdeas edited (ScholarEval, Table 6)."""
PERSON = "person"
"""Engine of a statement that a person added."""
_SET = ""
"""Reader name for the edits of the set itself, by whichever person."""
_FOLD_WAIT_SECONDS = 2.0
_PARTS = (EditedField.PROBLEM, EditedField.METHOD, EditedField.EXPERIMENT)
_OF_ADDED = {
    EditedField.STATEMENT,
    EditedField.TYPE,
    EditedField.AXIS,
    EditedField.SEVERITY,
    EditedField.SENTENCES,
}

Value = tuple[str, EditedField]
"""Statement id (empty: the idea) and field."""


def record_edits(
    warehouse: Warehouse, database: ServiceDatabase, edits: Sequence[CurationEdit]
) -> None:
    """Record a person's edits in one transaction, and copy them to the lake.

    If a publisher holds the lock, they enter the lake with the next publication.

    Raises:
        ConflictError: one of them exists already.
        ConfigurationError: the database or the catalogue cannot be used.
    """
    with database.transaction() as work:
        for each in edits:
            record(work, TABLE_NAME, each)
    with suppress(TransientError):
        fold_into_lake(warehouse, wait_seconds=_FOLD_WAIT_SECONDS)


def edits_of(connection: Connection, run_id: RunId) -> tuple[CurationEdit, ...]:
    rows = rows_in(connection, statement("queries", "curation_edits"), {"run_id": run_id})
    return tuple(noun_of(CurationEdit, row) for row in rows)


def values_of(curation: Curation) -> dict[Value, str]:
    values: dict[Value, str] = {("", part): getattr(curation, part.value) for part in _PARTS}
    for each in curation.statements:
        values |= {
            (each.statement_id, EditedField.STATEMENT): each.statement,
            (each.statement_id, EditedField.TYPE): each.type.value,
            (each.statement_id, EditedField.AXIS): each.axis.value,
            (each.statement_id, EditedField.SEVERITY): each.severity.value,
            (each.statement_id, EditedField.KEPT): YES,
        }
    return values


def add_statements(curation: Curation, edits: Iterable[CurationEdit]) -> Curation:
    """Add the statements that people added, as first written, with their sentences."""
    by_name: dict[str, dict[EditedField, CurationEdit]] = {}
    for each in edits:
        is_added = each.statement_id.startswith(ADDED) and not each.is_blind
        if is_added and each.paper_id == curation.paper_id:
            by_name.setdefault(each.statement_id, {}).setdefault(each.field, each)
    complete = {name: fields for name, fields in by_name.items() if fields.keys() >= _OF_ADDED}
    if not complete or curation.dropped_reason is not None:
        return curation
    sentences_by_id = {each.sentence_id: each for each in citable_sentences(curation)}
    statements = [
        _added_statement(name, fields, tuple(sentences_by_id)) for name, fields in complete.items()
    ]
    existing_ids = {each.sentence_id for each in curation.sentences}
    used_ids = {name for each in statements for name in each.sentence_ids} - existing_ids
    return replace(
        curation,
        statements=(*curation.statements, *statements),
        statement_count=len(curation.statements) + len(statements),
        sentences=(
            *curation.sentences,
            *(sentences_by_id[name] for name in sentences_by_id if name in used_ids),
        ),
    )


def citable_sentences(curation: Curation) -> tuple[CuratedSentence, ...]:
    """Return the sentences that a statement may cite.

    These are the sentences about the idea, and the sentences of reviews that were left out, named
    d1, d2, …
    """
    texts = {each.review_id: each.text for each in curation.reviews}
    dropped_sentences = [
        (each.subject, each.text, texts[each.subject].find(each.text))
        for each in curation.drops
        if each.left_out_of is DroppedPart.SENTENCE and each.text and each.subject in texts
    ]
    quoted_sentences = [each for each in dropped_sentences if each[2] >= 0]
    return curation.sentences + tuple(
        CuratedSentence(sentence_id=f"d{number}", review_id=review_id, start=start, text=text)
        for number, (review_id, text, start) in enumerate(quoted_sentences, start=1)
    )


def _added_statement(
    name: str, edits: Mapping[EditedField, CurationEdit], offered_ids: Sequence[str]
) -> CuratedStatement:
    sentence_ids = edits[EditedField.SENTENCES].after.split()
    return CuratedStatement(
        statement_id=name,
        statement=edits[EditedField.STATEMENT].after,
        type=StatementType(edits[EditedField.TYPE].after),
        axis=StatementAxis(edits[EditedField.AXIS].after),
        severity=StatementSeverity(edits[EditedField.SEVERITY].after),
        sentence_ids=tuple(each for each in offered_ids if each in sentence_ids),
        is_verbatim=False,
        provenance=Provenance(
            step="",
            step_version=1,
            prompt_sha256="",
            engine=PERSON,
            model_requested=PERSON,
            model_answered=None,
            seed=None,
            created_at=edits[EditedField.STATEMENT].edited_at,
        ),
    )


def current_values(
    curation: Curation, edits: Iterable[CurationEdit], *, blind_of: str | None = None
) -> dict[Value, str]:
    """Return all editable values of a curated paper with the last edits applied.

    Args:
        blind_of: apply only this person's edits from a blind reading.
    """
    values = values_of(curation)
    for each in edits:
        applies = each.is_blind and each.editor == blind_of if blind_of else not each.is_blind
        place = each.statement_id, each.field
        if applies and each.paper_id == curation.paper_id and place in values:
            values[place] = each.after
    return values


def apply_edits(curation: Curation, edits: Sequence[CurationEdit]) -> Curation:
    """Apply the last edit of each value, without those of blind readers.

    A paper that was dropped from the set is returned unchanged.
    """
    extended_curation = add_statements(curation, edits)
    values = current_values(extended_curation, edits)
    if curation.dropped_reason is not None or values == values_of(curation):
        return curation
    statements = tuple(
        _edited_statement(each, values)
        for each in extended_curation.statements
        if values[each.statement_id, EditedField.KEPT] != NO
    )
    problem, method, experiment = (values["", part] for part in _PARTS)
    return replace(
        extended_curation,
        problem=problem,
        method=method,
        experiment=experiment,
        text=idea_text(curation.title, problem, method, experiment),
        statements=statements,
        statement_count=len(statements),
    )


def _edited_statement(statement: CuratedStatement, values: dict[Value, str]) -> CuratedStatement:
    name = statement.statement_id
    text = values[name, EditedField.STATEMENT]
    return replace(
        statement,
        statement=text,
        type=StatementType(values[name, EditedField.TYPE]),
        axis=StatementAxis(values[name, EditedField.AXIS]),
        severity=StatementSeverity(values[name, EditedField.SEVERITY]),
        is_verbatim=statement.is_verbatim and text.split() == statement.statement.split(),
    )


def edit_shares(edits: Sequence[CurationEdit]) -> tuple[EditShare, ...]:
    """Return the shares of edited papers, by ideas and statements, then by field."""
    set_edits = [each for each in edits if not each.is_blind]
    ideas = [each for each in set_edits if each.field.is_of_idea]
    statements = [each for each in set_edits if not each.field.is_of_idea]
    parts = (
        ("ideas", ideas, PUBLISHED_IDEAS),
        ("lists of statements", statements, PUBLISHED_STATEMENTS),
    )
    shares = [
        EditShare(
            name=name,
            looked_at_count=len({each.paper_id for each in part_edits}),
            changed_count=len({each.paper_id for each in part_edits if each.changed}),
            published_0_to_1=published_share,
        )
        for name, part_edits, published_share in parts
    ]
    for field in EditedField:
        if field is EditedField.SENTENCES:  # set only for added statements
            continue
        of_field = [
            each
            for each in set_edits
            if each.field is field and not each.statement_id.startswith(ADDED)
        ]
        viewed_items = {(each.paper_id, each.statement_id) for each in of_field}
        changed_items = {(each.paper_id, each.statement_id) for each in of_field if each.changed}
        shares.append(
            EditShare(
                name=field.value,
                looked_at_count=len(viewed_items),
                changed_count=len(changed_items),
            )
        )
    return tuple(shares)


def pairs_of(edits: Sequence[CurationEdit]) -> dict[EditedField, list[tuple[str, str]]]:
    """Return pairs of values by two readers of the same field, for agreement figures.

    Pairs are the set's value with each blind reader's, and blind readers' with each other. Editors
    of the set see each other's edits and form no pairs; neither does a person with themselves.
    """
    editors: dict[tuple[str, Value], set[str]] = {}
    last_values: dict[tuple[str, Value], dict[str, str]] = {}
    for each in edits:
        place = (each.paper_id, (each.statement_id, each.field))
        if not each.is_blind:
            editors.setdefault(place, set()).add(each.editor)
        reader = each.editor if each.is_blind else _SET
        last_values.setdefault(place, {})[reader] = " ".join(each.after.split())
    pairs_by_field: dict[EditedField, list[tuple[str, str]]] = {}
    for place, by_reader in last_values.items():
        readers = sorted(by_reader.keys() - editors.get(place, set()))
        pairs = combinations([by_reader[name] for name in readers], 2)
        pairs_by_field.setdefault(place[1][1], []).extend(pairs)
    return {field: pairs_by_field[field] for field in EditedField if pairs_by_field.get(field)}
