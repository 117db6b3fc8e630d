"""Nouns → Parquet → rows → the same nouns."""

from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import Noun, replace
from schemas.errors import PublicationError
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.judgement.contribution import Comparison
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import SoundnessReview
from schemas.judging import JudgeVote
from schemas.literature.paper import Paper
from schemas.outcome import Provenance
from schemas.reasons import Reason
from schemas.run import Module
from schemas.tables import TABLE
from tests.support.assessed_evaluations import make_assessed_evaluation, make_assessments
from tests.support.committee_evaluations import make_committee, make_full_evaluation, make_novelty
from tests.support.evaluations import (
    evaluation_of,
    make_evaluation,
    rows_of,
)
from warehouse.kinds.runs.landing import RUNS
from warehouse.parquet import arrow_table, read_rows, write_rows

NounT = TypeVar("NounT", bound=Noun)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
COUNT = st.integers(0, 2**62)
MOMENT = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 the strategy adds the zone
DAY = st.dates(date(1900, 1, 1), date(2100, 1, 1))


def judged(
    noun: type[NounT], score: str, scores: st.SearchStrategy[object], **fields: Any
) -> st.SearchStrategy[NounT]:
    """Nouns with a score, and nouns with the reason why there is none."""
    scored = st.builds(noun, **fields, **{score: scores}, unscored_reason=st.none())
    unscored = st.builds(
        noun, **fields, **{score: st.none()}, unscored_reason=st.sampled_from(Reason)
    )
    return scored | unscored


PROVENANCE = st.builds(
    Provenance,
    step=NAME,
    step_version=st.integers(1, 99),
    prompt_sha256=NAME,
    engine=NAME,
    model_requested=TEXT,
    model_answered=st.none() | TEXT,
    seed=st.none() | COUNT,
    created_at=MOMENT,
    shortening=st.none() | TEXT,
    call_ids=st.lists(NAME, max_size=3).map(tuple),
)
PAPER = st.builds(
    Paper,
    paper_id=NAME,
    corpus_id=st.none() | COUNT,
    title=TEXT,
    abstract=st.none() | TEXT,
    authors=st.lists(TEXT, max_size=4).map(tuple),
    venue=TEXT,
    year=st.none() | st.integers(1700, 2100),
    publication_date=st.none() | DAY,
    url=TEXT,
    doi=st.none() | TEXT,
    citation_count=st.none() | COUNT,
)
IDEA = st.builds(
    Idea,
    idea_id=NAME,
    title=TEXT,
    text=NAME,
    problem=st.none() | TEXT,
    cutoff_date=st.none() | DAY,
    group=st.none() | TEXT,
    metadata=st.dictionaries(TEXT, TEXT, max_size=3),
    duplicate_of=st.none() | NAME,
    duplicate_similarity_0_to_1=st.none() | st.floats(0, 1),
)
REVIEW = judged(
    SoundnessReview,
    "score_0_to_10",
    st.floats(0, 10),
    method_id=NAME,
    support=TEXT,
    contradictions=TEXT,
    evidence_count=COUNT,
    provenance=PROVENANCE,
)
COMPARISON = judged(
    Comparison,
    "score",
    st.integers(-1, 1),
    paper_id=NAME,
    dimension_id=NAME,
    dimension=TEXT,
    provenance=PROVENANCE,
)
VOTE = judged(
    JudgeVote,
    "score",
    st.floats(allow_nan=False, allow_infinity=False),
    step=NAME,
    question=NAME,
    item=TEXT,
    judge=NAME,
    model_answered=st.none() | NAME,
    unscored_detail=TEXT,
    call_ids=st.lists(NAME, max_size=2).map(tuple),
)


