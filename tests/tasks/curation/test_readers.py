"""Papers and reviews out of folders: PeerRead's shape, plain files, and what is no such thing."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from schemas.works.curation import ReviewedAt
from schemas.works.curation_run import CurationParameters
from tasks.accounting.ledger import Ledger
from tasks.curation import collect
from tasks.curation.collect import collect_papers
from tasks.curation.read import Reader
from tasks.curation.review_files import number_of, read_review_json
from tasks.curation.submission import (
    LONGEST_REVIEW,
    GivenReview,
    Submission,
    check_reviews,
    reject_submission,
)
from tasks.documents.document import Refusal
from tests.support.reviewed_papers import (
    FIRST_REVIEW,
    SECOND_REVIEW,
    TITLE,
    paper_text,
    peerread_folder,
    review_file,
)


def read(papers: Path, reviews: Path | None = None) -> dict[str, Submission | Refusal]:
    """Every paper there by name."""

    async def all_of_them() -> dict[str, Submission | Refusal]:
        reader = Reader(DocumentSettings(), None, asyncio.Semaphore(2))
        return {
            each.paper_id: await reader.read(each, Ledger(IdeaId(each.paper_id)), None)
            for each in collect_papers(str(papers), reviews)
        }

    return asyncio.run(all_of_them())


def files(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_a_folder_shaped_as_peerread_is_brings_papers_and_reviews(tmp_path: Path) -> None:
    found = read(peerread_folder(tmp_path / "set", a=(FIRST_REVIEW, SECOND_REVIEW)))
    paper = found["a"]
    assert isinstance(paper, Submission)
    assert paper.title == TITLE
    assert [each.heading for each in paper.paper.sections][:2] == [
        "1 Introduction",
        "2 Routing by difficulty",
    ]
    assert [each.rating for each in paper.reviews] == [4.0, 4.0]
    assert paper.reviews[0].text == FIRST_REVIEW


def test_meta_reviews_and_comments_without_a_recommendation_are_no_reviews() -> None:
    entries = [
        {"comments": "A review.", "RECOMMENDATION": "4"},
        {"comments": "A question from the public."},
        {"comments": "The chair says.", "RECOMMENDATION": "3", "is_meta_review": True},
    ]
    told = read_review_json(json.dumps({"reviews": entries, "accepted": True}).encode(), "a.json")
    assert not isinstance(told, Refusal)
    assert [each.text for each in told.reviews] == ["A review."]
    assert told.decision == "accepted"


def test_plain_files_may_be_one_text_a_review_in_a_folder_or_numbered(tmp_path: Path) -> None:
    papers = files(tmp_path / "papers", a__md=paper_text(), b__md=paper_text())
    reviews = files(tmp_path / "reviews", b__2__txt=SECOND_REVIEW, b__1__txt=FIRST_REVIEW)
    files(reviews / "a", one__txt=FIRST_REVIEW, two__md=SECOND_REVIEW)
    found = read(papers, reviews)
    for name in "ab":
        paper = found[name]
        assert isinstance(paper, Submission)
        assert [each.text for each in paper.reviews] == [FIRST_REVIEW, SECOND_REVIEW]
    assert collect_papers(str(papers), reviews)[0].reviewed_at is ReviewedAt.FILES


def test_what_a_file_of_reviews_says_of_its_paper_is_taken(tmp_path: Path) -> None:
    papers = files(tmp_path / "papers", a__md=paper_text())
    told = {"discipline": "ai", "licence": "CC BY 4.0", "cutoff_date": "2020-05", "version": 2}
    reviews = files(tmp_path / "reviews", a__json=review_file(FIRST_REVIEW, **told))
    paper = read(papers, reviews)["a"]
    assert isinstance(paper, Submission)
    assert (paper.discipline, paper.licence, str(paper.submitted)) == (
        *("ai", "CC BY 4.0"),
        "2020-05-31",
    )
    against = reject_submission(
        paper, check_reviews(paper.reviews), CurationParameters(fewest_reviews=1)
    )
    assert against is not None
    assert against.reason is Reason.LATER_VERSION


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.json", b'{"reviews": 3}', Reason.DAMAGED),
        ("a.json", b"[[[[", Reason.DAMAGED),
        ("a.1.txt", b"\xff\xfe\xfd", Reason.DAMAGED),
    ],
)
def test_reviews_that_cannot_be_read_are_said_in_one_line(
    tmp_path: Path, name: str, content: bytes, reason: Reason
) -> None:
    papers = files(tmp_path / "papers", a__md=paper_text())
    (tmp_path / "reviews").mkdir()
    (tmp_path / "reviews" / name).write_bytes(content)
    found = read(papers, tmp_path / "reviews")["a"]
    assert isinstance(found, Refusal)
    assert found.reason is reason
    assert "\n" not in found.detail


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    papers = files(tmp_path / "papers", a__md=paper_text())
    reviews = files(tmp_path / "reviews", b__1__txt="x")
    (reviews / "a.1.txt").symlink_to("/etc/hostname")
    found = read(papers, reviews)["a"]
    assert isinstance(found, Refusal)
    assert found.reason is Reason.WRONG_TYPE


def test_no_folder_of_papers_or_reviews_is_a_link(tmp_path: Path) -> None:
    home = files(tmp_path / "home", private__md="A secret of this machine.")
    papers = files(tmp_path / "papers", a__md=paper_text())
    reviews = files(tmp_path / "reviews", b__1__txt="x")
    (reviews / "a").symlink_to(home)
    found = read(papers, reviews)["a"]
    assert isinstance(found, Refusal)
    assert found.detail == "a is a link: put the file itself there"
    peerread = tmp_path / "peerread"
    peerread.mkdir()
    files(peerread / "reviews", a__json="{}")
    (peerread / "pdfs").symlink_to(home)
    with pytest.raises(ConfigurationError, match="pdfs is a link"):
        collect_papers(str(peerread), None)
    for name in ("b.pdf", "c.tex", "d.md"):
        (papers / name).symlink_to("/etc/hostname")
    found = read(papers, files(tmp_path / "well", **{f"{each}__1__txt": "x" for each in "bcd"}))
    assert [getattr(found[name], "reason", None) for name in "bcd"] == [Reason.WRONG_TYPE] * 3


def test_a_paper_whose_name_is_no_utf8_is_refused_in_one_line(tmp_path: Path) -> None:
    papers = files(tmp_path / "papers", a__md=paper_text())
    (papers / os.fsdecode(b"caf\xe9.md")).write_text(paper_text())
    with pytest.raises(ConfigurationError) as refusal:
        collect_papers(str(papers), files(tmp_path / "reviews", a__1__txt="x"))
    assert str(refusal.value) == f"the name of {papers}/caf?.md is no UTF-8: rename it"


def test_more_papers_than_a_set_may_have_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = files(tmp_path / "papers", a__txt="one", b__txt="two")
    monkeypatch.setattr(collect, "_MOST_PAPERS", 1)
    with pytest.raises(ConfigurationError, match="2 papers exceed the 1 allowed in one set"):
        collect_papers(str(papers), papers)


def test_folders_that_hold_no_papers_are_refused_in_one_line(tmp_path: Path) -> None:
    empty = files(tmp_path / "empty")
    for papers, reviews in ((empty, empty), (empty, None), (tmp_path / "none", None)):
        with pytest.raises(ConfigurationError) as refusal:
            collect_papers(str(papers), reviews)
        assert "\n" not in str(refusal.value)
    for given in ("openreview:", "openreview:a/b", "openreview:../x"):
        with pytest.raises(ConfigurationError):
            collect_papers(given, None)


GERMAN = "Die Idee ist neu und gut begründet, doch fehlt ein Vergleich mit anderen Verfahren."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" \n ", Reason.EMPTY),
        ("Good paper.", Reason.TOO_SHORT),
        (GERMAN * 3, Reason.OTHER_LANGUAGE),
        ("这个想法很新颖，但是缺乏与其他方法的比较。" * 20, Reason.OTHER_LANGUAGE),
        ("The idea is not new. " * (LONGEST_REVIEW // 20), Reason.TOO_LONG),
        (FIRST_REVIEW, Reason.DUPLICATE_TEXT),
        (SECOND_REVIEW, None),
    ],
)
def test_a_review_that_cannot_be_used_says_why(text: str, reason: Reason | None) -> None:
    review = check_reviews([GivenReview(FIRST_REVIEW), GivenReview(text)])[1]
    assert review.unused_reason is reason


def test_papers_whose_ratings_lie_further_apart_than_asked_for_are_left_out(tmp_path: Path) -> None:
    paper = read(peerread_folder(tmp_path / "set", a=(FIRST_REVIEW, SECOND_REVIEW)))["a"]
    assert isinstance(paper, Submission)
    apart = check_reviews([GivenReview(FIRST_REVIEW, 2.0), GivenReview(SECOND_REVIEW, 5.0)])
    assert reject_submission(paper, apart, CurationParameters()) is None
    against = reject_submission(paper, apart, CurationParameters(most_rating_spread=2.0))
    assert against is not None
    assert against.reason is Reason.REVIEWS_DISAGREE


@pytest.mark.parametrize(
    ("given", "number"),
    [
        ("6: marginally above", 6.0),
        ("4", 4.0),
        (3, 3.0),
        (True, None),
        ("good", None),
        ("nan", None),
        ("inf: strong accept", None),
        ("1e999", None),
        (float("nan"), None),
        (10**400, None),
        (None, None),
    ],
)
def test_ratings_are_read_as_venues_write_them(given: object, number: float | None) -> None:
    assert number_of(given) == number
