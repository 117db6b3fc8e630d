"""Versions of one work are one paper of a survey."""

from typing import Any

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.literature.survey import SurveyParameters, SurveyQuery
from tasks.survey.expanding import expand
from tests.support.survey_fakes import GraphLiterature, judge_by

TITLE = "Echo calls of bats that hunt moths"


def version(name: str, title: str = TITLE, **fields: Any) -> Paper:
    told: dict[str, Any] = {"authors": ("Ada Lovelace", "Carl Gauss"), "year": 2010}
    return Paper(paper_id=PaperId(name), title=title, **(told | fields))


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
