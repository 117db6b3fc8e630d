"""The transcript in the documentation is what the commands print."""

import pytest

from tests.first_commands import PAGE, transcript, without_figures

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]


def test_the_first_commands_print_what_their_page_shows() -> None:
    assert without_figures(transcript()) == without_figures(PAGE.read_text())
