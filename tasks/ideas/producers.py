"""Programs that write ideas: how their entries are known, and how their fields are read.

Fields that a producer does not list are read by their names (`tasks.ideas.names`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from schemas.idea import AUTHORS, METADATA
from tasks.ideas.columns import LEFT_OUT


@dataclass(frozen=True, slots=True)
class Producer:
    """A program or service that writes ideas.

    Attributes:
        writes: kind of file, for the guide.
        known_by: fields that every entry of it has.
        fields: meanings by field; sections are `opening` and `closing`.
    """

    name: str
    writes: str
    known_by: tuple[str, ...]
    fields: Mapping[str, str] = field(default_factory=dict)


PRODUCERS = (
    Producer(
        "AI-Scientist",
        "`ideas.json` of a template",
        ("Name", "Title", "Experiment"),
        {"Name": "idea_id", "Title": "title", "Experiment": "experiment"},
    ),
    Producer(
        "AI-Scientist-v2",
        "JSON of its ideation",
        ("Name", "Title", "Short Hypothesis", "Abstract"),
        {
            "Name": "idea_id",
            "Title": "title",
            "Short Hypothesis": "opening",
            "Related Work": "opening",
            "Abstract": "opening",
            "Experiments": "experiment",
            "Risk Factors and Limitations": "closing",
        },
    ),
    Producer(
        "AI-Researcher",
        "JSON of an experiment plan",
        ("raw_idea", "full_experiment_plan"),
        {
            # The plan says it all again, and in full.
            "raw_idea": LEFT_OUT,
            "Title": "title",
            "Problem Statement": "problem",
            "Motivation": "opening",
            "Proposed Method": "method",
            "Step-by-Step Experiment Plan": "experiment",
            "Test Case Examples": "closing",
            "Fallback Plan": "closing",
        },
    ),
    Producer(
        "AI-Researcher",
        "JSON of generated ideas, each under its title",
        ("Problem", "Existing Methods", "Motivation", "Proposed Method", "Experiment Plan"),
        {
            "Problem": "problem",
            "Existing Methods": "opening",
            "Motivation": "opening",
            "Proposed Method": "method",
            "Experiment Plan": "experiment",
        },
    ),
    Producer(
        "ScholarEval",
        "JSONL of ScholarIdeas",
        ("idea_id", "discipline", "text", "rubrics"),
        {
            "idea_id": "idea_id",
            "text": "text",
            "cutoff_date": "cutoff_date",
            "discipline": METADATA,
            "rubrics": LEFT_OUT,
        },
    ),
    Producer(
        "InnoEval",
        "JSONL of points, JSON of groups and pairs",
        ("paper_id", "title", "abstract", "decision"),
        {"paper_id": "idea_id", "title": "title", "abstract": "text", "decision": METADATA},
    ),
    Producer(
        "RINoBench",
        "JSON of a split",
        ("research_idea", "novelty_score"),
        {
            "problem": "problem",
            "objective": "opening",
            "solution_approach": "method",
            # Given to the judge of novelty: the idea does not contain them.
            "related_works": LEFT_OUT,
            "novelty_score": METADATA,
            "novelty_reasoning": METADATA,
        },
    ),
    Producer(
        "OpenReview",
        "JSON of notes, with or without `value`",
        ("id", "forum", "content"),
        {
            "id": "idea_id",
            "title": "title",
            "abstract": "text",
            "authors": AUTHORS,
            "TLDR": METADATA,
        },
    ),
    Producer(
        "CMT",
        "table of submissions (Excel, CSV, TSV)",
        ("Paper ID", "Paper Title", "Abstract"),
        {
            "Paper ID": "idea_id",
            "Paper Title": "title",
            "Abstract": "text",
            "Author Names": AUTHORS,
            "Authors": METADATA,
        },
    ),
    Producer(
        "Google Forms",
        "table of answers (CSV, Excel), with a question as the name of each column",
        ("Timestamp",),
        {"Timestamp": METADATA, "Email Address": METADATA},
    ),
)
_UNKNOWN = Producer("", "", ())


def producer_of(names: Iterable[str]) -> Producer:
    """Return the producer of an entry with fields of these names; one without fields if unknown."""
    present = frozenset(names)
    return next((each for each in PRODUCERS if present.issuperset(each.known_by)), _UNKNOWN)
