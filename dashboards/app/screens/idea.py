"""Idea: the full review of one idea, from its first page to the calls behind every score."""

import polars
import streamlit as st

from dashboards.app import empty, links, state, text
from dashboards.app.data import Lake
from dashboards.app.review import whole
from schemas.identifiers import IdeaId, RunId
from schemas.literature.naming import unturned
from warehouse.queries import Place, Queries

IDEAS_LISTED = 50
NAME_CHARACTERS = 90
IN_ADDRESS, CONTROL = "idea", "idea_choice"
_SHOWN = "the idea shown last, and in which run"


def show(lake: Lake) -> None:
    """The idea of the address, else the best one that the search finds."""
    which, search, idea = st.columns([2, 1, 3])
    with which:
        run = state.choose_run(lake)
    if run is None:
        return
    with search:
        found = _find_ideas(lake, run.run_id)
    if not _has_what_was_asked(lake, run.run_id):
        return
    with idea:
        idea_id = _choose_idea(found)
    if idea_id is None:
        return
    places = {
        row["idea_id"]: Place(row["rank"], row["group_size"]) for row in found.iter_rows(named=True)
    }
    review = lake.ask(Queries.idea_review, run.run_id, IdeaId(idea_id), places.get(idea_id))
    _neighbours(found, run.run_id, idea_id)
    whole.show(review, lake)
    state.tell_run(run)
    whole.show_downloads(review, key="download")


def _neighbours(found: polars.DataFrame, run_id: RunId, idea_id: str) -> None:
    """The one before and the one after, in the order of the search."""
    names = found["idea_id"].to_list()
    if idea_id not in names:
        return
    place = names.index(idea_id)
    before, after, _ = st.columns([1, 1, 4])
    if place > 0:
        with before:
            links.to("idea", "Previous idea", run=str(run_id), idea=names[place - 1])
    if place + 1 < len(names):
        with after:
            links.to("idea", "Next idea", run=str(run_id), idea=names[place + 1])


def _has_what_was_asked(lake: Lake, run_id: RunId) -> bool:
    """Whether the run has the idea of the address; says so where it has not.

    An idea shown in another run before stays behind when a reader turns to this one.
    """
    asked = st.query_params.get(IN_ADDRESS)
    shown = st.session_state.get(_SHOWN)
    if asked is None or lake.ask(_has_idea, run_id, IdeaId(asked)):
        st.session_state[_SHOWN] = (run_id, asked)
        return True
    if shown is not None and shown[1] == asked and shown[0] != run_id:
        st.info(f"This run has no idea {text.line(asked)}: here is its best one.")
        del st.query_params[IN_ADDRESS]
        return True
    st.error(f"This run has no idea {text.line(asked)}.", icon=":material/search_off:")
    links.to("ranking", "The ideas it has", run=str(run_id))
    return False


def _find_ideas(lake: Lake, run_id: RunId) -> polars.DataFrame:
    """Ideas of the run, searched for by title or identifier, best first."""
    searched = state.words("Search", key="search", placeholder="Title or identifier")
    return lake.frame("find_ideas", run_id=run_id, text=searched.strip(), limit=IDEAS_LISTED)


def _choose_idea(found: polars.DataFrame) -> str | None:
    """One of the ideas found, or the one that the address names."""
    if found.is_empty():
        empty.show("No idea of this run holds these words in its title or identifier.")
        return None
    names = dict(zip(found["idea_id"].to_list(), found["title"].to_list(), strict=True))
    asked = st.query_params.get(IN_ADDRESS)
    if asked and asked not in names and not st.session_state.get("search"):
        names = {asked: "", **names}
    return _choose_of(names, asked)


def _choose_of(names: dict[str, str], asked: str | None) -> str:
    """One of some ideas, shown by title; the address holds its identifier and always wins."""
    listed = list(names)
    st.session_state[CONTROL] = asked if asked in names else listed[0]
    chosen = st.selectbox(
        "Idea",
        listed,
        format_func=lambda name: unturned(
            f"{' '.join(names[name].split())[:NAME_CHARACTERS]} · {name}".strip(" ·")
        ),
        key=CONTROL,
        on_change=_into_address,
        help=(
            f"The best {IDEAS_LISTED} that the search finds, best first; search to reach the"
            " others."
        ),
    )
    st.query_params[IN_ADDRESS] = chosen
    return str(chosen)


def _into_address() -> None:
    st.query_params[IN_ADDRESS] = st.session_state[CONTROL]


def _has_idea(queries: Queries, run_id: RunId, idea_id: IdeaId) -> bool:
    return bool(queries.rows("idea_scores_of", run_id=run_id, idea_ids=[idea_id]))
