"""Tonight: is the newest run in order, who leads and why, what it cost, and what changed."""

import polars
import streamlit as st

from dashboards.app import amounts, charts, links, state, tables, text
from dashboards.app.data import Lake
from dashboards.app.tonight.reasons import why_it_leads
from dashboards.render import figures, wording
from dashboards.render.page import line
from dashboards.views.nightly_page import About, NightFigures, NightRun, night_figures, night_run
from schemas.run import Run
from warehouse.answers import IdeaScore
from warehouse.queries import Queries

_WHERE = {
    About.UNSCORED: ("quality", "What is unscored", {"view": "Unscored"}),
    About.CHECKS: ("quality", "The broken checks", {"view": "Checks"}),
    About.JUDGES: ("quality", "The judges", {"view": "Judges"}),
    About.COST: ("cost", "What it cost", {}),
}
NIGHTS = 14
_TRENDS = (
    ("cost_usd_per_idea", "Cost of an idea", "US dollars"),
    ("unscored_percent", "Judgements without a score", "Per cent"),
    ("minutes", "Time", "Minutes"),
    ("alarms", "Alarms", "Alarms"),
)


def show(lake: Lake) -> None:
    """The verdict first; everything else says why."""
    run = state.choose_run(lake)
    if run is None:
        return
    night = lake.ask(night_run, run.run_id, thresholds=lake.thresholds)
    _verdict(night)
    _figures(night)
    left, right = st.columns([3, 2])
    with left:
        _leaders(lake, night)
    with right:
        _alarms(night)
        _changed(night)
    _rejected(lake, run)
    _show_trends(lake, run)


def _verdict(night: NightRun) -> None:
    run = night.run
    if run.in_order and night.alarms:
        st.warning(night.status, icon=":material/notification_important:")
    elif run.in_order:
        st.success(night.status, icon=":material/check_circle:")
    else:
        first, *others = run.order_reasons
        st.error(f"**Not in order:** {text.line(first)}.", icon=":material/error:")
        for reason in others:
            st.caption(f"Also: {text.line(reason)}.")
    told = (run.literature_name, run.literature_lacks)
    for banner in wording.banners(run.engine, run.literature, *told):
        st.caption(text.line(banner))


def _figures(night: NightRun) -> None:
    """Ideas by state, money and time, beside the last comparable night."""
    run, cost, before, cost_before = night.run, night.cost, night.before, night.cost_before
    ideas, price, each, time, alarms = st.columns(5)
    ideas.metric("Ideas scored whole, of all", f"{run.scored_count:,} of {run.idea_count:,}")
    ideas.caption(run.states_in_words)
    price.metric("Cost", _usd(cost.cost_usd))
    each.metric("Cost of an idea", _usd(cost.cost_usd_per_idea))
    time.metric("Time", figures.duration(run.duration_seconds))
    alarms.metric("Alarms", f"{len(night.alarms):,}")
    if before is None or cost_before is None:
        price.caption("No earlier run compares with it.")
        return
    price.caption(f"{_usd(cost_before.cost_usd)} on {before.started_at:%Y-%m-%d}")
    each.caption(f"{_usd(cost_before.cost_usd_per_idea)} on {before.started_at:%Y-%m-%d}")
    time.caption(f"{figures.duration(before.duration_seconds)} on {before.started_at:%Y-%m-%d}")


def _usd(value: float | None) -> str:
    return "$0" if value == 0 else amounts.dollars(value)


