"""Drafts: the text beside what carries it, its figures, and why one was refused."""

import polars
import streamlit as st

from dashboards.app import empty, state, tables, text
from dashboards.app.data import Lake
from dashboards.render import figures, wording
from dashboards.render.formats.markdown import markdown
from dashboards.views.write_draft import DraftPart
from schemas.identifiers import RunId
from schemas.works.draft import Draft
from schemas.works.draft_habits import Habits
from schemas.works.draft_run import DRAFTS, DraftHead
from warehouse.units.kind import kind_of


def show(lake: Lake) -> None:
    """One draft: its text, its figures, and every claim with where it is from."""
    heads = lake.heads(kind_of(DRAFTS))
    if not heads:
        empty.show(
            "No draft has been written here yet.",
            f"assay write idea.md --warehouse {lake.warehouse.address}",
        )
        return
    chosen = state.choose("Draft", list(heads), key="draft", shown=lambda name: _title(heads[name]))
    part = DraftPart(lake.units(kind_of(DRAFTS), RunId(chosen))[0])
    draft = part.draft
    st.subheader(text.line(draft.title), anchor=False)
    if draft.word_count is None:
        st.warning(text.line(f"There is no draft: {wording.reason(draft.unscored_reason or '')}."))
    for failure in draft.failures:
        st.markdown(f"- {text.line(f'{failure.subject}: {failure.detail}')}")
    said, rests = st.columns([3, 2])
    with said:
        st.markdown(text.prose(markdown(part.text)))
        for figure in draft.figures:
            st.image(figure.svg)
            if figure.made:
                st.caption(text.line(figure.made))
    with rests:
        _claims(draft)
        _outline(part)


def _title(head: DraftHead) -> str:
    return f"{head.started_at:%Y-%m-%d %H:%M} · {head.run_id} · {head.engine}"


def _outline(part: DraftPart) -> None:
    """The outline beside the papers that it was measured from."""
    st.subheader("Outline", anchor=False)
    columns = {
        "heading": "Section",
        "planned_words": tables.count("Words planned"),
        "style": "Style",
        "planned_from": tables.wide("Where that is from"),
    }
    rows = [section.model_dump(include=set(columns)) for section in part.draft.sections]
    tables.show(polars.DataFrame(rows, infer_schema_length=None), columns, key="draft_outline")
    habits = part.habits
    if not habits.looked_up:
        return
    why = "; ".join(
        f"of {papers:,}: {wording.reason(reason)}" for reason, papers in part.unmeasured.items()
    )
    st.caption(
        text.line(
            f"{habits.measured:,} of {habits.looked_up:,} papers nearby could be measured"
            f"{f'; {why}' if why else ''}."
        )
    )
    if habits.by_part:
        _habits(habits)


def _habits(habits: Habits) -> None:
    columns = {
        "part": "Section of papers nearby",
        "papers": tables.count("Papers"),
        "words": tables.count("Words, median"),
        "share": "Share of a paper",
        "citations": tables.count("Works cited"),
        "figures": tables.count("Figures"),
        "diagrams": tables.count("Of them drawings"),
        "tables": tables.count("Tables"),
        "style": "Style",
    }
    rows = [
        {name: getattr(habit, name) for name in columns}
        | {"part": habit.part.value.replace("_", " "), "share": figures.percent(habit.share)}
        for habit in habits.by_part.values()
    ]
    tables.show(polars.DataFrame(rows, infer_schema_length=None), columns, key="draft_habits")


def _claims(draft: Draft) -> None:
    rows = [
        {
            "claim_key": claim.claim_key,
            "shown": claim.shown,
            "means": claim.means,
            "cited": ", ".join(claim.cited_keys),
            "query": claim.query,
        }
        for claim in draft.claims
    ]
    tables.show(
        polars.DataFrame(rows, infer_schema_length=None),
        {
            "claim_key": "Claim",
            "shown": tables.wide("Shown as"),
            "means": "What it is",
            "cited": "Cited as",
            "query": tables.wide("Where it is from"),
        },
        key="draft_claims",
        rows_shown=20,
    )
