"""What docs/guides/idea-files.md says of names is what the reader understands."""

from schemas.idea import FIELD_PARTS
from tasks.ideas.names import NAMES, meaning_of
from tests.idea_names import PAGE, with_table

TEXT = PAGE.read_text("utf-8")


def test_the_table_of_names_is_that_of_today() -> None:
    assert with_table(TEXT) == TEXT, "python -m tests.idea_names"


def test_every_name_of_the_table_is_read_as_its_part() -> None:
    assert {name: meaning_of(name) for names in NAMES.values() for name in names} == {
        name: part for part, names in NAMES.items() for name in names
    }


def test_every_part_that_can_be_mapped_is_named() -> None:
    assert [part for part in FIELD_PARTS if f"`{part}`" not in TEXT] == []
