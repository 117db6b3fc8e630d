"""Ideas made in rounds: how each came to be, what was found wanting, and what a round cost."""

import polars
import streamlit as st

from dashboards.app import charts, empty, links, state, tables, text
from dashboards.app.data import Lake
from dashboards.render import figures, wording
from dashboards.render.charts.lineage import change, label
from dashboards.views.write_ideation import OUTCOMES, IdeationPage, ideation_page_of
from schemas.identifiers import RunId
from schemas.works.ideation import FindingAnswer, IdeaVersion
from schemas.works.ideation_run import IDEATIONS, IdeationHead
from warehouse.queries import Queries
from warehouse.units.kind import kind_of


def show(lake: Lake) -> None:
    """One run: every lineage, its rounds, what went no further; then one idea and its versions."""
    heads = lake.heads(kind_of(IDEATIONS))
    if not heads:
        empty.show(
            "No ideas have been made in rounds here yet.",
            f"assay ideate topics.jsonl --warehouse {lake.warehouse.address}",
        )
        return
    chosen = state.choose(
        "Run", list(heads), key="ideation", shown=lambda name: _title(heads[name])
    )
    page = lake.ask(_page, RunId(chosen))
    for banner in (*wording.banners(page.head.engine, page.head.literature), OUTCOMES):
        st.caption(text.line(banner))
    if page.head.incomplete_reason is not None:
        why = wording.reason(page.head.incomplete_reason)
        st.warning(text.line(f"Ended early: {why}. The same command goes on from there."))
    if not page.versions:
        st.info("No round was made.")
        return
    _lineage(page)
    _rounds(page)
    _no_further(page)
    _idea(page)


def _page(queries: Queries, run_id: RunId) -> IdeationPage:
    return ideation_page_of(queries.connection, run_id)


def _title(head: IdeationHead) -> str:
    seeds = figures.counted(head.seed_count, "seed")
    rounds = f"{head.round_count} of {figures.counted(head.rounds, 'round')}"
    return f"{head.started_at:%Y-%m-%d %H:%M} · {seeds} · {rounds} · {head.engine}"


def _name(version: IdeaVersion) -> str:
    return f"{version.seed_id}, idea {version.slot}"


def _lineage(page: IdeationPage) -> None:
    assert page.lineage is not None
    frame = polars.DataFrame(
        [
            {
                "idea": _name(version),
                "round": version.round,
                "result": label(version, page.scores.get(version.version_id)),
                "change": change(version),
                "goes_on": "yes" if version.kept else "no",
                "title": version.title or "no text",
            }
            for version in page.versions
        ]
    )
    drawn = charts.steps(frame, x="round", y="idea", said="result", kept="goes_on")
    title = "Versions of each idea, round by round"
    charts.show(drawn, title, "ideation_lineage", page.lineage.description)


def _rounds(page: IdeationPage) -> None:
    st.subheader("Rounds", anchor=False)
    tables.show(
        polars.DataFrame(page.costs, infer_schema_length=None),
        {
            "round": "Round",
            "made_count": tables.count("Versions made"),
            "dropped_count": tables.count("Dropped"),
            "unscored_count": tables.count("Not made"),
            "mean_score": tables.score("Mean score, 0 to 10"),
            "scored_count": tables.count("Scored"),
            "mean_closest": tables.score("Likeness to the nearest paper"),
            "mean_words": tables.count("Words"),
            "calls": tables.count("Calls"),
            "cost_usd": tables.dollars("Cost", "Empty: a price is not known."),
        },
        key="ideation_rounds",
        rows_shown=20,
    )
    for number, run_id in enumerate(page.head.evaluated_run_ids, start=1):
        links.to("ranking", f"Ranking of round {number}", run=run_id)


def _no_further(page: IdeationPage) -> None:
    ended = [version for version in page.versions if not version.kept and version not in page.leads]
    failures = [
        failure for each in page.rounds for failure in each.failures if not failure.is_left_out
    ]
    if not ended and not failures:
        return
    st.subheader("What went no further", anchor=False)
    for version in ended:
        st.markdown(f"- {text.line(f'{_name(version)}, round {version.round}: {_why(version)}.')}")
    for failure in failures:
        why = wording.reason(failure.reason)
        st.markdown(f"- {text.line(f'{failure.subject}: {why}; {failure.detail}.')}")


def _why(version: IdeaVersion) -> str:
    reason = version.dropped_reason or version.unscored_reason
    assert reason is not None
    detail = version.dropped_detail or version.unscored_detail
    return "; ".join(filter(None, (wording.reason(reason), detail)))


def _idea(page: IdeationPage) -> None:
    ideas = {_name(version): version for version in page.first_of_ideas}
    chosen = state.choose("Idea", list(ideas), key="made_idea")
    for version in reversed(page.stack_of(ideas[chosen])):
        _version(page, version)


def _version(page: IdeationPage, version: IdeaVersion) -> None:
    title = text.line(version.title or "no text")
    st.subheader(f"Round {version.round}: {title}", anchor=False)
    if version.text is None or version.dropped_reason is not None:
        st.warning(text.line(f"Went no further: {_why(version)}."))
    said = [label(version, page.scores.get(version.version_id)), change(version)]
    st.markdown(f"**{text.line(' · '.join([*said, *version.keywords]))}**")
    if version.reason:
        st.markdown(text.prose(version.reason))
    _answers(page.answers_of(version))
    _relations(page, version)
    if version.text is not None:
        with st.expander("Text", expanded=version is page.stack_of(version)[-1]):
            st.markdown(text.prose(version.text))


def _answers(answers: tuple[FindingAnswer, ...]) -> None:
    for answer in answers:
        kind = f" ({answer.kind.value.replace('_', ' ')})" if answer.kind is not None else ""
        held = "answered" if answer.answered else f"not answered: {answer.detail}"
        st.markdown(f"- {text.line(f'{answer.finding_key}{kind}, {held}. {answer.finding}')}")
        st.caption(text.line(f"“{answer.quote}”"))


def _relations(page: IdeationPage, version: IdeaVersion) -> None:
    found = page.relations_of(version)
    if not found:
        return
    rows = [
        {
            "neighbour": each.neighbour,
            "keyword": each.keyword,
            "shared": each.shared_count,
            "chosen": "yes" if each.chosen else "",
            "relation": each.relation or "; ".join(each.bridges),
        }
        for each in found
    ]
    with st.expander(f"Concepts beside its own: {len(rows):,}"):
        tables.show(
            polars.DataFrame(rows),
            {
                "neighbour": "Concept",
                "keyword": "Beside",
                "shared": tables.count("Papers with both"),
                "chosen": "Chosen",
                "relation": tables.wide("Relation, or what joins them"),
            },
            key=f"ideation_relations_{version.version_id}",
        )
