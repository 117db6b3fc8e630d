"""Contests of blind votes: their contenders, and the texts that voters see."""

from typing import NamedTuple

from schemas.identifiers import RunId
from schemas.people.vote_report import Board
from schemas.people.votes import Contender, Contest, HumanVote, Shown, Track
from schemas.text.patterns import IGNORECASE, escape, linear
from warehouse.lake import rows_in
from warehouse.queries import Queries
from warehouse.rows import noun_of
from warehouse.statements import statement

_LINK = "](http"
NAME_LEFT_OUT = "…"


class Part(NamedTuple):
    """A section of a text; untrusted Markdown."""

    heading: str
    text: str


def contests_of(queries: Queries, track: Track, run_id: RunId | None = None) -> tuple[Contest, ...]:
    """Return contests with two or more contenders, by group.

    Args:
        run_id: of the track of ideas; other tracks have contenders of several runs.
    """
    parameters = {"run_id": run_id} if track is Track.IDEAS else {}
    members: dict[str, list[Contender]] = {}
    sql = statement("votes", f"{track}_contests")
    for row in rows_in(queries.connection, sql, parameters):
        contender = Contender(run_id=row["run_id"], item_id=row["item_id"])
        members.setdefault(row["group"], []).append(contender)
    return tuple(
        Contest(track=track, group=group, contenders=tuple(contenders))
        for group, contenders in sorted(members.items())
        if len(contenders) > 1
    )


def text_of(queries: Queries, track: Track, contender: Contender) -> tuple[Part, ...]:
    """Return the text of a contender by section; empty if the lake no longer has it.

    Names of models are masked in texts that engines wrote.
    """
    sql = statement("votes", f"{track}_text")
    rows = rows_in(queries.connection, sql, contender.model_dump())
    parts = tuple(Part(row["heading"] or "", row["text"] or "") for row in rows)
    names = () if track is Track.IDEAS else _names_of_models(queries)
    if not names:
        return parts
    pattern = linear("|".join(map(escape, names)), IGNORECASE)
    return tuple(Part(*(pattern.sub(NAME_LEFT_OUT, text) for text in part)) for part in parts)


def _names_of_models(queries: Queries) -> tuple[str, ...]:
    """Return the names of all models, longest first; plain words such as `small` are skipped."""
    rows = rows_in(queries.connection, statement("votes", "engines"))
    models = (row["engine"].partition(":")[2] for row in rows)
    names = {name for model in models for name in (model, model.rpartition("/")[2])}
    distinctive = {name for name in names if len(name) > 3 and not name.isalpha()}
    return tuple(sorted(distinctive, key=lambda name: (-len(name), name)))


_RUN_STATEMENTS = {Track.REVIEWS: "first_run_of_review", Track.SURVEYS: "survey_of_run"}


def made_by_run(queries: Queries, track: Track, run_id: RunId) -> Contender | None:
    """Return the contender that a run of one idea or question produced; None if none."""
    sql = statement("votes", _RUN_STATEMENTS[track])
    for row in rows_in(queries.connection, sql, {"run_id": run_id}):
        return Contender(run_id=row["run_id"], item_id=row["item_id"])
    return None


def describe_contender(contender: Contender, parts: tuple[Part, ...]) -> Shown:
    """Return a contender with its length and number of citations, which may bias voters."""
    texts = [part.text for part in parts]
    return Shown(
        contender=contender,
        words=sum(len(text.split()) for text in texts),
        citations=sum(text.count(_LINK) for text in texts),
    )


def human_votes(queries: Queries) -> tuple[HumanVote, ...]:
    rows = rows_in(queries.connection, statement("votes", "human_votes"))
    return tuple(noun_of(HumanVote, row) for row in rows)


def makers(queries: Queries) -> dict[str, dict[Board, str]]:
    """Return engine, profile and prompts by run; of checks the form counts as the profile."""
    rows = rows_in(queries.connection, statement("votes", "makers"))
    return {
        row["run_id"]: {
            Board.ENGINES: row["engine"],
            Board.PROFILES: row["profile"],
            Board.PROMPTS: row["prompts"] or "",
        }
        for row in rows
    }