@st.composite
def evaluations(draw: st.DrawFn) -> IdeaEvaluation:
    base = make_evaluation(
        draw(st.integers(0, 3)), papers=3, methods=2, dimensions=1, compared=2, calls=1
    )
    assert base.soundness is not None
    assert base.contribution is not None
    soundness = replace(base.soundness, reviews=tuple(draw(st.lists(REVIEW, max_size=3))))
    if draw(st.booleans()):
        soundness = replace(soundness, summary=None)
    contribution = replace(
        base.contribution, comparisons=tuple(draw(st.lists(COMPARISON, max_size=3)))
    )
    return replace(
        base,
        idea=draw(IDEA),
        papers=tuple(draw(st.lists(PAPER, max_size=4))),
        soundness=draw(st.none() | st.just(soundness)),
        contribution=draw(st.none() | st.just(contribution)),
        committee=draw(st.none() | st.just(make_committee(0, base.papers))),
        novelty=draw(st.none() | st.just(make_novelty(0, base.papers))),
        assessment=draw(st.none() | st.just(make_assessments(new=Reason.NO_EVIDENCE))),
        judge_votes=tuple(draw(st.lists(VOTE, max_size=4))),
    )


@given(evaluations())
def test_an_evaluation_survives_parquet(evaluation: IdeaEvaluation) -> None:
    rows = rows_of(evaluation)
    with TemporaryDirectory() as folder:
        for name, found in rows.items():
            write_rows(TABLE[name], found, Path(folder) / f"{name}.parquet")
        read = {
            path.stem: list(reversed(read_rows(TABLE[path.stem], path)))
            for path in Path(folder).iterdir()
        }
    # Calls carry their own idea_id: the one of the ledger, whatever the idea is called.
    assert evaluation_of(read) == evaluation


def test_every_module_has_its_tables_and_every_field_a_place() -> None:
    evaluation = make_assessed_evaluation()
    assert set(evaluation.modules) == set(Module)
    for name, module in evaluation.modules.items():
        held = {part.path[-1] for part in RUNS.parts if part.path[:-1] == (name,)}
        assert held == set(type(module).model_fields)
        assert f"{name}_requested" in TABLE["ideas"].column_names
        assert name in TABLE["failures"].column("recorded_by").allowed


def test_means_by_dimension_keep_every_digit() -> None:
    evaluation = make_full_evaluation()
    assert evaluation.committee is not None
    assert evaluation.committee.meta_review is not None
    meta_review = replace(
        evaluation.committee.meta_review, dimension_means={"ease of use": 1 / 3, "Ω": 0.1}
    )
    changed = replace(evaluation, committee=replace(evaluation.committee, meta_review=meta_review))
    assert evaluation_of(rows_of(changed)) == changed


def test_a_module_not_asked_for_differs_from_one_that_found_nothing() -> None:
    evaluation = make_evaluation()
    assert evaluation_of(rows_of(replace(evaluation, contribution=None))).contribution is None
    assert evaluation.contribution is not None
    empty = replace(
        evaluation.contribution, dimensions=(), candidates=(), comparisons=(), reviews=()
    )
    assert evaluation_of(rows_of(replace(evaluation, contribution=empty))).contribution == empty


def test_a_failure_two_recorders_noticed_is_one_row() -> None:
    evaluation = make_evaluation()
    assert evaluation.soundness is not None
    failure = Failure(stage="literature", subject="m1", reason=Reason.TIMEOUT, detail="no answer")
    twice = replace(
        evaluation,
        soundness=replace(evaluation.soundness, failures=(failure,)),
        failures=(failure,),
    )
    assert len(rows_of(twice)["failures"]) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"year": "1999"}, r"papers\.year takes int64"),
        ({"title": None}, "papers.title is NULL in row 0"),
        ({"colour": "red"}, "unknown .'colour'."),
        ({"title": "\ud800"}, "papers.title takes string"),
        ({"corpus_id": 2**70}, "papers.corpus_id takes int64"),
    ],
)
def test_a_wrong_row_says_which_column_is_wrong(change: dict[str, object], message: str) -> None:
    row = rows_of(make_evaluation())["papers"][0]
    with pytest.raises(PublicationError, match=message):
        arrow_table(TABLE["papers"], [row | change])
    del row["url"]
    with pytest.raises(PublicationError, match=r"missing .'url'."):
        arrow_table(TABLE["papers"], [row])


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(
        PublicationError, match=r"ideas\.started_at holds a time without a time zone"
    ):
        rows_of(replace(make_evaluation(), started_at=datetime(2026, 1, 1)))  # noqa: DTZ001 the mistake under test
