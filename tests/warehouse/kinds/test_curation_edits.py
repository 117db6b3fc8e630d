"""What people change in a curated set: what counts, how much it was, and how far two agree."""

from datetime import timedelta

import pytest

from schemas.works.curation import StatementAxis
from schemas.works.curation_edit import CurationEdit, EditedField
from tasks.curation.work import agreement_on
from tests.support.curation_lake import CURATION, make_curation
from tests.support.evaluations import START
from warehouse.kinds.curation_edits import apply_edits, edit_shares, pairs_of, values_of


def edit(
    field: EditedField,
    after: str,
    editor: str = "p-1",
    minute: int = 0,
    *,
    blind: bool = False,
    paper: str = "paper-0",
) -> CurationEdit:
    name = "" if field.is_of_idea else "t1"
    return CurationEdit(
        edit_id=f"{paper}{field}{editor}{minute}",
        run_id=CURATION,
        paper_id=paper,
        statement_id=name,
        field=field,
        before=values_of(make_curation())[name, field],
        after=after,
        editor=editor,
        edited_at=START + timedelta(minutes=minute),
        is_blind=blind,
    )


def test_the_last_edit_counts_and_the_whole_text_follows() -> None:
    first = edit(EditedField.METHOD, "We will listen.")
    second = edit(EditedField.METHOD, "We will watch.", minute=1)
    found = apply_edits(make_curation(), [first, second])
    assert found.method == "We will watch."
    assert "We will watch." in found.text
    assert "record calls" not in found.text


def test_edits_of_another_paper_or_of_nothing_known_change_nothing() -> None:
    given = make_curation("paper-9")
    assert apply_edits(given, [edit(EditedField.METHOD, "We will listen.")]) is given


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


def test_who_reads_blind_is_held_against_who_words_the_set_and_changes_nothing() -> None:
    edits = [
        edit(EditedField.AXIS, "contribution", "p-1"),
        edit(EditedField.AXIS, "soundness", "p-3", minute=1),
        edit(EditedField.AXIS, "contribution", "p-2", minute=2, blind=True),
        edit(EditedField.SEVERITY, "minor", "p-2", minute=3, blind=True),
        edit(EditedField.SEVERITY, "major", "p-4", minute=4, blind=True),
        edit(EditedField.TYPE, "weakness", "p-1"),
        edit(EditedField.TYPE, "strength", "p-1", minute=5, blind=True),
    ]
    assert apply_edits(make_curation(), edits).statements[0].axis is StatementAxis.SOUNDNESS
    assert pairs_of(edits) == {
        EditedField.AXIS: [("soundness", "contribution")],
        EditedField.SEVERITY: [("minor", "major")],
    }
    severity, axis = agreement_on(edits)[::-1]
    assert (axis.equal_count, axis.pair_count, severity.kappa) == (0, 1, 0.0)


def test_agreement_is_held_against_chance_where_a_word_is_chosen() -> None:
    made = [
        edit(EditedField.TYPE, words[reader], f"p-{reader}", blind=reader > 0, paper=f"paper-{n}")
        for n, words in enumerate([("strength",) * 2, ("weakness",) * 2, ("weakness", "strength")])
        for reader in range(2)
    ]
    (found,) = agreement_on(made)
    assert (found.equal_count, found.pair_count) == (2, 3)
    assert found.kappa == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    (alike,) = agreement_on(made[:2])
    assert alike.kappa is None
    assert "one category" in str(alike.undefined_reason)
    (worded,) = agreement_on(
        [
            edit(EditedField.STATEMENT, "One."),
            edit(EditedField.STATEMENT, "One.", "p-2", blind=True),
        ]
    )
    assert (worded.equal_count, worded.kappa, worded.undefined_reason) == (1, None, None)
