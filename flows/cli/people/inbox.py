"""`assay inbox`: open requests."""

from collections.abc import Sequence

from dashboards.render import figures
from flows.cli.answer import EXIT_WAITING, print_answer
from flows.cli.options import Json
from flows.cli.output import print_columns
from flows.cli.terminal import print_note
from schemas.people.decisions import InboxOptions, Request
from schemas.run import WorkHead
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse


def inbox(options: InboxOptions, json: Json = False) -> int:
    """List the requests that wait for an answer, oldest first."""
    from warehouse.app.decisions import open_requests
    from warehouse.app.people import participant

    with ServiceDatabase(Warehouse(options.warehouse.resolve()).existing()) as database:
        if options.by is not None:
            participant(database, options.by)
        requests = tuple(open_requests(database, options.by))
    if json:
        print_answer(
            "waiting" if requests else "answered", [request_fields(each) for each in requests]
        )
    elif requests:
        _print(requests)
    else:
        owner_text = "" if options.by is None else f" of {options.by}"
        print_note(f"nothing waits for an answer{owner_text}")
    return 0


def waiting_in_words(waiting: Sequence[Request], run: WorkHead, *, goes_on: bool = True) -> str:
    """Return one line on open requests.

    Args:
        goes_on: whether the job runner resumes the work by itself.
    """
    actor = "the job runner" if goes_on else "the same command"
    return (
        f"run {run.run_id} waits for {figures.plural(len(waiting), 'decision')}: `assay inbox`"
        f" lists them, and {actor} resumes once they are made"
    )


def print_waiting(
    waiting: Sequence[Request], run: WorkHead, *, goes_on: bool = False, as_json: bool
) -> int:
    line = waiting_in_words(waiting, run, goes_on=goes_on)
    if as_json:
        print_answer(
            "waiting", [request_fields(each) for each in waiting], run=run, warnings=(line,)
        )
    else:
        print_note(line)
    return EXIT_WAITING


def request_fields(request: Request) -> dict[str, object]:
    """Return a request with the hash of its subject, in place of the parts."""
    fields = request.model_dump(mode="json", exclude={"parts"})
    return fields | {"version_sha256": request.version_sha256}


def _print(requests: Sequence[Request]) -> None:
    def what(request: Request) -> str:
        options = (f"{number}. {option}" for number, option in enumerate(request.options, 1))
        return "; ".join(filter(None, (request.criteria, *options)))

    print_columns(
        requests,
        {
            "request": lambda each: each.request_id,
            "run": lambda each: each.run_id,
            "about": lambda each: each.unit_id,
            "for": lambda each: each.stage or "",
            "asked of": lambda each: ", ".join(each.asked_of),
            "since, UTC": lambda each: f"{each.requested_at:%Y-%m-%d %H:%M}",
            "version": lambda each: each.version_shown,
            "what": what,
        },
    )
