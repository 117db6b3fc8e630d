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


ARXIV, HERE, THERE = "https://arxiv.org/abs/2005.00001", "https://a.org/1", "https://b.org/2"
LEE, WRITER = {"authors": ("Ann Lee",)}, {"authors": ("Bo Writer",)}
TITLE, WEB = "One title of five words", {"kind": SourceKind.WEB}
SAME = [
    (found(f"{ARXIV}v2"), found("https://example.org/x", arxiv_id="2005.00001")),
    (found("https://arxiv.org/pdf/2005.00001"), found("https://doi.org/10.48550/arXiv.2005.00001")),
    (found(HERE, doi="10.1234/ABC"), found("https://doi.org/10.1234/abc")),
    (
        found(HERE, "Sparse attention at scale: a study", **LEE),
        found(THERE, "Sparse Attention at Scale – A Study", authors=("Lee, A.",)),
    ),
    (
        found("https://doi.org/10.1234/j", doi="10.1234/j", version_dois=("10.1101/123456",)),
        found("https://doi.org/10.1101/123456v2", doi="10.1101/123456v2"),
    ),
    (found("http://www.a.org/post/?utm_source=x#top", **WEB), found("https://a.org/post", **WEB)),
]
DIFFERENT = [
    (found(HERE, "Editorial"), found(THERE, "Editorial")),
    (found(HERE, TITLE, **WEB), found(THERE, TITLE, **WEB)),
    (found("https://a.org/post?id=1"), found("https://a.org/post?id=2")),
    (found(HERE, TITLE, doi="10.1234/a", **LEE), found(THERE, TITLE, doi="10.1234/b", **LEE)),
    (found(HERE, TITLE, **LEE), found(THERE, TITLE, **WRITER)),
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
    pool.add(find(found(ARXIV, TITLE, authors=("Ann Lee",), citation_count=3)))
    more = {"text": "An abstract.", "venue": "ICLR", "citation_count": 9, "doi": "10.1234/x"}
    pool.add(find(found(HERE, TITLE, authors=("A. Lee",), **more)))
    (candidate,) = pool
    item = candidate.item
    assert (item.url, item.text, item.venue, item.citation_count, item.doi) == (
        ARXIV, "An abstract.", "ICLR", 9, "10.1234/x",
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
