"""When two finds are the same thing."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.judgement.committee import IdeaPart, KnowledgePhase
from schemas.literature.knowledge import KnowledgeItem, SourceKind
from schemas.literature.publication import DatePrecision
from tasks.committee.knowledge.pool import Find, Pool, Query, bare_address, identities, paper_of
from tasks.committee.knowledge.reader import repository_of

LAST_DAY = date(2020, 12, 31)
QUERY = Query(IdeaPart.METHODS, SourceKind.PAPERS, "sparse attention")


def found(
    url: str, title: str = "", kind: SourceKind = SourceKind.PAPERS, **more: Any
) -> KnowledgeItem:
    return KnowledgeItem(kind=kind, source="fake", title=title, url=url, **more)


def find(item: KnowledgeItem, phase: KnowledgePhase = KnowledgePhase.BEFORE) -> Find:
    return Find(item, phase, QUERY, 1)


SAME = [
    (
        found("https://arxiv.org/abs/2005.00001v2"),
        found("https://example.org/x", arxiv_id="2005.00001"),
    ),
    (found("https://arxiv.org/pdf/2005.00001"), found("https://doi.org/10.48550/arXiv.2005.00001")),
    (found("https://a.org/1", doi="10.1234/ABC"), found("https://doi.org/10.1234/abc")),
    (
        found("https://a.org/1", "Sparse attention at scale: a study", authors=("Ann Lee",)),
        found("https://b.org/2", "Sparse Attention at Scale – A Study", authors=("Lee, A.",)),
    ),
    (
        found("https://doi.org/10.1234/j", doi="10.1234/j", version_dois=("10.1101/123456",)),
        found("https://doi.org/10.1101/123456v2", doi="10.1101/123456v2"),
    ),
    (
        found("http://www.a.org/post/?utm_source=x#top", kind=SourceKind.WEB),
        found("https://a.org/post", kind=SourceKind.WEB),
    ),
]
DIFFERENT = [
    (found("https://a.org/1", "Editorial"), found("https://b.org/2", "Editorial")),
    (
        found("https://a.org/1", "One and the same headline", SourceKind.WEB),
        found("https://b.org/2", "One and the same headline", SourceKind.WEB),
    ),
    (found("https://a.org/post?id=1"), found("https://a.org/post?id=2")),
    (
        found(
            "https://a.org/1",
            "One title and the same author",
            authors=("Ann Lee",),
            doi="10.1234/a",
        ),
        found(
            "https://b.org/2",
            "One title and the same author",
            authors=("Ann Lee",),
            doi="10.1234/b",
        ),
    ),
    (
        found("https://a.org/1", "One title and different authors", authors=("Ann Lee",)),
        found("https://b.org/2", "One title and different authors", authors=("Bo Writer",)),
    ),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_aliases_are_merged(left: KnowledgeItem, right: KnowledgeItem) -> None:
    pool = Pool()
    assert pool.add(find(left)) is not None
    assert pool.add(find(right)) is None


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_title_alone_merges_nothing(left: KnowledgeItem, right: KnowledgeItem) -> None:
    pool = Pool()
    assert pool.add(find(left)) is not None
    assert pool.add(find(right)) is not None


def test_merging_fills_gaps_and_keeps_the_higher_counts() -> None:
    pool = Pool()
    pool.add(
        find(
            found(
                "https://arxiv.org/abs/2005.00001",
                "A title of five words",
                authors=("Ann Lee",),
                citation_count=3,
            )
        )
    )
    pool.add(
        find(
            found(
                "https://a.org/1",
                "A title of five words",
                authors=("A. Lee",),
                text="An abstract.",
                venue="ICLR",
                citation_count=9,
                doi="10.1234/x",
            )
        )
    )
    (candidate,) = pool
    item = candidate.item
    assert (item.url, item.text, item.venue, item.citation_count, item.doi) == (
        "https://arxiv.org/abs/2005.00001", "An abstract.", "ICLR", 9, "10.1234/x",
    )  # fmt: skip
    assert pool.add(find(found("https://doi.org/10.1234/x"))) is None


@pytest.mark.parametrize(
    "order",
    [(KnowledgePhase.BEFORE, KnowledgePhase.AFTER), (KnowledgePhase.AFTER, KnowledgePhase.BEFORE)],
)
def test_what_one_source_dates_before_the_cutoff_is_no_later_knowledge(
    order: tuple[KnowledgePhase, ...],
) -> None:
    pool = Pool()
    for phase in order:
        pool.add(find(found("https://arxiv.org/abs/2005.00001"), phase))
    assert [candidate.phase for candidate in pool] == [KnowledgePhase.BEFORE]


@pytest.mark.parametrize(
    ("precision", "day"),
    [(None, LAST_DAY), (DatePrecision.DAY, LAST_DAY), (DatePrecision.YEAR, None)],
)
def test_only_a_year_known_alone_gives_no_day(
    precision: DatePrecision | None, day: date | None
) -> None:
    item = found("https://a.org/1", "Title", published=LAST_DAY, precision=precision)
    assert (paper_of(item).publication_date, paper_of(item).year) == (day, 2020)


@given(st.text(max_size=80))
def test_no_address_is_too_strange(rest: str) -> None:
    identities(found(f"https://{rest}", rest, doi=rest, arxiv_id=rest))
    bare_address(rest)
    repository_of(f"https://github.com/{rest}")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/lab/sparse", "lab/sparse"),
        ("https://www.github.com/lab/sparse.git", "lab/sparse"),
        ("https://github.com/lab/sparse/blob/main/model.py", "lab/sparse"),
        ("https://github.com/topics/attention", None),
        ("https://github.com/lab", None),
        ("https://github.com/../etc", None),
        ("https://github.com.evil.org/lab/sparse", None),
        ("https://gist.github.com/lab/abc", None),
    ],
)
def test_only_repositories_on_github_are_read_as_such(url: str, name: str | None) -> None:
    assert repository_of(url) == name
