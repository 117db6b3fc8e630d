"""`assay decide`: an answer to a request."""

from typing import Annotated

import typer

from flows.cli.answer import print_answer
from flows.cli.options import Json
from flows.cli.terminal import print_note
from schemas.errors import ConfigurationError
from schemas.people.decisions import LONGEST_REASON, DecideOptions, GivenAnswer, Verdict
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

_WORDS = {
    "approve": Verdict.APPROVED,
    "reject": Verdict.REJECTED,
    "choose": Verdict.CHOSEN,
    "send-back": Verdict.SENT_BACK,
    "comment": Verdict.COMMENTED,
}


def decide(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="As `assay inbox` names it.")],
    verdict: Annotated[str, typer.Argument(metavar="|".join(_WORDS), help="The answer.")],
    options: DecideOptions,
    choice: Annotated[
        int | None, typer.Argument(metavar="N", help="With `choose`: which alternative, from 1.")
    ] = None,
    json: Json = False,
) -> int:
    """Answer a request. An answer is final.

    The answer is refused if the evaluation has changed since the request.
    """
    from warehouse.app.decisions import decide_and_fold, request_named

    if verdict not in _WORDS:
        raise ConfigurationError(f"{verdict!r} is no answer: say one of {', '.join(_WORDS)}")
    if len(options.reason or "") > LONGEST_REASON:
        raise ConfigurationError(f"--reason: at most {LONGEST_REASON:,} characters")
    warehouse = Warehouse(options.warehouse.resolve()).existing()
    with ServiceDatabase(warehouse) as database:
        participants = (options.by,) if options.by else request_named(database, request).asked_of
        if len(participants) != 1:
            raise ConfigurationError(
                f"say who decides with --by: {', '.join(participants) or 'nobody may'}"
            )
        decision = decide_and_fold(
            warehouse,
            database,
            request,
            participants[0],
            GivenAnswer(
                verdict=_WORDS[verdict],
                choice=choice,
                reason=options.reason,
                version_sha256=options.version,
            ),
        )
    if json:
        print_answer(decision.verdict, [decision])
    else:
        print_note(f"{request}: {decision.verdict.replace('_', ' ')} by {decision.participant_id}")
    return 0
