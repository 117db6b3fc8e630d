"""What the records of a source say of a paper: versions, markup, missing abstracts, own papers."""

from pathlib import Path
from typing import Any

import pytest

from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.literature.paper import Paper
from schemas.reasons import Reason
from schemas.run import Module
from tasks.literature.client import own_publications
from tests.support.evaluated_papers import evaluated_on
from tests.support.paper_files import write_jsonl

IDEA = Idea(
    idea_id=IdeaId("scales"),
    title="Moth scales hide drones from bats",
    text=(
        "# Problem\nDrones disturb bats at night because bats detect drones by echoes, and no remedy"
        " is known.\n# Method\nWe attach acoustic absorbers of moth scales to drones and measure how"
        " far bats detect drones with absorbers in a wind tunnel.\n# Experiment\nWe compare the"
        " distance at which bats detect drones with and without absorbers of moth scales."
    ),
)
ABSTRACT = (
    "We measure how far bats detect drones with acoustic absorbers of moth scales in the field;"
    " drones with absorbers are detected later."
)


def row(number: int, title: str, abstract: str, **fields: Any) -> dict[str, Any]:
    return {
        "title": title,
        "abstract": abstract,
        "authors": [f"Ann Author{number}", "Bo Writer"],
        "venue": "Journal of Bats",
        "year": 2010 + number,
        "url": f"https://example.org/p{number}",
    } | fields


OTHERS = [
    row(1, "Owls hear mice under snow", "Owls find mice under snow by hearing in winter."),
    row(2, "Lamps draw insects in cities", "Lamps draw insects at night; we count moths."),
    row(3, "Small drones carry microphones", "Drones carry microphones over forests at dawn."),
]
TITLE = "Absorbers of moth scales for drones near bats"
PREPRINT = row(4, TITLE, ABSTRACT, venue="arXiv", arxiv_id="2301.00004", year=2023)
ARTICLE = row(5, f"{TITLE}.", ABSTRACT, doi="10.1000/j5", year=2024, authors=["Writer, B."])
REPLY = row(6, "Reply on RC1", ABSTRACT, doi="10.1000/rc1", venue="EGUsphere", year=2024)


async def evaluated(
    folder: Path, rows: list[dict[str, Any]], idea: Idea = IDEA, *modules: Module
) -> IdeaEvaluation:
    """An evaluation on a snapshot of `rows`."""
    folder.mkdir(exist_ok=True)
    papers = write_jsonl(folder / "papers.jsonl", rows)
    return await evaluated_on(papers, folder, idea, modules or (Module.CONTRIBUTION,))


async def test_versions_of_a_work_move_no_score_and_stand_once(tmp_path: Path) -> None:
    modules = (Module.CONTRIBUTION, Module.NOVELTY, Module.SOUNDNESS)
    found = []
    for versions in ([PREPRINT], [PREPRINT, ARTICLE], [PREPRINT, ARTICLE, REPLY]):
        folder = tmp_path / str(len(versions))
        one = await evaluated(folder, [*OTHERS, *versions], IDEA, *modules)
        assert one.contribution is not None
        assert one.novelty is not None
        assert one.soundness is not None
        found.append(
            (
                sorted(each.score for each in one.contribution.comparisons if each.score),
                sorted(each.relevance_0_to_5 or 0 for each in one.contribution.candidates),
                one.novelty.judgement.mean_closeness_0_to_1,
                sorted((each.method_id, each.relevant) for each in one.soundness.evidence),
                len(one.papers),
            )
        )
    assert found[0] == found[1] == found[2]
    (shown,) = [each for each in one.papers if each.title.startswith("Absorbers")]
    assert (shown.doi, shown.version_urls, shown.version_dates) == (
        "10.1000/j5", ("https://example.org/p4",), ("2023-01",),
    )  # fmt: skip


async def test_articles_with_different_dois_count_apart(tmp_path: Path) -> None:
    other = ARTICLE | {"doi": "10.1000/k6", "url": "https://example.org/p6"}
    found = await evaluated(tmp_path, [*OTHERS, ARTICLE, other])
    assert {"10.1000/j5", "10.1000/k6"} <= {each.doi for each in found.papers}


def set_apart(found: IdeaEvaluation) -> set[str]:
    papers = {str(each.paper_id): each.url for each in found.papers}
    assert found.contribution is not None
    return {
        papers[each.subject]
        for each in found.contribution.failures
        if each.reason is Reason.THE_IDEA_ITSELF
    }


async def test_markup_in_a_title_hides_no_own_publication(tmp_path: Path) -> None:
    title = (
        "Role of <i>Moth</i> scales &amp;amp; friends in <mml:math><mml:mi>N</mml:mi></mml:math>"
    )
    idea = replace(IDEA, title="Role of moth scales & friends in N")
    found = await evaluated(tmp_path, [*OTHERS, row(7, title, ABSTRACT)], idea)
    assert set_apart(found) == {"https://example.org/p7"}
    assert "Role of Moth scales & friends in N" in {each.title for each in found.papers}


@pytest.mark.parametrize(
    "abstract",
    ["No abstract available.", TITLE],
)
async def test_a_placeholder_abstract_is_never_compared(tmp_path: Path, abstract: str) -> None:
    found = await evaluated(tmp_path, [*OTHERS, row(8, TITLE, abstract)])
    paper = next(each for each in found.papers if each.title == TITLE)
    assert paper.abstract is None
    assert found.contribution is not None
    assert paper.paper_id not in {each.paper_id for each in found.contribution.comparisons}


OWN = row(
    9,
    "Covers of scales hide drones from bats",
    "In flights with six bats, drones with a cover of scales were found later than bare drones.",
    authors=["Cara Third", "Dan Fourth"],
    doi="10.1000/own",
    arxiv_id="2401.00009",
)


async def test_the_ideas_own_publication_is_set_apart(tmp_path: Path) -> None:
    idea = replace(IDEA, metadata={"authors": "Cara Third; Dan Fourth"})
    found = await evaluated(tmp_path, [*OTHERS, OWN], idea)
    assert set_apart(found) == {"https://example.org/p9"}


@pytest.mark.parametrize(
    "metadata",
    [
        {"author": "Third, Cara and Fourth, Dan"},
        {"Author(s)": "C. Third, D. Fourth"},
        {"Authors' names": "Third C, Fourth D"},
        {"author 1": "Cara Third", "author 2": "Dan Fourth"},
        {"doi": "https://doi.org/10.1000/OWN"},
        {"arXiv": "2401.00009v2"},
        {"paper_url": "https://arxiv.org/pdf/2401.00009"},
        {"URL": "http://www.example.org/p9/"},
    ],
)
def test_authors_and_identifiers_in_any_spelling_name_the_own_publication(
    metadata: dict[str, str],
) -> None:
    fields = {name: value for name, value in OWN.items() if name in Paper.model_fields}
    fields |= {"paper_id": "own", "authors": tuple(OWN["authors"])}
    paper = Paper.model_validate(fields)
    assert own_publications(replace(IDEA, metadata=metadata), [paper])
