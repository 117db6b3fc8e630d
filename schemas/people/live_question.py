"""Live questions: one question to two engines or profiles, with a vote on the answers.

Source: ScienceArena (OmniScientist §5.1).
"""

from datetime import datetime
from enum import StrEnum
from itertools import product
from typing import Any

import orjson
from pydantic import Field

from schemas.base import Noun, encodable
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.options.commands import EvaluateOptions, LakeOptions, PlanOptions
from schemas.options.values import option
from schemas.people.job import OFFERED_PROFILES, EvaluateJob, JobRequest, PlanJob
from schemas.people.votes import Track
from schemas.settings import DashboardSettings
from schemas.works.survey_run import AskJob, AskOptions, SurveyJob, SurveyOptions, as_question

LONGEST_IDEA = 50_000
"""Maximum characters of an idea; longer texts are manuscripts."""
_NAME_CHARACTERS = 80


class QuestionKind(StrEnum):
    """Kind of a live question."""

    QUESTION = "question"
    IDEA = "idea"
    TOPIC = "topic"

    @property
    def track(self) -> Track:
        """Track of the votes on the answers."""
        return Track.REVIEWS if self is QuestionKind.IDEA else Track.SURVEYS


class Side(Noun):
    """Side of a live question: an engine with a profile."""

    engine: EngineChoice
    api_base: str | None = None
    profile: str

    @property
    def name(self) -> str:
        return f"{self.engine} {self.api_base or ''} {self.profile}"


Sides = tuple[Side, Side]


class LiveQuestion(Noun):
    """One question and the two jobs that answer it."""

    question_id: str
    voter: str = Field(description="Pseudonym of the person who asks and votes.")
    kind: QuestionKind
    text: str = Field(min_length=1)
    sides: Sides
    job_ids: tuple[str, str] = Field(description="In the order of `sides`.")
    asked_at: datetime


class QuestionEnd(StrEnum):
    """End of a live question."""

    ANSWERED = "answered"
    FAILED = "failed"
    LEFT = "left"


def sides_offered(kind: QuestionKind, settings: DashboardSettings) -> tuple[Side, ...]:
    """Return the possible sides: every model of the dashboard with every shipped profile.

    The offline baseline is a side only without models, because a vote against a model would be
    wasted. It cannot write a survey of a topic.
    """
    engines: list[tuple[EngineChoice, str | None]] = [
        (EngineChoice(each.model), each.api_base) for each in settings.models.values()
    ]
    if not engines and kind is not QuestionKind.TOPIC:
        engines = [(EXTRACTIVE, None)]
    return tuple(
        Side(engine=engine, api_base=api_base, profile=profile)
        for (engine, api_base), profile in product(dict.fromkeys(engines), OFFERED_PROFILES)
    )


def clean_question(kind: QuestionKind, question: str) -> str:
    """Return the normalized text of a question.

    Raises:
        ConfigurationError: the text is empty, too long, or invalid.
    """
    if kind is not QuestionKind.IDEA:
        return as_question(question)
    text = question.strip()
    if not text or "\x00" in text or not encodable(text):
        raise ConfigurationError("write the idea: problem, method, planned experiments")
    if len(text) > LONGEST_IDEA:
        raise ConfigurationError(
            f"the idea has {len(text):,} characters; {LONGEST_IDEA:,} are the most"
        )
    return text


def jobs_for(
    question_id: str,
    kind: QuestionKind,
    text: str,
    sides: Sides,
    asked_at: datetime,
    *,
    maximum_cost_usd: float,
) -> tuple[JobRequest, JobRequest]:
    """Return the jobs of both sides, without the name of the voter.

    Args:
        maximum_cost_usd: of each side.
    """
    first, second = (
        _job(side, kind, text, f"{question_id} {number}", asked_at, maximum_cost_usd)
        for number, side in enumerate(sides)
    )
    return first, second


def estimates_for(
    kind: QuestionKind, text: str, sides: Sides, now: datetime, *, key: str
) -> tuple[JobRequest, JobRequest]:
    """Return the jobs that estimate both sides."""
    first, second = (
        _job(side, kind, text, f"{key} estimate {number}", now, None, dry_run=True)
        for number, side in enumerate(sides)
    )
    return first, second


def _job(
    side: Side,
    kind: QuestionKind,
    text: str,
    key: str,
    now: datetime,
    maximum_cost_usd: float | None,
    *,
    dry_run: bool = False,
) -> JobRequest:
    fields: dict[str, Any] = {
        "name": " ".join(text.split())[:_NAME_CHARACTERS],
        "asked_by": "a question to vote on",
        "created_at": now,
        "idempotency_key": content_hash(key),
    }
    options: dict[str, Any] = {
        "engine": side.engine,
        "api_base": side.api_base,
        "profile": side.profile,
        "max_cost_usd": maximum_cost_usd,
    }
    if kind is QuestionKind.IDEA:
        fields["ideas"] = orjson.dumps({"text": text}).decode() + "\n"
        if dry_run:
            return PlanJob(options=PlanOptions(**options), **fields)
        return EvaluateJob(options=EvaluateOptions(**options), **fields)
    if kind is QuestionKind.TOPIC:
        return SurveyJob(question=text, options=SurveyOptions(**options, dry_run=dry_run), **fields)
    return AskJob(question=text, options=AskOptions(**options, dry_run=dry_run), **fields)


class VoteOptions(LakeOptions):
    """Options of `assay vote`."""

    by: str = option(..., "ID", "Participant who asks and votes, from `assay people list`.")
    kind: QuestionKind = option(
        QuestionKind.QUESTION,
        "|".join(QuestionKind),
        "Kind of TEXT: a question to answer, an idea to review, or a topic to survey.",
    )
    choice: str | None = option(
        None,
        "a|b|good|bad|skip",
        "Instead of TEXT: your vote on the two answers shown to you; `good` and `bad`: both are.",
    )
    reason: str = option("", "TEXT", "With --choice: the reason.")
    dry_run: bool = option(False, "", "Estimate both answers without any call.")
