"""Files in the shapes that known programs write: every part of the idea is read as what it is."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from schemas.idea import METADATA, Idea
from tasks.ideas.columns import LEFT_OUT
from tasks.ideas.producers import PRODUCERS, producer_of
from tests.support.idea_files import read_content

PROBLEM = "Readers of long answers lose the thread, and nobody knows which sentences they skip."
METHOD = "We train a small model to mark sentences that a reader can skip without loss."
EXPERIMENT = "We compare reading times of forty people with and without the marks."
HYPOTHESIS = "Marks save a fifth of the reading time without loss of understanding."
RELATED = "Earlier tools shorten answers, and ours leaves them whole."
RISK = "Forty people may be too few to see it."
TITLE = "Marks for skipping"
RAW = {
    "Problem": PROBLEM,
    "Existing Methods": RELATED,
    "Motivation": HYPOTHESIS,
    "Proposed Method": METHOD,
    "Experiment Plan": EXPERIMENT,
}
NOTE = {
    "title": TITLE,
    "authors": ["Ada Bird", "Ben Cave"],
    "keywords": ["reading"],
    "TLDR": "We mark what readers can skip in answers.",
    "abstract": f"{PROBLEM} {METHOD}",
}


def table(*rows: Sequence[str]) -> str:
    lines = io.StringIO()
    csv.writer(lines).writerows(rows)
    return lines.getvalue()


# Shapes: SakanaAI/AI-Scientist templates/*/ideas.json; SakanaAI/AI-Scientist-v2 ai_scientist/ideas;
# NoviScl/AI-Researcher cache_results_*/{experiment_plans,ideas_*}; faerber-lab/RINoBench data;
# OpenReview API 2 and 1; exports of CMT and Google Forms.
FILES: Mapping[str, tuple[str, str]] = {
    "AI-Scientist": (
        "ideas.json",
        json.dumps(
            [
                {
                    "Name": "skip_marks",
                    "Title": TITLE,
                    "Experiment": f"{PROBLEM} {METHOD} {EXPERIMENT}",
                    "Interestingness": 8,
                    "Feasibility": 6,
                    "Novelty": 7,
                    "novel": True,
                }
            ]
        ),
    ),
    "AI-Scientist-v2": (
        "ideas.json",
        json.dumps(
            [
                {
                    "Name": "skip_marks",
                    "Title": TITLE,
                    "Short Hypothesis": HYPOTHESIS,
                    "Related Work": RELATED,
                    "Abstract": f"{PROBLEM} {METHOD}",
                    "Experiments": [EXPERIMENT, "We repeat it with other texts."],
                    "Risk Factors and Limitations": [RISK],
                }
            ]
        ),
    ),
    "AI-Researcher, plan": (
        "skip_marks.json",
        json.dumps(
            {
                "topic_description": "novel ways to read",
                "idea_name": "Skip Marks",
                "raw_idea": {name: f"A draft: {text}" for name, text in RAW.items()},
                "full_experiment_plan": {
                    "Title": TITLE,
                    "Problem Statement": PROBLEM,
                    "Motivation": HYPOTHESIS,
                    "Proposed Method": METHOD,
                    "Step-by-Step Experiment Plan": {"Step 1: Measure": EXPERIMENT},
                    "Test Case Examples": {"Test Case 1": {"Input": "An answer on bats."}},
                    "Fallback Plan": "If nobody skips, we study where readers look.",
                },
            }
        ),
    ),
    "AI-Researcher, ideas": (
        "ideas.json",
        json.dumps({"topic_description": "novel ways to read", "ideas": [{TITLE: RAW}]}),
    ),
    "ScholarEval": (
        "ideas.jsonl",
        json.dumps(
            {
                "idea_id": "ai_9",
                "discipline": "ai",
                "text": f"# {TITLE}\n\n## Problem\n\n{PROBLEM}\n\n## Method\n\n{METHOD}\n",
                "cutoff_date": "2024-09-24",
                "rubrics": [{"statement": "The idea is new.", "type": "Strength"}],
            }
        ),
    ),
    "InnoEval": (
        "points.jsonl",
        json.dumps(
            {
                "paper_id": "abC9",
                "title": TITLE,
                "decision": "Accept (Oral)",
                "abstract": f"{PROBLEM} {METHOD}",
                "keywords": ["reading"],
            }
        ),
    ),
    "RINoBench": (
        "test.json",
        json.dumps(
            [
                {
                    "research_idea": {
                        "problem": PROBLEM,
                        "objective": HYPOTHESIS,
                        "solution_approach": METHOD,
                    },
                    "novelty_score": 3,
                    "novelty_reasoning": "Others have marked text before, and this is a step.",
                    "related_works": [{"title": "A draft: marks", "abstract": RELATED}],
                }
            ]
        ),
    ),
    "OpenReview": (
        "notes.json",
        json.dumps(
            {
                "notes": [
                    {
                        "id": "xY1",
                        "forum": "xY1",
                        "cdate": 1700000000000,
                        "content": {name: {"value": value} for name, value in NOTE.items()},
                    }
                ],
                "count": 1,
            }
        ),
    ),
    "OpenReview, API 1": (
        "notes.json",
        json.dumps([{"id": "xY1", "forum": "xY1", "number": 7, "content": NOTE}]),
    ),
    "CMT": (
        "Papers.csv",
        table(
            ("Paper ID", "Paper Title", "Abstract", "Authors", "Author Names", "Status"),
            (
                *("17", TITLE, f"{PROBLEM} {METHOD}", "Ada Bird (X)*; Ben Cave (Y)"),
                *("Bird, Ada*; Cave, Ben", "Awaiting Decision"),
            ),
        ),
    ),
    "Google Forms": (
        "Ideas.csv",
        table(
            (
                *("Timestamp", "Email Address", "What is the title of your idea?"),
                *("What problem does it solve?", "How will you solve it? (max. 200 words)"),
                "How will you test it?",
            ),
            (
                *("2025/03/05 10:12:01 AM GMT+1", "a@x.org", TITLE),
                *(PROBLEM, METHOD, EXPERIMENT),
            ),
        ),
    ),
}
IDS = {
    "AI-Scientist": "skip_marks",
    "AI-Scientist-v2": "skip_marks",
    "ScholarEval": "ai_9",
    "InnoEval": "abC9",
    "OpenReview": "xY1",
    "OpenReview, API 1": "xY1",
    "CMT": "17",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_a_known_producer_is_read_whole(name: str, tmp_path: Path) -> None:
    file, content = FILES[name]
    batch = read_content(tmp_path, content, file)
    (idea,) = batch.ideas
    assert not batch.rejected
    assert PROBLEM in idea.text
    assert METHOD in idea.text
    for part in (HYPOTHESIS, EXPERIMENT, RISK):
        assert (part in idea.text) == (part in content)
    assert "A draft" not in idea.text, "drafts and works of others are no part of the idea"
    assert idea.idea_id.startswith("idea-") if name not in IDS else idea.idea_id == IDS[name]
    if TITLE in content and name != "RINoBench":
        assert idea.title == TITLE
    if "Ada" in content:
        assert {"Ben Cave"} <= {*idea.authors} | {" ".join(idea.authors[-1].split(", ")[::-1])}
    _check_outcomes_are_no_text(idea)


def _check_outcomes_are_no_text(idea: Idea) -> None:
    for outcome in ("Accept", "Awaiting", "The idea is new", "a step", "@"):
        assert outcome not in idea.text


def test_every_producer_is_tried() -> None:
    assert {name.partition(",")[0] for name in FILES} == {each.name for each in PRODUCERS}


def test_a_producer_is_known_by_all_its_fields_alone() -> None:
    for each in PRODUCERS:
        assert producer_of((*each.known_by, "more")) is each
        assert producer_of(each.known_by[1:]) is not each
    known = {"idea_id", "title", "text", "problem", "method", "experiment", "cutoff_date"}
    known |= {"authors", "opening", "closing", METADATA, LEFT_OUT}
    assert {meaning for each in PRODUCERS for meaning in each.fields.values()} <= known
