"""A stored noun holds a judgement or the reason why there is none."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from schemas.base import Noun, replace
from schemas.identifiers import IdeaId
from schemas.judgement.benchmark import BenchmarkItem, BenchmarkScore
from schemas.judgement.ranking import RatingMethod, Winner
from schemas.outcome import Judged
from schemas.reasons import Reason
from schemas.tables import TABLES
from schemas.works.manuscripts import Attempt, ManuscriptReview, Vote
from tests.support.assessed_evaluations import make_assessed_evaluation
from tests.support.curation_lake import make_curation
from tests.support.draft_lake import make_draft
from tests.support.experiment_lake import make_experiment
from tests.support.ideation_lake import make_round
from tests.support.rankings import make_match, make_rating
from tests.support.survey_lake import make_survey, with_review

FIRST, SECOND = IdeaId("first"), IdeaId("second")
JUDGED: tuple[Judged, ...] = (
    Attempt(attempt=1, problem_count=0),
    ManuscriptReview(attempt=1, summary="They sorted pebbles.", provenance=None),
    Vote(problem_id="a1p1", judge="judge", repetition=1, hit=False, provenance=None),
    BenchmarkItem(item_id="1", task="pair", system="assay", answer="first"),
    BenchmarkScore(suite="pairs", metric="accuracy", system="assay", value=0.0, count=1),
    make_match(1, "all", FIRST, SECOND, "overall", "extractive", Winner.TIE),
    make_rating(0, 2, FIRST, "all", "overall", RatingMethod.ELO),
)


def _within(noun: Noun) -> Iterator[Judged]:
    """Every noun in `noun` that holds a judgement."""
    if isinstance(noun, Judged):
        yield noun
    for name in type(noun).model_fields:
        value = getattr(noun, name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Noun):
                yield from _within(each)


def _unjudged(noun: Judged) -> dict[str, object]:
    fields = type(noun).model_fields
    return {
        name: None if fields[name].is_required() else fields[name].default
        for name in noun.JUDGEMENT
    }


EXAMPLES = {
    type(noun): noun
    for noun in (
        *_within(make_assessed_evaluation()),
        *_within(with_review(make_survey())),
        *_within(make_curation()),
        *_within(make_experiment()),
        *_within(make_round()),
        *_within(make_draft()),
        *JUDGED,
    )
    if any(getattr(noun, name) != empty for name, empty in _unjudged(noun).items())
}


def test_every_stored_noun_that_may_be_unscored_is_held_to_it() -> None:
    unscored = [table for table in TABLES if "unscored_reason" in table.column_names]
    held = [kind for kind in EXAMPLES if kind.REASON == "unscored_reason"]
    assert len(held) == len(unscored)
    assert set(EXAMPLES) == set(Judged.__subclasses__())


def test_a_noun_holds_a_judgement_or_the_reason_why_there_is_none() -> None:
    for noun in EXAMPLES.values():
        with pytest.raises(ValidationError, match="one of both only"):
            replace(noun, **{noun.REASON: Reason.REFUSED})
        assert replace(noun, **_unjudged(noun), **{noun.REASON: Reason.REFUSED})
        if not noun.MAY_BE_NEITHER:
            with pytest.raises(ValidationError, match="one is needed"):
                replace(noun, **_unjudged(noun))
