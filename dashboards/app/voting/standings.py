"""How contests stand by the votes so far."""

from collections.abc import Mapping, Sequence

import polars
import streamlit as st

from dashboards.app import empty, tables, text
from dashboards.render import figures
from schemas.people.votes import Contest, Standing


def show(contests: Sequence[tuple[Contest, Standing | None]], titles: Mapping[str, str]) -> None:
    """A table for each contest with a vote. `titles`: of contenders by name, and of groups."""
    voted = [(contest, one) for contest, one in contests if one is not None and one.vote_count]
    if not voted:
        empty.show("Nobody has voted here yet.")
        return
    for number, (contest, standing) in enumerate(voted):
        st.subheader(text.line(titles.get(contest.group, contest.group)), anchor=False)
        st.caption(f"{figures.counted(standing.vote_count, 'vote')}, attention checks left out")
        rows = [
            {
                "rank": one.rank,
                "title": titles.get(one.name, one.name),
                "strength": one.strength,
                "lower": one.lower,
                "upper": one.upper,
                "elo": round(one.elo),
                "votes": one.vote_count,
            }
            for one in standing.strengths
        ]
        tables.show(
            polars.DataFrame(rows, infer_schema_length=None),
            {
                "rank": tables.count("Rank"),
                "title": tables.wide("What"),
                "strength": tables.score("Strength"),
                "lower": tables.score("Lower 95 %"),
                "upper": tables.score("Upper 95 %"),
                "elo": tables.count("Elo"),
                "votes": tables.count("Votes"),
            },
            key=f"standing_{number}",
        )
