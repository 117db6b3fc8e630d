"""A small draft, as it is landed, and what it is written from."""

import asyncio
from functools import cache

from dashboards.render.drafts.venues import read_venue
from schemas.choices import EXTRACTIVE
from schemas.idea import Idea
from schemas.identifiers import IdeaId, PaperId, RunId
from schemas.literature.paper import Paper
from schemas.reasons import Reason
from schemas.works.draft import Draft, Form
from schemas.works.draft_neighbour import NeighbourSection, SectionPart
from schemas.works.draft_run import DRAFTS, DraftHead, Material, PlannedDraft, StoredText
from tasks.writing.charts import experiment_charts
from tasks.writing.claims import (
    Claims,
    StoredWork,
    add_experiment,
    add_idea,
    add_works,
    declare,
    draft_works,
    works_by_key,
)
from tasks.writing.drafting import material_hash, write_draft
from tasks.writing.figures import readable_figures
from tasks.writing.graphs import experiment_graph
from tasks.writing.outline import make_outline
from tests.support.experiment_lake import EXPERIMENT, make_experiment
from tests.support.lakes import made, publish_units
from warehouse.units.kind import kind_of
from warehouse.warehouse import Warehouse

DRAFT = RunId("draft-a")
PASSAGES = tuple(
    f"Study {name} observes that {name} bats avoid {other} moths whenever the {other} wind is"
    f" rising above the {name} hills."
    for name, other in (
        ("northern", "pale"), ("southern", "dusky"), ("eastern", "silver"), ("western", "amber"),
        ("coastal", "violet"), ("alpine", "crimson"), ("desert", "ochre"), ("boreal", "ivory"),
        ("tropical", "russet"), ("urban", "copper"), ("rural", "golden"), ("insular", "scarlet"),
        ("riparian", "emerald"), ("montane", "azure"), ("steppe", "umber"), ("savanna", "teal"),
        ("lowland", "maroon"), ("highland", "indigo"), ("arctic", "sable"), ("temperate", "olive"),
    )
)  # fmt: skip
"""Twenty stored texts, of twenty works."""


def make_idea(idea_id: str = "bats") -> Idea:
    return Idea(
        idea_id=IdeaId(idea_id),
        title="Steps that bats take, 100 % of them",
        text="We let bats choose among 9 steps.",
        problem="Bats choose badly among 9 steps.",
        method="We try each step on 3 moths.",
    )


def known_works() -> tuple[StoredWork, ...]:
    return tuple(
        StoredWork(
            Paper(
                paper_id=PaperId(f"paper-{number}"),
                title=f"Bats and moths, part {number}",
                authors=(f"Ada {chr(ord('A') + number)}berg",),
                year=2001 + number,
            ),
            passage,
        )
        for number, passage in enumerate(PASSAGES)
    )


def make_neighbours() -> tuple[NeighbourSection, ...]:
    """A paper as it was measured, and one that was not."""
    parts = (SectionPart.INTRODUCTION, SectionPart.METHOD, SectionPart.RESULTS)
    measured = (
        NeighbourSection(
            paper_id=PaperId("paper-1"),
            title="Bats and moths, part 1",
            section_number=number,
            part=part,
            heading=part.value,
            text_source="pdf",
            is_whole=True,
            word_count=100 * number,
            past_share=0.7,
            first_person_share=0.2,
        )
        for number, part in enumerate(parts, start=1)
    )
    lost = NeighbourSection(
        paper_id=PaperId("paper-2"),
        title="Bats and moths, part 2",
        section_number=0,
        unmeasured_reason=Reason.NOT_LOOKED_FOR,
        unmeasured_detail="no stored copy; none was fetched",
    )
    return (*measured, lost)


@cache
def plan_draft(idea_id: str = "bats", venue_name: str = "neutral") -> PlannedDraft:
    """A paper on one experiment, with twenty works."""
    venue = read_venue(venue_name)
    claims, experiment = Claims(), make_experiment()
    add_idea(claims, make_idea(idea_id), None)
    works = works_by_key(known_works())
    add_works(claims, works, "bats and moths")
    stem = add_experiment(claims, EXPERIMENT, experiment)
    declare(claims, EXTRACTIVE)
    drawn = experiment_charts(EXPERIMENT, experiment, stem, alone=True)
    figures, lost = readable_figures((experiment_graph([experiment]), *drawn), claims.values)
    assert not lost
    material = Material(
        form=Form.PAPER,
        title=make_idea().title,
        claims=tuple(claims.by_key.values()),
        figures=figures,
        works=draft_works(works),
        stored=tuple(StoredText(title="Bats and moths", text=text) for text in PASSAGES),
        neighbours=make_neighbours(),
        venue=venue.rules,
    )
    outline = make_outline(Form.PAPER, claims, figures, [stem], venue.rules)
    return PlannedDraft(
        draft_id=idea_id,
        content_sha256=material_hash(material, outline),
        material=material,
        venue=venue,
        outline=outline,
        experiment_run_ids=(EXPERIMENT,),
    )


@cache
def make_draft(idea_id: str = "bats", venue: str = "neutral") -> Draft:
    return asyncio.run(write_draft(plan_draft(idea_id, venue)))


def make_draft_head() -> DraftHead:
    experiments = (EXPERIMENT,)
    told = {"engine": "extractive", "experiment_run_ids": experiments, "venue": "neutral"}
    return made(DraftHead, run_id=DRAFT, **told)


def publish_draft(warehouse: Warehouse, draft: Draft) -> RunId:
    """A published run of this draft."""
    return publish_units(warehouse, kind_of(DRAFTS), make_draft_head(), draft)
