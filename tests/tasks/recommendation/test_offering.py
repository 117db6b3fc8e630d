"""What near works used, in a few lines with keys."""

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper, Passage
from tasks.recommendation.extracting import Offered, offered


def work(name: str, abstract: str) -> Paper:
    return Paper(paper_id=PaperId(name), title=f"Work {name}", abstract=abstract)


WORKS = (
    work("a", "We train on the Alpine Speech corpus. We reach 31 BLEU."),
    work(
        "b", "We test on the Alpine Speech corpus and the Valley Talk corpus. The BLEU rises there."
    ),
    work("c", "The Alpine Speech corpus is hard. Bridges are weighed."),
    work("d", "All of us use the Alpine Speech corpus."),
)


def test_what_most_works_used_leads_and_kinds_take_turns() -> None:
    found = offered(WORKS, (), 3)
    assert found.lines == (
        "data set: Alpine Speech [P1] [P2] [P3]",
        "metric: BLEU [P1] [P2]",
        "data set: Valley Talk [P2]",
    )
    assert [paper.paper_id for _, paper in found.shown] == ["a", "b", "c"]


def test_no_more_lines_than_asked_for_and_only_their_works_have_keys() -> None:
    found = offered(WORKS[1:], (), 1)
    assert found.lines == ("data set: Alpine Speech [P1] [P2] [P3]",)
    assert len(found.shown) == 3


def test_a_passage_tells_with_what_its_paper_compared_itself() -> None:
    rival = Paper(paper_id=PaperId("r"), title="Phrase tables")
    said = Passage(
        passage_id="s1",
        paper_id=PaperId("c"),
        text="Our system outperforms phrase tables.",
        kind="body",
        score=1.0,
        cited_paper_ids=(rival.paper_id, PaperId("c"), PaperId("unknown")),
    )
    assert offered((WORKS[2], rival), (said,), 5).lines[1:] == ("baseline: Phrase tables [P1]",)


def test_works_that_name_nothing_give_no_line() -> None:
    silent = work("z", "We thought about it.")
    assert (offered((silent,), (), 5), offered((), (), 5)) == (Offered(), Offered())
