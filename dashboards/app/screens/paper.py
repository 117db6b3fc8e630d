"""Paper: which ideas of a run cite it, and where."""

import polars
import streamlit as st

from dashboards.app import empty, links, state, tables, text
from dashboards.app.data import Lake
from dashboards.app.review import words
from dashboards.render import figures
from schemas.literature.naming import safe_url

PAPERS_LISTED, NAME_CHARACTERS, PASSAGES_SHOWN = 50, 90, 20


def show(lake: Lake) -> None:
    """The paper of the address, else the most cited one that the search finds."""
    run = state.choose_run(lake)
    if run is None:
        return
    asked = st.query_params.get("paper")
    searched = state.words("Search", key="search", placeholder="Title or identifier").strip()
    found = _find(lake, run.run_id, searched)
    if asked and not searched and asked not in found["paper_id"].to_list():
        named = _find(lake, run.run_id, asked).filter(polars.col("paper_id") == asked)
        if named.is_empty():
            st.error(f"This run retrieved no paper “{text.line(asked)}”.")
            links.to("ranking", "The ideas of this run", run=str(run.run_id))
            return
        found = polars.concat([named, found])
    if found.is_empty():
        empty.show("No paper of this run holds these words in its title or identifier.")
        return
    rows = {row["paper_id"]: row for row in found.iter_rows(named=True)}
    chosen = state.choose("Paper", list(rows), key="paper", shown=lambda name: _title(rows[name]))
    _one(lake, run.run_id, rows[chosen])


def _find(lake: Lake, run_id: str, words: str) -> polars.DataFrame:
    return lake.frame("find_papers", run_id=run_id, text=words, limit=PAPERS_LISTED)


def _title(row: dict[str, object]) -> str:
    title = " ".join(str(row["title"] or row["paper_id"]).split())[:NAME_CHARACTERS]
    return f"{title} ({row['year']})" if row["year"] else title


def _read(lake: Lake, run_id: str, row: dict[str, object]) -> None:
    """The passages that searches found in it, else its abstract."""
    st.subheader("What was read of it", anchor=False)
    found = lake.frame(
        "passages_of_paper", run_id=run_id, paper_id=row["paper_id"], limit=PASSAGES_SHOWN
    )
    for passage in found.iter_rows(named=True):
        where = passage["section"] or passage["kind"]
        told = f"{where}, found for {figures.counted(passage['ideas'], 'idea')}"
        st.caption(text.line(told))
        st.markdown(words.quotation(passage["text"]))
    abstract = str(row["abstract"] or "")
    if found.is_empty() and abstract:
        st.caption("abstract")
        st.markdown(words.quotation(abstract))
    elif found.is_empty():
        st.caption("Only its title was known.")


def _one(lake: Lake, run_id: str, row: dict[str, object]) -> None:
    st.header(text.line(str(row["title"] or row["paper_id"])), anchor=False)
    told = [f"published {row['year']}"] if row["year"] else []
    told += [
        f"retrieved for {figures.counted(int(str(row['retrieved_for'])), 'idea')}",
        f"cited by {figures.counted(int(str(row['cited_by'])), 'idea')}",
    ]
    st.caption(text.line(", ".join(told)))
    url = safe_url(str(row["url"] or ""))
    if url:
        st.link_button("Open the paper", url)
    _read(lake, run_id, row)
    st.subheader("Where it is cited", anchor=False)
    cited = lake.frame("citations_of_paper", run_id=run_id, paper_id=row["paper_id"])
    if cited.is_empty():
        empty.show("It was retrieved, and no review of this run cites it.")
        return
    address = polars.col("idea_id").map_elements(
        lambda name: links.address("idea", run=run_id, idea=name), return_dtype=polars.String
    )
    tables.show(
        cited.with_columns(address.alias("review")),
        {
            "title": tables.wide("Idea"),
            "review": tables.link("Review"),
            "module": "Module",
            "subject": "About",
            "field": "In",
            "count": tables.count("Times"),
        },
        key="citations",
    )
