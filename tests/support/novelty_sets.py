"""Small made-up sets of the novelty suite: the novelty checker's, and RINoBench's test split with
gold labels.
"""

import json
import random
from pathlib import Path

SUBJECTS = (
    "bat calls",
    "sea ice",
    "soil fungi",
    "jazz harmony",
    "bridge steel",
    "bee dances",
    "old maps",
    "rare coins",
)
THINGS = ("a recorder", "a theory", "a corpus", "a benchmark", "a simulation")


def sentence(subject: str, thing: str, number: int) -> str:
    return f"We propose {thing} of {subject} that measures pattern {number} in the field."


def write_novelty(folder: Path, count: int = 24, *, gold: bool = True) -> Path:
    """Ideas of which every other one is a work's own words; known ones are labelled not novel, or
    2, the others novel, or 4.
    """
    generator = random.Random(4)
    binary, graded = [], []
    for number in range(count):
        subject = generator.choice(SUBJECTS)
        idea = sentence(subject, generator.choice(THINGS), number)
        known = number % 2 == 0
        foreign = f"Number {number} of the letters on {subject} that were kept in a museum."
        papers = [
            {
                "title": f"Work {number}",
                "abstract": idea if known else foreign,
                "url": f"https://example.org/{number}",
            }
        ]
        novel = not known
        binary.append({"idea_id": f"i{number}", "idea": idea, "papers": papers, "novel": novel})
        reasons = (
            "Everything in it already exists in earlier work."
            if known
            else "Nothing like it was done before, so it is new."
        )
        graded.append(
            {
                "research_idea": {
                    "objective": idea.replace("pattern", "rhythm"),
                    "problem_statement": "Nobody has measured it.",
                },
                "related_works": papers,
                "novelty_reasoning": reasons,
                "novelty_score": 2 if known else 4,
            }
        )
    (folder / "rinobench").mkdir(parents=True)
    (folder / "novelty_checker.jsonl").write_text("\n".join(map(json.dumps, binary)))
    if gold:
        (folder / "rinobench" / "test.json").write_text(json.dumps(graded))
        predictions = [
            {"reasoning": row["novelty_reasoning"], "novelty_score": 4} for row in graded
        ]
        (folder / "rinobench" / "novelty_predictions-mine.json").write_text(
            json.dumps([*predictions, {"reasoning": "", "novelty_score": 9}])
        )
    return folder
