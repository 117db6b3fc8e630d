"""A revision of a review: what a person accepted, rejected or asks to look at again.

Nothing is looked up: the works come back as they were frozen. Nothing is read anew either but the
passages about what is looked at again; the review of the whole is written over what stands then.
"""

from collections.abc import Mapping, Sequence

from schemas.base import replace
from schemas.works.check_run import Preference
from schemas.works.manuscripts import Attempt, Decision, ManuscriptCheck, ManuscriptReview, Problem
from tasks.judging.step import Engine
from tasks.manuscripts.candidates import Candidate
from tasks.manuscripts.pool import Pool
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.review import Review
from tasks.manuscripts.second_look import Looks, in_order, second_looks
from tasks.manuscripts.steps.read_section import CandidateReply
from tasks.manuscripts.steps.refute_problem import REFUTE_PROBLEM
from tasks.manuscripts.steps.weigh_problem import WEIGH_PROBLEM
from tasks.manuscripts.steps.write_review import WRITE_REVIEW
from tasks.manuscripts.writing import joined, review_of, unanswered, written_over

REVISION_STEPS = (REFUTE_PROBLEM, WEIGH_PROBLEM, WRITE_REVIEW)
_NEW_OF_A_LOOK = ("refuted", "open_question", "second_look", "confidence_0_to_1", "dispute")
Preferences = Mapping[str, Preference]
"""By problem_id, of one manuscript."""


async def revise_review(
    manuscript: Manuscript,
    earlier: ManuscriptCheck,
    said: Sequence[Preference],
    number: int,
    engine: Engine,
    pool: Pool,
) -> Review:
    """The `number`th attempt's review after what a person said of it; problems keep their identifiers. One
    that had nothing to say stays as it was.
    """
    preferences = {one.finding: one for one in said}
    attempt = next(one for one in earlier.attempts if one.attempt == number)
    own = [one for one in earlier.problems if one.attempt == number]
    before = next((one for one in earlier.reviews if one.attempt == number), None)
    if attempt.problem_count is None or attempt.provenance is None or before is None:
        return Review(attempt, before, tuple(own), ())
    reading = manuscript.reading
    again = [one for one in own if _is_asked_again(one, preferences)]
    looks = await second_looks(
        [_candidate(one, attempt) for one in again],
        manuscript,
        reading,
        engine,
        pool,
        [_said_before(one, preferences[one.problem_id]) for one in again],
    )
    decided = _decided(own, again, looks, preferences)
    told = attempt.provenance.shortening or ""
    written = await written_over(manuscript, reading, before.notes, decided, told, engine)
    return Review(
        attempt=Attempt(
            attempt=number,
            problem_count=sum(one.stands for one in decided),
            provenance=joined(attempt.provenance, [*looks.outcomes, written], None),
        ),
        written=_with_novelty_of(before, review_of(number, written, before.notes)),
        problems=tuple(decided),
        failures=(
            *looks.failures,
            *unanswered(WRITE_REVIEW, manuscript, [("as a whole", written)]),
        ),
    )


def _is_asked_again(problem: Problem, preferences: Preferences) -> bool:
    said = preferences.get(problem.problem_id)
    return said is not None and said.decision is Decision.LOOK_AGAIN


def _candidate(problem: Problem, attempt: Attempt) -> Candidate:
    """As it was raised, with the confidence that both looks left."""
    provenance = problem.provenance or attempt.provenance
    assert provenance is not None, "a review asks"
    return Candidate(
        problem.location,
        CandidateReply(
            problem=problem.problem,
            quote=problem.quote,
            explanation=problem.explanation,
            consequence=problem.explanation or problem.problem,
            confidence_percent=round(100 * (problem.confidence_0_to_1 or 0.5)),
        ),
        provenance,
    )


def _said_before(problem: Problem, preference: Preference) -> tuple[str, ...]:
    said = (
        f"An earlier look: {problem.second_look}" if problem.second_look else "",
        f"For the authors: {problem.optimistic}" if problem.optimistic else "",
        f"Against them: {problem.sceptical}" if problem.sceptical else "",
        f"The person who asks to look again: {preference.remark or 'no remark'}",
    )
    return tuple(each for each in said if each)


def _decided(
    own: Sequence[Problem], again: Sequence[Problem], looks: Looks, preferences: Preferences
) -> list[Problem]:
    """Each problem as it stands now, in order; one whose look had no answer is as it was."""
    looked = dict(zip((one.problem_id for one in again), looks.problems, strict=True))
    found = []
    for one in own:
        said, new = preferences.get(one.problem_id), looked.get(one.problem_id)
        changes = {} if said is None else {"decision": said.decision, "remark": said.remark}
        if new is not None and new.refuted is not None:
            changes |= {name: getattr(new, name) for name in _NEW_OF_A_LOOK}
        found.append(replace(one, **changes))
    return in_order(found)


def _with_novelty_of(before: ManuscriptReview, review: ManuscriptReview) -> ManuscriptReview:
    return replace(review, novelty=before.novelty, novelty_1_to_5=before.novelty_1_to_5)
