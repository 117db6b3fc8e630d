"""Several ideas in one text are taken apart where headings name them, and refused elsewhere."""

from pathlib import Path

import pytest

from tests.support.idea_files import read_content as read

MOTHS = "Problem: moths are heard by bats.\nMethod: we record echoes of moths and of leaves."
BEES = "Problem: bees lose their way.\nMethod: we track bees with radar around the hive."
STEPS = (
    "1. Record echoes of moths in the field with microphones.\n"
    "2. Compare the echoes with those of leaves and of silence.\n"
    "3. Measure how often bats attack each of these sounds.\n"
)


@pytest.mark.parametrize(
    "headings",
    [
        ("## Idea 1: Moths", "## Idea 2: Bees"),
        ("**Idea 1. Moths**", "**Idea 2. Bees**"),
        ("Research idea #1 – Moths", "Research idea #2 – Bees"),
        ("### Concept 1: Moths", "### Concept 2: Bees"),
        ("## Moths", "## Bees"),
        ("# Moths", "# Bees"),
    ],
)
def test_ideas_under_headings_of_one_kind_are_taken_apart(
    headings: tuple[str, str], tmp_path: Path
) -> None:
    batch = read(tmp_path, f"{headings[0]}\n{MOTHS}\n\n{headings[1]}\n{BEES}\n", "a.md")
    assert [(idea.title, idea.text) for idea in batch.ideas] == [
        ("Moths", f"# Moths\n\n{MOTHS}"),
        ("Bees", f"# Bees\n\n{BEES}"),
    ]


def test_front_matter_holds_for_each_idea_of_its_file(tmp_path: Path) -> None:
    matter = "---\nidea_id: q\ncutoff_date: 2024-05-01\ngroup: g\n---\n"
    batch = read(
        tmp_path,
        f"{matter}# Ours\n\nWritten on Monday.\n\n## Idea 1\n{MOTHS}\n\n## Idea 2\n{BEES}",
        "a.md",
    )
    assert [(idea.idea_id, str(idea.cutoff_date), idea.group) for idea in batch.ideas] == [
        ("q-1", "2024-05-01", "g"),
        ("q-2", "2024-05-01", "g"),
    ]
    assert batch.remarks == ("a.md: what is above the first idea of a.md is not read",)


@pytest.mark.parametrize(
    "text",
    [
        STEPS,
        f"Ten ideas about moths\n\n{STEPS}",
        f"Title: Moths\n{MOTHS}\n\nTitle: Bees\n{BEES}\n",
        f"## Moths\n{MOTHS}\n\n## Bees\n{BEES}\n\n## Thanks\nTo all who read this list.\n",
        f"We bring two ideas to one question.\nIdea 1: Moths\n{MOTHS}\nIdea 2: Bees\n{STEPS}",
    ],
    ids=[
        *("a bare list", "a list of ideas", "parts that repeat", "headings that are not alike"),
        "lines below other text",
    ],
)
def test_a_text_that_may_be_several_ideas_is_refused_with_the_way_to_separate_them(
    text: str, tmp_path: Path
) -> None:
    batch = read(tmp_path, text, "a.txt")
    assert batch.ideas == ()
    assert "give each a heading `## Idea 1: …`" in batch.rejected[0].detail


@pytest.mark.parametrize(
    "text",
    [
        f"# Moths\n\nWe listen to moths at night.\n\n{STEPS}",
        f"# Moths\n\n{STEPS}",
        "1. Problem: moths are heard by bats.\n2. Method: we record them at night.\n",
        f"# Moths\n\n## Problem\nThey are heard.\n\n## Method\nWe record.\n\n## Experiment 1\n{STEPS}"
        "\n## Experiment 2\nWe compare.\n",
        "We test two hypotheses.\n\n**Hypothesis 1:** moths are heard.\n\n**Hypothesis 2:** not so.",
        "# Moths\n\n## Problem\nP.\n\n## Motivation\nM.\n\n## Proposed Method\nWe record.\n\n"
        "## Approach\nWe compare the echoes with leaves.\n",
        "We teach two concepts to beginners and compare.\n\nConcept 1: recursion\nConcept 2: iteration\n",
        "Proposal 1: use one tutor for each\nProposal 2: use one tutor for all of them\n",
    ],
    ids=[
        *("steps", "steps under a title", "numbered parts", "experiments", "hypotheses", "parts"),
        *("concepts", "proposals"),
    ],
)
def test_a_text_with_lists_and_sections_stays_one_idea(text: str, tmp_path: Path) -> None:
    batch = read(tmp_path, text, "a.md")
    assert [idea.text for idea in batch.ideas] == [text.strip()]


def test_a_cell_that_holds_several_ideas_is_refused_by_its_row(tmp_path: Path) -> None:
    batch = read(
        tmp_path,
        f'id,text\na,"Idea 1: Moths\n{MOTHS}\nIdea 2: Bees\n{BEES}"\nb,"{STEPS}"\n',
        "a.csv",
    )
    assert [idea.idea_id for idea in batch.ideas] == ["b"]
    (rejected,) = batch.rejected
    assert rejected.location == "a.csv line 2"
    assert rejected.detail.endswith("2 ideas: give each a row of its own")