def _leaders(lake: Lake, night: NightRun) -> None:
    st.subheader("Top ideas", anchor=False)
    if not night.top:
        st.info("No idea of this run has a rank.", icon=":material/inbox:")
        return
    scores = lake.ask(Queries.idea_scores, night.run.run_id)
    of: dict[str, IdeaScore] = {str(score.idea_id): score for score in scores}
    st.caption(f"{night.what_leads} Ideas of the same rank in their groups stand by score.")
    for place, idea in enumerate(night.top, 1):
        with st.container(border=True, key=f"leader_{place}"):
            title = " ".join(idea.title.split()) or str(idea.idea_id)
            score = of[str(idea.idea_id)]
            group = f", {text.line(idea.group)}" if idea.group else ""
            links.to(
                "idea",
                f"**{figures.mean(idea.score)}** · {text.line(wording.shortened(title, 110))}",
                run=str(night.run.run_id),
                idea=str(idea.idea_id),
            )
            why = why_it_leads(
                score,
                scores,
                night.run.score_weights,
                wins=idea.wins,
                losses=idea.losses,
                ties=idea.ties,
            )
            st.caption(f"Rank {idea.rank}{group}. {text.line(why)}")
    links.to("ranking", "The whole ranking", run=str(night.run.run_id))


def _alarms(night: NightRun) -> None:
    st.subheader("Alarms", anchor=False)
    if not night.alarms:
        st.caption("None.")
    for about in About:
        sentences = [alarm.sentence for alarm in night.alarms if alarm.about is about]
        for sentence in sentences:
            st.warning(text.spans(line(sentence)), icon=":material/notification_important:")
        if sentences:
            page, label, more = _WHERE[about]
            links.to(page, label, run=str(night.run.run_id), **more)


def _changed(night: NightRun) -> None:
    st.subheader("What changed", anchor=False)
    ideas = night.ideas
    taken_over = ideas["ideas"] - ideas["evaluated_anew"]
    st.markdown(
        f"{figures.counted(ideas['never_seen'], 'idea')} never seen before,"
        f" {ideas['evaluated_anew']:,} evaluated in this run, {taken_over:,} taken over from"
        " earlier ones."
    )
    run, before = night.run, night.before
    if before is None:
        return
    if run.in_order != before.in_order:
        was = "in order" if before.in_order else "not in order"
        st.markdown(f"The run of {before.started_at:%Y-%m-%d} was {was}.")
    links.to("runs", "All runs")


def _rejected(lake: Lake, run: Run) -> None:
    if not run.rejected_count:
        return
    st.subheader("Rejected entries", anchor=False)
    rows = [
        {"subject": row.subject, "why": wording.reason(row.reason), "detail": row.detail}
        for row in lake.ask(Queries.rejections, run.run_id)
    ]
    named = {"subject": "Where", "why": "Why", "detail": "How to mend it"}
    tables.show(polars.DataFrame(rows), named, key="rejected")


def _show_trends(lake: Lake, run: Run) -> None:
    """The last nights that compare with the run, up to it; nothing where there is only this one."""
    runs = [
        each
        for each in lake.runs()
        if each.started_at <= run.started_at and run.compares_with(each)
    ][:NIGHTS]
    if len(runs) < 2:
        return
    st.subheader(f"The last {len(runs)} comparable nights", anchor=False)
    asked = [each.run_id for each in reversed(runs)]
    nights = lake.ask(night_figures, asked, thresholds=lake.thresholds)
    rows = polars.DataFrame([_night(each) for each in nights], infer_schema_length=None)
    for place, (column, title, unit) in enumerate(_TRENDS):
        if place % 2 == 0:
            left, right = st.columns(2)
        with left if place % 2 == 0 else right:
            known = rows.select("night", polars.col(column).cast(polars.Float64))
            if known[column].null_count() == len(known):
                st.caption(f"{title}: not known for any of these nights.")
                continue
            drawn = charts.lines(known, x="night", y=column, x_title="Night (UTC)", y_title=unit)
            charts.show(drawn, title, f"trend_{column}")


def _night(night: NightFigures) -> dict[str, object]:
    share = night.unscored_share
    return {
        "night": night.run.started_at,
        "cost_usd_per_idea": night.cost.cost_usd_per_idea,
        "unscored_percent": None if share is None else 100 * share,
        "minutes": night.run.duration_seconds / 60,
        "alarms": len(night.alarms),
    }
