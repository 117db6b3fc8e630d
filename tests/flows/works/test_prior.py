"""`assay prior`: outcomes of a user's own ideas become a prior that a ranking begins from."""

import json
from pathlib import Path

import pytest

from flows.cli.answer import EXIT_USAGE
from flows.works.rank.prior import connected_ideas, fit_prior_on
from schemas.errors import ConfigurationError
from schemas.options.commands import PriorOptions
from tasks.calibration.calibrator_files import load_prior
from tasks.calibration.text import WORDS
from tests.flows.conftest import Assay
from tests.support.answers import read_answer
from tests.support.evaluations import make_idea

TOPICS = ("graphs", "proteins", "robots", "corpora", "solvers", "climates", "markets")


def options(folder: Path, scale: str = "no, yes") -> PriorOptions:
    return PriorOptions(
        warehouse=folder / "lake", outcome="funded", scale=scale, output=folder / "prior.json"
    )


def ideas_file(folder: Path, count: int = 40) -> Path:
    """Funded are those that prove, not those that survey; the last one's outcome is not known."""
    lines = []
    for number in range(count):
        funded, topic = number % 2 == 0, TOPICS[number % len(TOPICS)]
        text = f"We {'prove bounds' if funded else 'survey papers'} about {topic}, case {number}."
        known = {"funded": "yes" if funded else "no"} if number < count - 1 else {}
        lines.append(json.dumps({"idea_id": f"i{number}", "text": text, **known}))
    path = folder / "ideas.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_an_outcome_that_the_scale_does_not_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="labels yes are not among no, maybe"):
        fit_prior_on(str(ideas_file(tmp_path)), options(tmp_path, "no, maybe"))
    assert not (tmp_path / "prior.json").exists()


def test_an_outcome_that_no_idea_has_is_refused_with_the_fields_they_have(tmp_path: Path) -> None:
    asked = options(tmp_path).model_copy(update={"outcome": "won"})
    with pytest.raises(ConfigurationError, match=r"no idea of ideas.jsonl has this .* have funded"):
        fit_prior_on(str(ideas_file(tmp_path)), asked)


def test_a_scale_of_one_outcome_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--scale 'yes': name two outcomes or more"):
        options(tmp_path, "yes")


def test_ideas_of_a_group_and_near_repetitions_are_connected() -> None:
    one, other, third, alone = (make_idea(number) for number in range(4))
    found = connected_ideas(
        [
            one.model_copy(update={"group": "g"}),
            other.model_copy(update={"group": "g"}),
            third.model_copy(update={"group": None, "duplicate_of": other.idea_id}),
            alone.model_copy(update={"group": None}),
        ]
    )
    assert found[one.idea_id] == found[other.idea_id] == found[third.idea_id]
    assert found[alone.idea_id] != found[one.idea_id]


def test_a_file_of_ideas_with_outcomes_parted_by_commas_becomes_a_prior_of_their_words(
    tmp_path: Path, assay: Assay
) -> None:
    output = str(tmp_path / "prior.json")
    said = ["prior", ideas_file(tmp_path), "--outcome", "funded", "--output", output]
    said += ["--warehouse", tmp_path / "lake", "--json"]
    refused = assay(*said)
    assert refused.returncode == EXIT_USAGE
    assert "Missing option '--scale'" in refused.stderr
    told = read_answer(assay(*said, "--scale", "no,yes").stdout)
    assert (told["idea_count"], told["unlabelled_count"]) == (39, 1)
    prior = load_prior(output)
    assert [one.label for one in prior.calibrator.labels] == ["no", "yes"]
    assert [one.name for one in prior.calibrator.features] == [WORDS]
    assert prior.sha256 == told["prior_sha256"]
