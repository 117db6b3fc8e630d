"""The second reading: the plan defended against its concerns, by a reader who sees no severity."""

from dataclasses import dataclass

from schemas.base import replace
from schemas.failure import Failure, call_failures
from schemas.judgement.soundness import Concern, deciding
from schemas.literature.citation import Citation
from schemas.outcome import Unscored
from schemas.reasons import Reason
from tasks.assessment.material import STAGE, Material
from tasks.assessment.steps.challenge_concerns import (
    CHALLENGE_CONCERNS,
    ChallengeInput,
)
from tasks.assessment.weighing import SUBJECT
from tasks.citations.settle import citation_rows, settle
from tasks.judging.reply_fields import by_key
from tasks.judging.step import Engine


@dataclass(frozen=True, slots=True)
class Challenged:
    """All concerns, those that were challenged with their defense and what remains of them."""

    concerns: tuple[Concern, ...]
    citations: tuple[Citation, ...] = ()
    failures: tuple[Failure, ...] = ()


async def challenge_concerns(
    material: Material, concerns: tuple[Concern, ...], limit: int, engine: Engine
) -> Challenged:
    """Ask for the defense against each concern that decides and each other fatal one.

    Args:
        limit: of concerns, where none was weighed.
    """
    challenged = deciding(concerns, limit)
    if not challenged:
        return Challenged(concerns)
    question = ChallengeInput(
        idea=material.plan,
        concerns=tuple(material.concern_shown(each) for each in challenged),
        works=material.works,
    )
    outcome = await engine.run(CHALLENGE_CONCERNS, question)
    if isinstance(outcome, Unscored):
        return Challenged(
            concerns, failures=call_failures([outcome], STAGE, CHALLENGE_CONCERNS.name)
        )
    asked = {concern.concern_id for concern in challenged}
    answers = by_key([entry for entry in outcome.value.concerns if entry.remains], asked)
    texts = {key: settle(entry.defense, material.shown) for key, entry in answers.items()}
    # The settled text counts: nothing is left of a defense that only names an unknown key.
    texts = {key: text for key, text in texts.items() if text.markdown}
    whole = settle("\n\n".join(text.markdown for text in texts.values()), material.shown)
    return Challenged(
        tuple(
            replace(
                concern,
                defense=texts[concern.concern_id].markdown,
                confirmed_severity=answers[concern.concern_id].remains,
                removed_citation_count=concern.removed_citation_count
                + texts[concern.concern_id].removed_citation_count,
            )
            if concern.concern_id in texts
            else concern
            for concern in concerns
        ),
        citation_rows(whole, material.shown, module=STAGE, subject=SUBJECT, field="defense"),
        _unanswered(len(asked) - len(texts), len(asked)),
    )


def _unanswered(count: int, asked: int) -> tuple[Failure, ...]:
    if not count:
        return ()
    detail = (
        f"of {count} of {asked} concerns the reply does not say what remains, or says two things:"
        " not challenged"
    )
    return (
        Failure(
            stage=STAGE,
            subject=CHALLENGE_CONCERNS.name,
            reason=Reason.REPLY_UNPARSABLE,
            detail=detail,
        ),
    )
