"""Decisions as the services for programs take them: from deciders, each for themselves."""

from flows.api.service import Service
from flows.cli.answer import Answer, answer_of
from flows.cli.people.inbox import shown_request
from schemas.errors import NotAllowedError
from schemas.people.decisions import GivenAnswer
from schemas.people.role import Action, Token
from warehouse.app.decisions import decide_and_fold, open_requests
from warehouse.app.people import participant_with


def inbox(service: Service, token: Token) -> Answer:
    """What waits for the answer of who has the token, oldest first.

    Raises:
        NotAllowedError: the token's role may not decide, or it stands for no participant.
    """
    who = _decider(service, token)
    found = open_requests(service.database, who)
    return answer_of("listed", [shown_request(each) for each in found], participant_id=who)


def decide(service: Service, token: Token, request_id: str, given: GivenAnswer) -> Answer:
    """Answer a request, for good.

    Raises:
        As `inbox`, and as `warehouse.app.decisions.decide`.
    """
    made = decide_and_fold(
        service.warehouse, service.database, request_id, _decider(service, token), given
    )
    return answer_of(made.verdict, [made])


def _decider(service: Service, token: Token) -> str:
    token.scope.check(Action.DECIDE)
    found = participant_with(service.database, token.token_id)
    if found is None:
        raise NotAllowedError(
            f"this token stands for no participant: `assay people add NAME --key {token.token_id}`"
        )
    return found.participant_id
