"""Live questions: answered by two jobs, and voted on as any other pair.

A question and its two jobs are written in one transaction, so that a kill leaves nothing or a
question that resumes with the next runner.
"""

import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import NamedTuple

from schemas.errors import ConfigurationError, ConflictError, NotAllowedError, RateLimitedError
from schemas.people.job import JobState, check_offered
from schemas.people.live_question import (
    LiveQuestion,
    QuestionEnd,
    QuestionKind,
    Side,
    Sides,
    clean_question,
    jobs_for,
    sides_offered,
)
from schemas.people.votes import Choice, Contender, Contest, HumanVote, Offer, Track
from schemas.settings import Settings
from warehouse.app.contests import Part, contests_of, describe_contender, made_by_run, text_of
from warehouse.app.database import ServiceDatabase, Statements
from warehouse.app.jobs import Job, job_id_of, read_job, request_stop
from warehouse.app.submissions import add_submission, hand_over
from warehouse.app.voting import add_contests, cast, offer, open_offer, skip
from warehouse.queries import Queries
from warehouse.warehouse import Warehouse

_DAY = timedelta(days=1)
_ID_BYTES = 8
_ONE_LOST = "One of the two gave no answer, so there is nothing to vote on."


class Answers(NamedTuple):
    """Answers of both sides, in the order of the question's sides."""

    contest: Contest
    sides: tuple[Contender, Contender]
    texts: tuple[tuple[Part, ...], tuple[Part, ...]]


class NoVote(NamedTuple):
    """Reason why there is nothing to vote on.

    Attributes:
        why: one sentence.
        left: the answer that can still be read.
        ended: final state of the question; after a failure the same sides may be asked again.
    """

    why: str
    left: tuple[Part, ...] = ()
    ended: QuestionEnd = QuestionEnd.FAILED


ALREADY_VOTED = NoVote(
    "You were shown these two answers before: each pair is voted on once.",
    ended=QuestionEnd.ANSWERED,
)


def draw_sides(
    database: ServiceDatabase,
    voter: str,
    kind: QuestionKind,
    text: str,
    settings: Settings,
) -> Sides:
    """Draw the pair of sides that has met least often, ties at random.

    Raises:
        ConfigurationError: fewer than two sides are offered.
        ConflictError: every pair has answered this text to this voter.
    """
    offered_sides = sides_offered(kind, settings.dashboard)
    if len(offered_sides) < 2:
        raise ConfigurationError(
            "surveys of topics are written by models, and none is offered here: add one to"
            " ASSAY_DASHBOARD__MODELS"
        )
    counts: Counter[frozenset[str]] = Counter()
    seen_pairs = set()
    for each, question_end in _questions(database):
        pair = frozenset(side.name for side in each.sides)
        counts[pair] += each.kind is kind
        if (each.voter, each.kind, each.text) == (
            voter,
            kind,
            text,
        ) and question_end != QuestionEnd.FAILED:
            seen_pairs.add(pair)
    pairs: list[Sides] = list(combinations(offered_sides, 2))
    secrets.SystemRandom().shuffle(pairs)
    unseen = {frozenset(side.name for side in pair): pair for pair in pairs}
    for pair in seen_pairs:
        unseen.pop(pair, None)
    if not unseen:
        raise ConflictError("you have had this answered by all who may: ask something else")
    return unseen[min(unseen, key=counts.__getitem__)]


def ask(
    warehouse: Warehouse,
    database: ServiceDatabase,
    voter: str,
    kind: QuestionKind,
    text: str,
    sides: Sequence[Side],
) -> LiveQuestion:
    """Submit a question to both sides; durable on return.

    Asking the open question again returns it.

    Raises:
        ConfigurationError: the text is empty or too long, or a side is not offered.
        ConflictError: another question of the voter is open.
        RateLimitedError: the voter has reached the daily limit.
    """
    now, (first, second) = datetime.now(UTC), sides
    question = LiveQuestion(
        question_id=secrets.token_hex(_ID_BYTES),
        voter=voter,
        kind=kind,
        text=clean_question(kind, text),
        sides=(first, second),
        job_ids=("", ""),
        asked_at=now,
    )
    bound_usd = warehouse.settings.voting.question_cost_usd
    requests = jobs_for(
        question.question_id, kind, question.text, question.sides, now, maximum_cost_usd=bound_usd
    )
    for request in requests:
        check_offered(request, warehouse.settings.dashboard)
    question = question.model_copy(update={"job_ids": tuple(map(job_id_of, requests))})
    with database.transaction() as work:
        existing = open_question(work, voter)
        if existing is not None:
            if (existing.kind, existing.text) == (question.kind, question.text):
                return existing
            raise ConflictError("a question of yours is open: vote on its answers, or leave it")
        since = (now - _DAY).timestamp()
        ((count,),) = work.ask("questions_since", voter=voter, since=since)
        if count >= warehouse.settings.voting.questions_per_day:
            raise RateLimitedError(f"{count} questions in a day are the limit: continue tomorrow")
        work.add(
            "questions",
            question_id=question.question_id,
            voter=voter,
            question=question.model_dump_json(),
            asked_at=now.timestamp(),
        )
        for request in requests:
            add_submission(work, voter, request, charge_usd=bound_usd)
    hand_over(warehouse, database)
    return question


