"""What blind votes may be asked about: what meets what, and the text that a voter sees of it."""

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
    """A piece of a text under its heading; Markdown that nobody has vouched for."""

    heading: str
    text: str


def contests_of(queries: Queries, track: Track, run_id: RunId | None = None) -> tuple[Contest, ...]:
    """Contests with two contenders or more, by group.

    Args:
        run_id: whose ideas meet; of the other tracks, whose contenders are of several runs, all
            contests are given.
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
    """The text of one side, part by part; empty where the lake no longer holds it.

    Of what engines wrote, the names of models are left out: one that is asked to may give its own.
    """
    sql = statement("votes", f"{track}_text")
    rows = rows_in(queries.connection, sql, contender.model_dump())
    parts = tuple(Part(row["heading"] or "", row["text"] or "") for row in rows)
    names = () if track is Track.IDEAS else _names_of_models(queries)
    if not names:
        return parts
    telling = linear("|".join(map(escape, names)), IGNORECASE)
    return tuple(Part(*(telling.sub(NAME_LEFT_OUT, text) for text in part)) for part in parts)


def _names_of_models(queries: Queries) -> tuple[str, ...]:
    """Of all that wrote anything, the longest first; a word such as `small` is no name."""
    rows = rows_in(queries.connection, statement("votes", "engines"))
    models = (row["engine"].partition(":")[2] for row in rows)
    names = {name for model in models for name in (model, model.rpartition("/")[2])}
    telling = {name for name in names if len(name) > 3 and not name.isalpha()}
    return tuple(sorted(telling, key=lambda name: (-len(name), name)))


_MADE_BY_RUN = {Track.REVIEWS: "first_run_of_review", Track.SURVEYS: "survey_of_run"}


def made_by_run(queries: Queries, track: Track, run_id: RunId) -> Contender | None:
    """Return what a run of one idea or one question wrote, as it stands in its contest; None:
    nothing.
    """
    sql = statement("votes", _MADE_BY_RUN[track])
    for row in rows_in(queries.connection, sql, {"run_id": run_id}):
        return Contender(run_id=row["run_id"], item_id=row["item_id"])
    return None


def shown(contender: Contender, parts: tuple[Part, ...]) -> Shown:
    """One side with what is known to sway voters: its length, and how often it cites."""
    whole = [part.text for part in parts]
    return Shown(
        contender=contender,
        words=sum(len(text.split()) for text in whole),
        citations=sum(text.count(_LINK) for text in whole),
    )


def human_votes(queries: Queries) -> tuple[HumanVote, ...]:
    """The lake's votes, in order of time."""
    rows = rows_in(queries.connection, statement("votes", "human_votes"))
    return tuple(noun_of(HumanVote, row) for row in rows)


def makers(queries: Queries) -> dict[str, dict[Board, str]]:
    """Return who made what a run wrote, by run; of checks the form is the profile."""
    rows = rows_in(queries.connection, statement("votes", "makers"))
    return {
        row["run_id"]: {
            Board.ENGINES: row["engine"],
            Board.PROFILES: row["profile"],
            Board.PROMPTS: row["prompts"] or "",
        }
        for row in rows
    }
