"""Vote: two ideas, reviews, surveys or lists of findings side by side, blind; answers to a question
of one's own; and how they stand.
"""

from functools import partial

import streamlit as st

from dashboards.app import empty, state
from dashboards.app.access import check_may, may, services_of
from dashboards.app.data import Lake
from dashboards.app.voting import ballot, live, standings
from schemas.identifiers import RunId
from schemas.people.role import Action
from schemas.people.vote_report import Board
from schemas.people.votes import Choice, Contender, Contest, Offer, Track
from schemas.settings import VotingSettings
from warehouse.app.contests import Part, contests_of, makers, shown, text_of
from warehouse.app.database import ServiceDatabase
from warehouse.app.people import pseudonym_of
from warehouse.app.voting import (
    add_contests,
    cast,
    next_pair,
    offer,
    open_offer,
    skip,
    standing_of,
)
from warehouse.queries import Queries
from warehouse.warehouse import Warehouse

_VOTE, _ASK, _STANDINGS = "Vote", "Ask", "Standings"
_ENTERED = "contests that this reader has entered"
_NOTHING = {
    Track.IDEAS: "No group of this run holds two ideas.",
    Track.REVIEWS: "No idea was reviewed by two runs that differ: evaluate one file with two"
    " engines or profiles.",
    Track.SURVEYS: "No question was surveyed by two runs.",
    Track.FINDINGS: "No manuscript was checked twice with findings.",
}


def show(lake: Lake) -> None:
    """A pair that the voter has not seen, or how the contests stand."""
    view = state.choose_view("Part", (_VOTE, _ASK, _STANDINGS), key="part")
    if view == _ASK:
        _ask(lake)
        return
    track = Track(state.choose("What meets", list(Track), key="track", shown=str.capitalize))
    run_id = None
    if track is Track.IDEAS:
        run = state.choose_run(lake)
        if run is None:
            return
        run_id = run.run_id
    elif not lake.exists:
        empty.no_lake(lake.warehouse.address)
        return
    contests = lake.ask(_contests, track, run_id)
    if not contests:
        empty.show(_NOTHING[track])
        return
    database = services_of(lake.warehouse)
    if view == _STANDINGS:
        found = [(contest, standing_of(database, contest)) for contest in contests]
        standings.show(found, lake.ask(_titles, track, run_id))
    elif may(lake.warehouse, Action.VOTE):
        _vote(lake, database, contests)
    else:
        _tell_how_to_vote(lake)


def _ask(lake: Lake) -> None:
    if not may(lake.warehouse, Action.VOTE):
        _tell_how_to_vote(lake)
        return
    database = services_of(lake.warehouse)
    live.show(lake, database, partial(_voter, lake.warehouse, database))


def _tell_how_to_vote(lake: Lake) -> None:
    empty.show(
        "Who votes signs in as a voter; whoever runs this dashboard makes the account.",
        f"assay accounts add NAME --role voter --warehouse {lake.warehouse.address}",
    )


def _vote(lake: Lake, database: ServiceDatabase, contests: tuple[Contest, ...]) -> None:
    voter = _voter(lake.warehouse, database)
    settings = lake.warehouse.settings.voting
    names = tuple(contest.name for contest in contests)
    if st.session_state.get(_ENTERED) != names:  # every writing waits for the disk
        add_contests(database, contests)
        st.session_state[_ENTERED] = names
    found = open_offer(database, voter, contests)
    if found is None:
        found = _new_offer(lake, database, voter, contests, settings)
    ballot.tell_last()
    if found is None:
        st.success("You have seen every pair. Thank you!", icon=":material/done_all:")
        return
    sides = (_text(lake, found, found.first.contender), _text(lake, found, found.second.contender))
    st.caption("Which is better? Keys: A, B, G both good, X both bad, S skip.")
    ballot.show(found, sides, partial(_answer, lake.warehouse, database, found.offer_id, settings))


def _voter(warehouse: Warehouse, database: ServiceDatabase) -> str:
    """Pseudonym of who is signed in, asked anew for each thing that is written."""
    person = check_may(warehouse, Action.VOTE)
    assert person is not None, "an open dashboard takes no votes"
    return pseudonym_of(database, person.name)


def _new_offer(
    lake: Lake,
    database: ServiceDatabase,
    voter: str,
    contests: tuple[Contest, ...],
    settings: VotingSettings,
) -> Offer | None:
    chosen = next_pair(database, voter, contests)
    if chosen is None:
        return None
    contest, names = chosen
    by_name = {contender.name: contender for contender in contest.contenders}
    one, other = (by_name[name] for name in names)
    sides = (
        shown(one, lake.ask(_parts, contest.track, one)),
        shown(other, lake.ask(_parts, contest.track, other)),
    )
    return offer(database, voter, contest, sides, settings)


def _answer(
    warehouse: Warehouse,
    database: ServiceDatabase,
    offer_id: str,
    settings: VotingSettings,
    choice: Choice | None,
    reason: str,
) -> None:
    voter = _voter(warehouse, database)
    if choice is None:
        skip(database, voter, offer_id, settings)
    else:
        cast(database, voter, offer_id, choice, reason, settings)


def _text(lake: Lake, found: Offer, contender: Contender) -> tuple[Part, ...]:
    return lake.ask(_parts, found.track, contender)


def _contests(queries: Queries, track: Track, run_id: RunId | None) -> tuple[Contest, ...]:
    return contests_of(queries, track, run_id)


def _parts(queries: Queries, track: Track, contender: Contender) -> tuple[Part, ...]:
    return text_of(queries, track, contender)


def _titles(queries: Queries, track: Track, run_id: RunId | None) -> dict[str, str]:
    """What stands for contenders by name: of ideas their titles, of the rest who made them."""
    if track is Track.IDEAS and run_id is not None:
        rows = queries.rows("ideas_of_run", run_id=run_id)
        return {f"{run_id}/{row['idea_id']}": row["title"] for row in rows}
    runs = {
        run_id: f"{made[Board.ENGINES]}, {made[Board.PROFILES]}, {run_id}"
        for run_id, made in makers(queries).items()
    }
    return {
        contender.name: runs.get(contender.run_id, contender.run_id)
        for contest in contests_of(queries, track)
        for contender in contest.contenders
    }
