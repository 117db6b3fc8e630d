"""`assay literature`: building, serving, searching and auditing of snapshots."""

import dataclasses
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from dashboards.render import page as pg
from flows.cli.answer import print_answer, write_answer
from flows.cli.options import Commands, Json, Output
from flows.cli.output import print_table, write_lookup
from flows.cli.terminal import print_note, print_warning
from schemas.choices import LIVE, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.literature.audit import Action, Proposal
from schemas.literature.paper import Paper
from schemas.options.commands import AuditOptions, SearchOptions
from schemas.people.web_origins import is_loopback, names_of_server
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.works.literature.audit import AuditResult

application = Commands()
Papers = Annotated[
    Path,
    typer.Argument(
        metavar="PAPERS",
        help=(
            "Parquet or JSONL, the folder of a Semantic Scholar release, or OpenAlex works;"
            " with --update, changes."
        ),
    ),
]
Index = Annotated[
    Path,
    typer.Argument(
        metavar="INDEX",
        help="Folder of the index; an interrupted build resumes.",
    ),
]


@application.command("build")
def build(
    source: Papers,
    target: Index,
    embeddings: Annotated[
        bool,
        typer.Option(
            "--embeddings",
            metavar="",
            help="Embed every paper too (about 50 a second on two cores).",
        ),
    ] = False,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            metavar="",
            help=(
                "Apply PAPERS to the finished INDEX: new and changed rows, later OpenAlex parts, or"
                " diffs (updates/, deletes/)."
            ),
        ),
    ] = False,
    vectors_for: Annotated[
        Path | None,
        typer.Option(
            "--vectors-for",
            metavar="WAREHOUSE",
            help=(
                "Embed every paper for the evaluations of this warehouse beforehand; they then"
                " embed only ideas."
            ),
        ),
    ] = None,
) -> int:
    """Build or update the index of a snapshot.

    May be interrupted at any time: the same command resumes.
    """
    from flows.run.indexing import build_index, embed_for_evaluations, update_index

    print_note(
        update_index(source, target, embeddings, Settings())
        if update
        else build_index(source, target, embeddings, Settings())
    )
    if vectors_for is not None:
        print_note(embed_for_evaluations(target, vectors_for, Settings()))
    print_note(f"use it with --literature {LiteratureChoice(target)}")
    return 0


@application.command("serve")
def serve(
    literature: Annotated[
        str,
        typer.Option(
            "--literature", metavar="snapshot:PATH|live", help="Literature behind the gateway."
        ),
    ] = LIVE.text,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, metavar="N", help="0: any free port.")
    ] = 8765,
    cache: Annotated[
        Path, typer.Option("--cache", metavar="DIR", help="Where answers are kept.")
    ] = Path("literature-cache"),
) -> int:
    """Run the gateway: a Semantic Scholar API with one rate limit for all clients."""
    from flows.run.gateway import with_index
    from flows.works.evaluate.request import resolve_literature
    from tasks.literature.gateway.application import serve as serve_gateway

    settings = Settings()
    literature_choice = with_index(
        resolve_literature(LiteratureChoice.parse(literature), settings), settings
    )
    port = port or _free_port(host)
    print_note(
        f"gateway for {literature_choice} on http://{host}:{port}/graph/v1 – stop it with Ctrl-C"
    )
    if not is_loopback(host):
        names = ", ".join(names_of_server(host, settings.literature.allowed_hosts))
        print_note(
            f"it answers to these names only: {names}; ASSAY_LITERATURE__ALLOWED_HOSTS, a JSON"
            " list, adds others"
        )
    serve_gateway(settings, literature_choice, host, port, cache, None)
    return 0


@application.command("search")
def search(
    query: Annotated[str, typer.Argument(help="A few words.")],
    options: SearchOptions,
    output: Output = None,
    json: Json = False,
) -> int:
    """Search papers as an evaluation does; retracted or withdrawn works are marked."""
    from flows.works.literature.search import failures_in_words, papers_answer, search_papers

    answer = search_papers(query, options, Settings())
    if output is not None:
        write_lookup(output, papers_answer(answer), _page(query, answer.items))
    if json:
        write_answer(papers_answer(answer))
    elif output is None:
        print_table(
            ["year", "title", "venue", "url"],
            [[str(p.year or "–"), _title_with_mark(p), p.venue, p.url] for p in answer.items],
        )
    for line in failures_in_words(answer):
        print_warning(line)
    return 0 if answer.complete else 1


