"""What gives an outcome away never stands in a prompt: labels, decisions, venues, citations of the
idea, its group, what came later.
"""

import json
from datetime import date
from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.idea import Idea
from schemas.literature.knowledge import SourceKind
from schemas.outcome import Outcome
from tasks.committee.evaluate import evaluate_committee
from tasks.ideas.read import read_ideas
from tasks.judging.step import Step
from tasks.ranking.dimensions import DIMENSIONS
from tasks.ranking.dossier import dossier_of
from tasks.ranking.rank import rank_groups
from tasks.steps import STEPS
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.contribution_fakes import FakeEngine, WordEmbedder
from tests.support.evaluations import make_run
from tests.support.knowledge_fakes import (
    CUTOFF,
    IDEA,
    FakeSource,
    Library,
    item,
    paper,
    parameters,
    tools,
)
from tests.support.ranking_fakes import FakeJudge
from tests.support.ranking_fakes import parameters as ranking_parameters
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

LABELS = {
    "decision": "Accept (ORALSENTINEL)",
    "venue": "VENUESENTINEL 2025",
    "citation_count": 987654321,
    "gold_rank": "RANKSENTINEL",
    "avg_rating": 7.654321,
    "published": "2029-09-29",
}
TOLD_BY = ("SENTINEL", "987654321", "7.654321", "2029-09-29")


def read(folder: Path) -> list[Idea]:
    """A group as InnoEval releases it: the label of each idea stands beside it and is its name in
    the list.
    """
    papers = [
        {
            "paper_id": f"IDSENTINEL{number}",
            "title": f"{IDEA.title} {number}",
            "abstract": IDEA.text,
            **LABELS,
        }
        for number in range(3)
    ]
    group = {
        "query": papers[0],
        "query_category": "CATEGORYSENTINEL",
        "group_id": "GROUPSENTINEL",
        "matches": {
            "rejectSENTINEL": {"paper": papers[1], "score": 0.987654321},
            "oral": {"paper": papers[2]},
        },
    }
    path = folder / "groups.json"
    path.write_text(json.dumps([group]))
    ideas = read_ideas(path, default_cutoff=CUTOFF).ideas
    assert len(ideas) == 3
    assert all(
        "SENTINEL" in json.dumps(idea.metadata) and "SENTINEL" in (idea.group or "")
        for idea in ideas
    )
    return list(ideas)


def prompts(asked: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    steps = {step.name: step for step in STEPS}
    return [
        (name, "\n".join(message["content"] for message in steps[name].messages(question)))
        for name, question in asked
    ]


def told(shown: list[tuple[str, str]], words: tuple[str, ...]) -> set[str]:
    """Names of the steps whose prompts hold one of `words`."""
    return {name for name, text in shown if any(word in text for word in words)}


async def test_no_prompt_of_the_committee_holds_a_label_and_none_that_judges_what_came_later(
    tmp_path: Path,
) -> None:
    idea, *_ = read(tmp_path)
    own = paper(
        "own",
        "OWNSENTINEL learned hashing routes sparse attention.",
        title=idea.title,
        citation_count=4321,
    )
    known = paper(
        "hashing",
        "Learned hashing improves sparse attention in transformers and halves memory for long"
        " documents.",
    )
    later = (
        "LATERWORD: learned hashing improves sparse attention for long documents further when"
        " buckets overlap."
    )
    page = item(
        SourceKind.WEB,
        "https://blog.example.org/b",
        "Overlapping buckets",
        later,
        published=date(2023, 5, 1),
    )
    source = FakeSource("serper", SourceKind.WEB, [page])
    engine = FakeEngine(WordEmbedder(), {})
    chosen = parameters(
        sources=("literature", "serper"),
        persona_count=3,
        dimensions_per_call=5,
        use_later_knowledge=True,
    )
    await evaluate_committee(
        idea, chosen, 7, engine, tools(source, literature=Library([own, known]))
    )
    shown = prompts(engine.asked)
    assert {"persona_review", "meta_review", "ground_evidence"} <= {name for name, _ in shown}
    assert told(shown, TOLD_BY) == set()
    assert (
        "later_suggestions"
        in told(shown, ("LATERWORD",))
        <= {"ground_evidence", "summarise_pages", "later_suggestions"}
    )


class Recording(FakeJudge):
    def __init__(self) -> None:
        super().__init__()
        self.shown: list[tuple[str, Any]] = []

    async def run(self, step: Step[Any, Any], inputs: Any) -> Outcome[Any]:
        self.shown.append((step.name, inputs))
        return await super().run(step, inputs)


async def test_no_prompt_of_the_ranking_holds_a_label_a_group_or_what_came_later(
    tmp_path: Path,
) -> None:
    warehouse = Warehouse(tmp_path / "warehouse")
    for number, idea in enumerate(read(tmp_path)):
        whole = make_full_evaluation(number)
        assert whole.committee is not None
        meta = whole.committee.meta_review
        assert meta is not None
        committee = replace(
            whole.committee,
            meta_review=replace(meta, suggestions="LATERSENTINEL says to do otherwise."),
        )
        labelled = replace(whole.idea, metadata=idea.metadata, group=idea.group)
        land(warehouse, replace(whole, idea=labelled, committee=committee))
    run = make_run(ideas=3, modules="soundness,contribution,committee,novelty")
    assert publish(warehouse, RUNS, run).published
    judge = Recording()
    with warehouse.queries() as queries:
        dossiers = [
            dossier_of(review, review.evaluation.idea.group)
            for review in queries.idea_reviews(run.run_id)
        ]
    await rank_groups(dossiers, ranking_parameters(), judge, 7, dimensions=DIMENSIONS)
    shown = prompts(judge.shown)
    assert len(shown) == 6
    assert told(shown, TOLD_BY) == set()
