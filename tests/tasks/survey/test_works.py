"""Versions of one work are one paper of a survey, and works that merely resemble are not."""

from typing import Any

import pytest

from schemas.identifiers import PaperId
from schemas.paper import Paper
from schemas.survey import SurveyParameters, SurveyQuery
from tasks.survey.expanding import expand
from tasks.survey.weighing import Works
from tests.support.survey_fakes import GraphLiterature, judge_by

TITLE = "Echo calls of bats that hunt moths"


def version(name: str, title: str = TITLE, **fields: Any) -> Paper:
    told: dict[str, Any] = {"authors": ("Ada Lovelace", "Carl Gauss"), "year": 2010}
    return Paper(paper_id=PaperId(name), title=title, **(told | fields))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"year": 2015, "title": "Echo Calls of Bats that hunt Moths."}),
        ({"doi": "10.1/A"}, {"doi": "10.1/a", "title": "Calls", "authors": ()}),
        ({"arxiv_id": "2101.00001v2"}, {"arxiv_id": "2101.00001", "title": "Calls"}),
        ({"authors": ()}, {"year": 2012}),
    ],
)
def test_versions_of_a_work_are_known_by_name_title_and_authors(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    works = Works()
    assert works.first_of(version("journal", **one)) == "journal"
    assert works.first_of(version("preprint", **other)) == "journal"
    assert works.versions_of(PaperId("journal")) == ("preprint",)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"authors": ("Emmy Noether", "David Hilbert")}),
        ({"authors": ()}, {"year": 2014}),
        ({"title": "Bat echo calls"}, {"title": "Bat echo calls"}),
        ({"arxiv_id": "solv-int/9901001"}, {"arxiv_id": "solid/9901002", "title": "Calls"}),
    ],
)
def test_what_merely_resembles_stays_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    works = Works()
    names = [works.first_of(version("a", **one)), works.first_of(version("b", **other))]
    assert names == ["a", "b"]


async def test_an_expansion_keeps_a_work_once_and_joins_the_links_of_its_versions() -> None:
    papers = [
        version("journal"),
        version("preprint", year=2009),
        version("seed", "How bats find what they hunt"),
    ]
    literature = GraphLiterature(
        papers, {"seed": ["preprint"]}, {"bat calls": ["journal", "preprint", "seed"]}
    )
    query = SurveyQuery(query_id="q1", sub_question="How do bats call?", query="bat calls")
    found = await expand(
        "How do bats call?",
        [query],
        SurveyParameters(depth=1, saturation_share=0.0),
        literature,
        judge_by(["journal", "preprint", "seed"]),
        None,
    )
    assert {one.paper_id: one.other_version_ids for one in found.kept} == {
        "journal": ("preprint",),
        "seed": (),
    }
    assert [(one.citing_paper_id, one.cited_paper_id) for one in found.links] == [
        ("seed", "journal")
    ]