@application.command("audit")
def audit(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="Folder of a built index.")],
    options: AuditOptions,
    json: Json = False,
) -> int:
    """Find wrong, missing and duplicate records, and apply the corrections that you accept.

    Accepting makes a new version of the index; --undo restores the old one.
    """
    from flows.works.literature.audit import audit_index

    audit_result = audit_index(index, options, Settings())
    print_audit(audit_result, as_json=json)
    return 0 if not audit_result.warnings else 1


def _page(query: str, papers: Sequence[Paper]) -> pg.Page:
    rows = [
        (str(paper.year or "–"), pg.line(pg.link(_title_with_mark(paper), paper.url)), paper.venue)
        for paper in papers
    ]
    return pg.Page(pg.line(f"Papers on {query}"), (pg.table(("Year:", "Title", "Venue"), rows),))


def _title_with_mark(paper: Paper) -> str:
    return paper.title if paper.state is None else f"{paper.title} ({paper.state.mark})"


def _free_port(host: str) -> int:
    """Return a free port, so that its address can be printed before the gateway starts."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        try:
            probe.bind((host, 0))
        except OSError as error:
            raise ConfigurationError(
                f"cannot listen on {host} ({error.strerror or error}); choose another --host"
            ) from error
        return int(probe.getsockname()[1])


_TITLE_CHARACTERS = 40
_VALUE_CHARACTERS = 60


def print_audit(audit_result: "AuditResult", *, as_json: bool) -> None:
    standing = audit_result.standing
    open_count = sum(each["proposed"] + each["without_remedy"] for each in standing.counts)
    if as_json:
        print_answer(
            "findings" if open_count else "in_order",
            standing.proposals,
            warnings=audit_result.warnings,
            fingerprint=standing.fingerprint,
            rules=standing.counts,
            decided=dataclasses.asdict(audit_result.decided),
        )
        return
    for line in audit_result.warnings:
        print_warning(line)
    decisions = audit_result.decided
    for count, word in (
        (len(decisions.accepted), "accepted"),
        (len(decisions.rejected), "rejected"),
        (len(decisions.undone), "taken back"),
    ):
        if count:
            print_note(f"{count:,} {word}")
    print_note(f"snapshot {standing.fingerprint[:12]}: {open_count:,} open")
    names = ("rule", "proposed", "without_remedy", "accepted", "rejected", "undone")
    print_table(
        [name.replace("_", " ") for name in names],
        [[each[name] for name in names] for each in standing.counts],
    )
    if standing.proposals:
        print_table(
            ["proposal", "sure", "rule", "paper", "change", "why"],
            [_line(each) for each in standing.proposals],
        )


def _line(proposal: Proposal) -> list[str]:
    return [
        proposal.proposal_id,
        f"{proposal.confidence_0_to_1:.2f}",
        proposal.rule,
        _cut(proposal.title, _TITLE_CHARACTERS),
        _change(proposal),
        proposal.evidence,
    ]


def _change(proposal: Proposal) -> str:
    old, new = (_value(each) for each in (proposal.old, proposal.new))
    if proposal.action is Action.MERGE:
        return f"merge {old} into {new}"
    if proposal.action is Action.REMOVE_REFERENCE:
        return f"remove entry {old} of the reference list"
    right = "?" if proposal.action is Action.NONE else new
    return f"{proposal.field}: {old} → {right}"


def _value(text: str | None) -> str:
    try:
        value = None if text is None else orjson.loads(text)
    except orjson.JSONDecodeError:  # not written by an audit
        value = text
    if value in (None, []):
        return "nothing"
    return _cut(
        ", ".join(map(str, value)) if isinstance(value, list) else str(value), _VALUE_CHARACTERS
    )


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"
