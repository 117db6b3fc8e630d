"""Versions of one work are one record, and works that merely resemble each other are not."""

from collections.abc import Callable
from datetime import date
from itertools import permutations
from typing import Any

import pytest

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from tasks.literature.versions import Works, each_once
from tests.support.growth import superlinear_from

TITLE = "Absorbers of moth scales for drones near bats"
ABSTRACT = (
    "We measure how far bats detect drones with acoustic absorbers of moth scales in the field;"
    " drones with absorbers are detected later."
)
OTHER = (
    "Lamps in cities draw insects at night. We count moths at twenty lamps over three years and"
    " find that their number falls with the brightness of the lamp."
)
PREPRINT = {"arxiv_id": "2301.00004", "venue": "arXiv", "year": 2023}
ARTICLE = {"doi": "10.1000/j5", "venue": "Journal of Bats", "year": 2024}


def record(name: str, **fields: Any) -> Paper:
    told = {"title": TITLE, "authors": ("Cara Third", "Bo Writer"), "year": 2023}
    return Paper(paper_id=PaperId(name), **(told | fields))


def joined(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return len(each_once([record("a", **one), record("b", **other)])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"arxiv_id": "2301.00004v2"}, {"arxiv_id": "arXiv:2301.00004"}),
        ({"arxiv_id": "2301.00004"}, {"doi": "10.48550/arXiv.2301.00004"}),
        ({"arxiv_id": "2301.00004"}, {"url": "https://arxiv.org/pdf/2301.00004v3"}),
        ({"doi": "10.1000/J5"}, {"doi": "https://doi.org/10.1000/j5."}),
        ({"doi": "10.1000/j5"}, {"url": "http://dx.doi.org/10.1000/j5"}),
        ({"doi": "10.21203/rs.3.rs-12/v1"}, {"doi": "10.21203/rs.3.rs-12/v2"}),
        ({"corpus_id": 7}, {"corpus_id": 7}),
        (
            {"url": "https://openalex.org/W12"},
            {"url": "https://www.openalex.org/W12"},
        ),
    ],
)
def test_identifiers_in_any_spelling_join_records(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert joined(one, other | {"title": "Another title", "authors": ()})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PREPRINT, ARTICLE),
        (PREPRINT, ARTICLE | {"authors": ("Third, C.",), "title": f"{TITLE.upper()}."}),
        ({"doi": "10.1101/2023.01.02.123456"}, ARTICLE),
        ({"doi": "10.2139/ssrn.12"}, PREPRINT),
        ({"doi": "10.1109/CVPR1.2023.1", "venue": "Proceedings of CVPR"}, ARTICLE),
        (PREPRINT | {"authors": (), "abstract": ABSTRACT}, ARTICLE | {"abstract": ABSTRACT}),
        (
            PREPRINT | {"abstract": ABSTRACT},
            ARTICLE | {"abstract": ABSTRACT, "title": f"{TITLE}: a study in the field"},
        ),
        ({"authors": ("Jörg Müller",)} | PREPRINT, {"authors": ("Mueller, J.",)} | ARTICLE),
    ],
)
def test_preprint_proceedings_and_journal_article_are_one_work(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert joined(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"doi": "10.1000/j5"}, {"doi": "10.1000/j6"}),
        ({"arxiv_id": "2301.00004"}, {"arxiv_id": "2301.00005"}),
        ({"authors": ("Ann Author",)}, {"authors": ("Eve Other",)}),
        ({"authors": ()}, {"authors": ()}),
        ({"authors": (), "abstract": ABSTRACT}, {"authors": (), "abstract": OTHER}),
        ({"title": "Editorial", "doi": "10.1000/e1"}, {"title": "Editorial"}),
        (
            {"title": f"{TITLE}: part I", "abstract": ABSTRACT},
            {"title": f"{TITLE}: part II", "abstract": ABSTRACT},
        ),
        ({"title": f"Correction to: {TITLE}", "abstract": ABSTRACT}, {"abstract": ABSTRACT}),
        ({"venue": "Reports", "year": 2019}, {"venue": "Reports", "year": 2020}),
        ({"arxiv_id": "solv-int/9901001"}, {"arxiv_id": "solid/9901002"}),
    ],
)
def test_different_works_stay_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not joined(one, other)


def test_a_preprint_joins_no_two_articles_with_different_dois() -> None:
    papers = [record("p", **PREPRINT), record("j", **ARTICLE)]
    papers.append(record("k", **ARTICLE | {"doi": "10.1000/k9"}))
    found = {
        frozenset(paper.paper_id for paper in each_once(order)) for order in permutations(papers)
    }
    assert found == {frozenset({"j", "k"})}


@pytest.mark.parametrize(
    ("title", "works"),
    [
        (lambda number: TITLE, lambda count: 1),
        (lambda number: f"Moths of town{number} seen{number} at lamps", lambda count: count),
    ],
    ids=["one work", "works of one author"],
)
def test_time_grows_with_the_number_of_records(
    title: Callable[[int], str], works: Callable[[int], int]
) -> None:
    papers = [record(f"p{number}", title=title(number), abstract=ABSTRACT) for number in range(400)]
    assert len(each_once(papers[:60])) == works(60)
    assert superlinear_from(lambda count: each_once(papers[:count]), len(papers), 50) is None


def test_the_published_version_is_shown_with_links_to_the_others() -> None:
    preprint = record(
        "p",
        **PREPRINT,
        abstract=ABSTRACT,
        url="https://arxiv.org/abs/2301.00004",
        publication_date=date(2023, 1, 5),
        open_access_pdf_url="https://arxiv.org/pdf/2301.00004",
    )
    article = record("j", **ARTICLE, url="https://example.org/j5", abstract="n/a")
    (shown,) = each_once([preprint, article])
    assert (shown.paper_id, shown.year, shown.venue) == ("j", 2024, "Journal of Bats")
    assert (shown.abstract, shown.open_access_pdf_url) == (
        ABSTRACT,
        "https://arxiv.org/pdf/2301.00004",
    )
    assert (shown.version_urls, shown.version_dates) == (
        ("https://arxiv.org/abs/2301.00004",),
        ("2023-01-05",),
    )


def test_what_a_record_has_is_not_replaced_by_another_version() -> None:
    article = record("j", **ARTICLE, abstract=ABSTRACT, citation_count=3)
    preprint = record("p", **PREPRINT, abstract=f"{ABSTRACT} {OTHER}", citation_count=9)
    (shown,) = each_once([preprint, article])
    assert (shown.abstract, shown.citation_count) == (ABSTRACT, 3)


def test_merging_twice_changes_nothing() -> None:
    papers = [record("p", **PREPRINT), record("j", **ARTICLE), record("x", title=f"{TITLE} again")]
    once = each_once(papers)
    assert each_once([*once, papers[0]]) == once == each_once(once)


def test_a_work_known_before_keeps_its_record_and_gets_a_link() -> None:
    preprint, article = record("p", **PREPRINT), record("j", **ARTICLE)
    works = Works([article], earlier=[preprint])
    assert works.first_of(article) == "p"
    assert works.merged(PaperId("p")).version_urls == ("https://doi.org/10.1000/j5",)
    assert works.merged(PaperId("p")).venue == "arXiv"
    assert works.versions_of(PaperId("p")) == ("j",)
