"""What people change in a curated set: what counts, how much it was, and how far two agree."""

from datetime import timedelta

from schemas.curation_edit import CurationEdit, EditedField
from tests.support.curation_lake import CURATION, make_curation
from tests.support.evaluations import START
from warehouse.curations.edits import agreements, edit_shares, edited, values_of


def edit(field: EditedField, after: str, editor: str = "p-1", minute: int = 0) -> CurationEdit:
    name = "" if field.is_of_idea else "t1"
    return CurationEdit(
        edit_id=f"{field}{editor}{minute}",
        run_id=CURATION,
        paper_id="paper-0",
        statement_id=name,
        field=field,
        before=values_of(make_curation())[name, field],
        after=after,
        editor=editor,
        edited_at=START + timedelta(minutes=minute),
    )


def test_the_last_edit_counts_and_the_whole_text_follows() -> None:
    first = edit(EditedField.METHOD, "We will listen.")
    second = edit(EditedField.METHOD, "We will watch.", minute=1)
    found = edited(make_curation(), [first, second])
    assert found.method == "We will watch."
    assert "We will watch." in found.text
    assert "record calls" not in found.text


def test_edits_of_another_paper_or_of_nothing_known_change_nothing() -> None:
    given = make_curation("paper-9")
    assert edited(given, [edit(EditedField.METHOD, "We will listen.")]) is given


def test_what_was_left_as_it_was_counts_as_looked_at() -> None:
    edits = [
        edit(EditedField.METHOD, "We will   record\ncalls."),
        edit(EditedField.PROBLEM, "Why so?"),
        edit(EditedField.AXIS, "soundness"),
    ]
    shares = {each.name: (each.changed_count, each.looked_at_count) for each in edit_shares(edits)}
    assert shares["method"] == (0, 1)
    assert shares["problem"] == (1, 1)
    assert shares["ideas"] == (1, 1)
    assert shares["lists of statements"] == (0, 1)
    assert shares["severity"] == (0, 0)


def test_two_people_agree_where_both_made_the_same_of_it() -> None:
    edits = [
        edit(EditedField.AXIS, "soundness", "p-1"),
        edit(EditedField.AXIS, "contribution", "p-2"),
        edit(EditedField.AXIS, "soundness", "p-2", minute=1),
        edit(EditedField.SEVERITY, "minor", "p-1"),
        edit(EditedField.SEVERITY, "major", "p-2"),
        edit(EditedField.TYPE, "weakness", "p-1"),
    ]
    found = {each.field: (each.equal_count, each.pair_count) for each in agreements(edits)}
    assert found == {EditedField.AXIS: (1, 1), EditedField.SEVERITY: (0, 1)}