def open_question(database: Statements, voter: str) -> LiveQuestion | None:
    """Return the voter's question that is being answered or waits for their vote."""
    return database.noun(LiveQuestion, "questions", "question", voter=voter, ended=None)


def at_work(warehouse: Warehouse, database: ServiceDatabase, question: LiveQuestion) -> bool:
    """Return whether a side's job is unfinished; queues jobs that a kill left out."""
    jobs = [read_job(warehouse, name) for name in question.job_ids]
    if None in jobs:
        hand_over(warehouse, database)
        jobs = [read_job(warehouse, name) for name in question.job_ids]
    return any(job is not None and job.at_work for job in jobs)


def answers_to(warehouse: Warehouse, queries: Queries, question: LiveQuestion) -> Answers | NoVote:
    """Return both answers once neither job is unfinished."""
    track = question.kind.track
    sides = tuple(_contender(warehouse, queries, track, name) for name in question.job_ids)
    texts = tuple(() if side is None else text_of(queries, track, side) for side in sides)
    first, second = sides
    if first is None or second is None or not all(texts):
        return NoVote(_ONE_LOST, next(filter(None, texts), ()))
    if first == second or texts[0] == texts[1]:
        reason = "Both gave the same answer, so there is nothing to vote on."
        return NoVote(reason, texts[0], QuestionEnd.LEFT)
    for contest in contests_of(queries, track):
        if {first, second} <= set(contest.contenders):
            return Answers(contest, (first, second), (texts[0], texts[1]))
    return NoVote("The two answers are not about the same thing, so nothing can be voted on.")


def offer_of(
    database: ServiceDatabase, question: LiveQuestion, answers: Answers, settings: Settings
) -> Offer | None:
    """Offer the pair to the voter, sides shuffled, never scrambled.

    None: they have voted on these two answers before.
    """
    of_pair = answers.contest.model_copy(update={"contenders": answers.sides})
    names = {side.name for side in answers.sides}
    add_contests(database, (answers.contest,))
    existing = open_offer(database, question.voter, (of_pair, answers.contest))
    if (
        existing is not None
        and {existing.first.contender.name, existing.second.contender.name} == names
    ):
        return existing
    first, second = (
        describe_contender(side, parts)
        for side, parts in zip(answers.sides, answers.texts, strict=True)
    )
    unscrambled_settings = settings.voting.model_copy(update={"check_share": 0.0})
    try:
        return offer(database, question.voter, of_pair, (first, second), unscrambled_settings)
    except ConflictError:
        return None


def answer(
    database: ServiceDatabase,
    voter: str,
    question: LiveQuestion,
    offer_id: str,
    choice: Choice | None,
    reason: str,
) -> HumanVote | None:
    """Record the vote on a question (None: skip), and end it. Raises as `cast`."""
    if voter != question.voter:
        raise NotAllowedError("this question is another's: ask one of your own")
    if open_question(database, voter) != question:
        raise NotAllowedError("this question is ended: ask another one")
    vote = None
    if choice is None:
        skip(database, voter, offer_id)
    else:
        vote = cast(database, voter, offer_id, choice, reason)
    end(database, question, QuestionEnd.ANSWERED if vote else QuestionEnd.LEFT)
    return vote


def end(database: ServiceDatabase, question: LiveQuestion, how: QuestionEnd) -> None:
    with database.transaction() as work:
        work.change("questions", {"ended": how}, question_id=question.question_id, ended=None)


def leave(warehouse: Warehouse, database: ServiceDatabase, question: LiveQuestion) -> None:
    """End a question without a vote, and stop its jobs."""
    end(database, question, QuestionEnd.LEFT)
    for job in _jobs(warehouse, question):
        if job.at_work:
            request_stop(job)


def _jobs(warehouse: Warehouse, question: LiveQuestion) -> Iterator[Job]:
    every_job = (read_job(warehouse, name) for name in question.job_ids)
    return (job for job in every_job if job is not None)


def _contender(
    warehouse: Warehouse, queries: Queries, track: Track, job_id: str
) -> Contender | None:
    """Return the contender that a job produced; None if it failed or ended early."""
    job = read_job(warehouse, job_id)
    if job is None or job.status.state is not JobState.DONE or job.status.budget_reached:
        return None
    return made_by_run(queries, track, job.status.run_id) if job.status.run_id else None


def _questions(database: ServiceDatabase) -> Iterator[tuple[LiveQuestion, str | None]]:
    for document, final_state in database.rows("questions", "question", "ended", order="asked_at"):
        yield LiveQuestion.model_validate_json(document), final_state
