"""Personas and dimensions from files: those that ship, a user's own, and every mistake in one clear
line.
"""

from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from schemas.profile import CommitteeParameters
from schemas.settings import Settings
from tasks.committee.planning import check_committee, committee_conditions
from tasks.personas.roster import load_roster

ONE = """
[[persona]]
persona_id = "ada"
name = "Ada"
profile = "Engineer."
habits = "Kind."
familiarity_papers_0_to_1 = 0.5
familiarity_web_0_to_1 = 0
familiarity_code_0_to_1 = 1
"""
ETHICS = """
[[dimension]]
name = "ethics"
question = "Would anybody be harmed?"
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "personas.toml"
    path.write_text(text)
    return str(path)


def test_at_least_twelve_different_personas_ship_with_every_kind_of_familiarity() -> None:
    personas = load_roster(None).personas
    assert len(personas) >= 12
    assert (
        len({persona.profile for persona in personas})
        == len(personas)
        == len({persona.habits for persona in personas})
    )
    for field in ("familiarity_papers_0_to_1", "familiarity_web_0_to_1", "familiarity_code_0_to_1"):
        shares = {getattr(persona, field) for persona in personas}
        assert min(shares) <= 0.3
        assert max(shares) >= 0.9


def test_a_file_of_personas_replaces_the_shipped_ones_and_keeps_the_dimensions(
    tmp_path: Path,
) -> None:
    roster = load_roster(written(tmp_path, ONE))
    assert [persona.persona_id for persona in roster.personas] == ["ada"]
    assert roster.dimensions == load_roster(None).dimensions


def test_dimensions_of_a_file_are_added_or_take_the_place_of_their_namesake(tmp_path: Path) -> None:
    clarity = ETHICS.replace("ethics", "clarity")
    roster = load_roster(written(tmp_path, ETHICS + clarity))
    assert [each.name for each in roster.dimensions] == [
        "clarity",
        "novelty",
        "feasibility",
        "validity",
        "significance",
        "ethics",
    ]
    assert roster.dimensions[0].question == "Would anybody be harmed?"
    assert roster.personas == load_roster(None).personas


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("persona = [", "is not TOML"),
        ("", "holds neither"),
        (
            ONE.replace("= 0.5", "= 1.5"),
            (
                r"persona 1 \(ada\): `familiarity_papers_0_to_1`: Input should be less than or"
                r" equal to 1"
            ),
        ),
        (
            ONE.replace("= 0.5", '= "half"'),
            r"persona 1 \(ada\): `familiarity_papers_0_to_1`: Input should be a valid number",
        ),
        (ONE.replace('habits = "Kind."', ""), r"persona 1 \(ada\): `habits`: Field required"),
        (ONE + 'mood = "bad"', r"persona 1 \(ada\): `mood`: unknown key"),
        (ONE + ONE, "two entries have the persona_id `ada`"),
        (ONE.replace('"ada"', '"Ada B"'), r"persona 1 \(Ada B\): `persona_id`"),
        (ETHICS + ETHICS, "two entries have the dimension name `ethics`"),
        ('[[people]]\nname = "x"', "`people`: unknown key"),
        ("persona = 3", "`persona`"),
        ("persona = [3]", r"persona 1 \(unnamed\)"),
        ("day = 2020-01-01", "`day`: unknown key"),
    ],
)
def test_a_mistake_is_one_line_with_file_entry_and_key(
    tmp_path: Path, text: str, message: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigurationError, match=message) as raised:
        load_roster(path)
    assert path in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_a_file_that_is_not_there_or_no_text_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"check \[committee\] personas_file"):
        load_roster(str(tmp_path / "gone.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match=r"check \[committee\] personas_file"):
        load_roster(str(tmp_path / "binary.toml"))


def test_too_few_personas_and_unknown_sources_are_found_before_a_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="persona_count is 5, but there are 1 personas"):
        check_committee(CommitteeParameters(personas_file=written(tmp_path, ONE)))
    with pytest.raises(ConfigurationError, match="no source is named gogle; choose from"):
        check_committee(CommitteeParameters(sources=("literature", "gogle")))
    check_committee(CommitteeParameters(sources=("literature", "arxiv")))


def test_a_changed_persona_changes_the_conditions_and_a_moved_file_does_not(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    here, there = (
        CommitteeParameters(personas_file=written(folder, ONE))
        for folder in (tmp_path, tmp_path / "other")
    )
    settings = Settings()
    assert committee_conditions(here, settings) == committee_conditions(there, settings)
    edited = CommitteeParameters(
        personas_file=written(tmp_path / "other", ONE.replace("Kind.", "Strict."))
    )
    assert committee_conditions(here, settings) != committee_conditions(edited, settings)
