"""Along what ideas are compared: the committee's dimensions, the user's own among them, and the
whole.
"""

from pathlib import Path

import pytest

from flows.profiles import load_profile
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.profile import Profile
from tasks.ranking.dimensions import DIMENSIONS, dimensions_of
from tasks.ranking.matching import match_id
from tasks.ranking.rank import rank_groups
from tests.support.ranking_fakes import FakeJudge, dossier, parameters

OWN = """
[[dimension]]
name = "ethics"
question = "Would anybody be harmed?"
scale = "0 many; 10 nobody."

[[dimension]]
name = "clarity"
question = "Is it plain?"
comparison = "Which is plainer?"
"""
SHIPPED = ["clarity", "novelty", "feasibility", "validity", "significance"]


def profile_with(
    folder: Path, text: str = OWN, dimensions: tuple[str, ...] | None = None
) -> Profile:
    path = folder / "ours.toml"
    path.write_text(text)
    profile = load_profile("economy")
    committee = replace(profile.committee, personas_file=str(path))
    return replace(
        profile, committee=committee, ranking=replace(profile.ranking, dimensions=dimensions)
    )


def test_the_dimensions_of_the_committee_are_compared_along_and_the_whole_comes_last(
    tmp_path: Path,
) -> None:
    assert [one.name for one in dimensions_of(load_profile("economy"))] == [*SHIPPED, "overall"]
    own = {one.name: one for one in dimensions_of(profile_with(tmp_path))}
    assert list(own) == [*SHIPPED, "ethics", "overall"]
    assert own["clarity"].question == "Which is plainer?"
    assert (
        own["ethics"].question
        == "Which of the two ideas has the better answer to this? Would anybody be harmed?"
    )
    assert own["ethics"].scale == "0 many; 10 nobody."
    assert own["novelty"] == DIMENSIONS[1]


def test_a_profile_may_name_the_dimensions_it_wants(tmp_path: Path) -> None:
    wanted = profile_with(tmp_path, dimensions=("ethics", "novelty"))
    assert [one.name for one in dimensions_of(wanted)] == ["novelty", "ethics", "overall"]
    with pytest.raises(
        ConfigurationError,
        match=r"\[ranking\] dimensions: none is called beauty; choose from clarity, .*, ethics",
    ):
        dimensions_of(profile_with(tmp_path, dimensions=("beauty",)))


async def test_matches_along_a_dimension_of_ones_own_are_rated_and_another_question_is_asked_anew(
    tmp_path: Path,
) -> None:
    along = dimensions_of(profile_with(tmp_path))
    dossiers = [dossier("a"), dossier("b")]
    found = await rank_groups(dossiers, parameters(), FakeJudge(), 1, dimensions=along)
    assert (
        {match.dimension for match in found.matches}
        == {rating.dimension for rating in found.ratings}
        == {*SHIPPED, "ethics", "overall"}
    )
    edited = dimensions_of(profile_with(tmp_path, OWN.replace("harmed", "offended")))
    changed = {one.name for one, other in zip(along, edited, strict=True) if _id(one) != _id(other)}
    assert changed == {"ethics"}


def _id(dimension: object) -> str:
    return match_id(dossier("a"), dossier("b"), dimension, "fake", 1)  # type: ignore[arg-type]
