"""Page “Today”: state of the newest run, alarms, leaders, decisions and cost."""

from collections.abc import Iterator

import polars

from dashboards.app.data import Lake
from dashboards.app.fields import comparable_runs, form, run_field, run_in_address
from dashboards.app.site import PageContent, Visit, controls, idea_link, run_path, with_query
from dashboards.app.site_pages import decide
from dashboards.app.site_pages.ideas import gives_verdicts, verdict_on
from dashboards.app.site_pages.jobs import in_progress
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.views.nightly_page import About, NightRun, night_figures, night_run
from dashboards.views.run_page import rejection_blocks
from dashboards.views.why_above import why_it_leads
from schemas.identifiers import RunId
from schemas.run import Run
from warehouse.queries import Queries

NIGHTS, RUNS_LISTED = 14, 20
_WHERE = {
    About.UNSCORED: ("/operate/quality", {"view": "Unscored"}),
    About.CHECKS: ("/operate/quality", {"view": "Checks"}),
    About.JUDGES: ("/operate/quality", {"view": "Judges"}),
    About.COST: ("/operate/cost", {}),
}


def show(visit: Visit) -> PageContent:
    """Show the run, problems first, then the leaders."""
    lake, run = visit.lake, run_in_address(visit)
    if run is None:
        head = controls("today", kind="", status="No run is published yet.")
        place = lake.warehouse.address
        commands = f"assay demo --warehouse {place}\nassay evaluate ideas.jsonl --warehouse {place}"
        first = pg.text(
            "Evaluate a batch of ideas; the bundled sample needs no key and no network:"
        )
        return PageContent(
            "Today", (*in_progress(visit), first, pg.Code(commands)), head, live=True
        )
    night = lake.ask(night_run, run.run_id)
    kind = "bad" if not run.in_order else "alarms" if night.alarms else "good"
    blocks = (
        *in_progress(visit),
        *_alarms(night),
        *_open_decisions(visit),
        *map(
            pg.text,
            wording.banners(run.engine, run.literature, run.literature_name, run.literature_lacks),
        ),
        *_leaders(lake, night),
        *_figures(night),
        *_changes(lake, night),
        *_nights(lake, run),
        *_runs(lake),
    )
    title = f"Night of {figures.moment(run.started_at)}"
    head = controls("today", kind=kind, status=night.status)
    top_markup = form(run_field(visit, run)) + head
    return PageContent("Today", blocks, top_markup, heading=pg.line(title), live=True)


def _alarms(night: NightRun) -> Iterator[pg.Block]:
    if not night.alarms:
        return
    yield pg.heading("Alarms")
    items = []
    for alarm in night.alarms:
        path, more = _WHERE[alarm.about]
        place = with_query(path, run=night.run.run_id, **more)
        items.append(pg.line(alarm.sentence, " ", pg.report("Figures", place)))
    yield from pg.bullets(items)


def _open_decisions(visit: Visit) -> Iterator[pg.Block]:
    request_count = decide.count_waiting(visit)
    if request_count:
        yield pg.heading("Decisions")
        wait = "waits" if request_count == 1 else "wait"
        yield pg.text(f"{figures.plural(request_count, 'request')} {wait} for your answer: ",
                      pg.report("Decide", decide.PATH))  # fmt: skip


def _leaders(lake: Lake, night: NightRun) -> Iterator[pg.Block]:
    yield pg.heading("Leading ideas")
    if not night.top:
        yield pg.text("No idea of this run has a rank.")
        return
    run_id = night.run.run_id
    top = tuple((str(idea.idea_id), idea.wins, idea.losses, idea.ties) for idea in night.top)
    reasons = lake.ask(leaders_reasons, run_id, top)
    board = lake.frame("leaderboard", run_id=run_id)
    leading_rows = board.filter(polars.col("idea_id").is_in([name for name, *_ in top]))
    rows = {row["idea_id"]: row for row in leading_rows.to_dicts()}
    items = []
    for idea in night.top:
        verdict = verdict_on(rows[str(idea.idea_id)]) if gives_verdicts(night.run) else None
        place = wording.rank_with_range(idea.rank, idea.best_rank, idea.worst_rank)
        verdict_words = f"{verdict.value.capitalize()} · " if verdict is not None else ""
        head = pg.line(
            pg.strong(f"{verdict_words}{figures.mean(idea.score)}"),
            " · ",
            idea_link(run_id, idea.idea_id, idea.title),
        )
        group = f" in {idea.group}" if idea.group else ""
        items.append(
            (pg.Paragraph(head), pg.text(f"Rank {place}{group}. {reasons[str(idea.idea_id)]}"))
        )
    yield pg.Listing(tuple(items))
    ranking_address = with_query("/ideas", run=run_id)
    yield pg.text(f"{night.what_leads} ", pg.report("The whole ranking", ranking_address))


def leaders_reasons(
    queries: Queries,
    run_id: RunId,
    top: tuple[tuple[str, float | None, float | None, int | None], ...],
) -> dict[str, str]:
    """Return why each of some ideas leads; cached, as it reads all scores.

    Args:
        top: identifier, wins, losses and ties of each.
    """
    scores, weights = queries.idea_scores(run_id), queries.run(run_id).score_weights
    score_of = {str(score.idea_id): score for score in scores}
    return {
        name: why_it_leads(score_of[name], scores, weights, wins=wins, losses=losses, ties=ties)
        for name, wins, losses, ties in top
    }


def _figures(night: NightRun) -> Iterator[pg.Block]:
    run, cost, before, cost_before = night.run, night.cost, night.before, night.cost_before
    yield pg.heading("Ideas, cost and time")
    earlier_date = () if before is None else (f"{figures.day(before.started_at)}:",)
    columns = [
        (of.states_in_words, figures.usd(what.cost_usd), figures.usd(what.cost_usd_per_idea),
         figures.duration(of.duration_seconds))
        for of, what in ((run, cost), (before, cost_before)) if of is not None and what is not None
    ]  # fmt: skip
    rows = zip(("Ideas", "Cost", "Cost of an idea", "Time"), *columns, strict=True)
    yield pg.table(("", "This run:", *earlier_date), rows)
    if before is None:
        yield pg.text("No earlier run compares with it.")


def _changes(lake: Lake, night: NightRun) -> Iterator[pg.Block]:
    run, ideas, before = night.run, night.ideas, night.before
    taken_over = ideas["ideas"] - ideas["evaluated_anew"]
    yield pg.heading("What changed")
    yield pg.text(
        f"{figures.plural(ideas['never_seen'], 'idea')} never seen before,"
        f" {ideas['evaluated_anew']:,} evaluated in this run, {taken_over:,} taken over from"
        " earlier ones."
    )
    if before is not None and run.in_order != before.in_order:
        was = "in order" if before.in_order else "not in order"
        yield pg.text(f"The run of {figures.day(before.started_at)} was {was}.")
    yield from rejection_blocks(lake.ask(Queries.rejections, run.run_id))


def _nights(lake: Lake, run: Run) -> Iterator[pg.Block]:
    comparable = comparable_runs(lake, run)[:NIGHTS]
    if len(comparable) < 2:
        return
    yield pg.heading(f"The last {len(comparable)} comparable nights")
    run_ids = [each.run_id for each in comparable]
    nights = lake.ask(night_figures, run_ids)
    columns = ("Night", "Ideas:", "Cost of an idea:", "Unscored:", "Time:", "Alarms:")
    yield pg.table(columns, ((
        pg.report(figures.moment(night.run.started_at), with_query("/", run=night.run.run_id)),
        night.run.idea_count,
        figures.usd(night.cost.cost_usd_per_idea),
        None if night.unscored_share is None else figures.percent(night.unscored_share),
        figures.duration(night.run.duration_seconds),
        len(night.alarms),
    ) for night in nights))  # fmt: skip


def _runs(lake: Lake) -> Iterator[pg.Block]:
    runs = lake.runs()
    rows_listed = lake.frame("run_list", limit=RUNS_LISTED, offset=0).to_dicts()
    order = {str(run.run_id): run for run in runs}
    yield pg.heading("Published runs")
    columns = ("Run", "State", "Started", "Engine", "Scored:", "Partly:", "Unscored:",
               "Rejected:", "Cost:", "Time:")  # fmt: skip
    has_labels = any(run.label for run in runs)
    rows = []
    for row in rows_listed:
        run = order.get(row["run_id"])
        if run is None:  # published while this page was built
            continue
        rows.append((
            pg.report(run.run_id, run_path(run.run_id)), "in order" if run.in_order else "not in order", run.started_at,
            run.engine, run.scored_count, run.partly_scored_count, run.unscored_count,
            run.rejected_count, figures.usd(row["cost_usd"], row["unknown_price_calls"]),
            figures.duration(run.duration_seconds), *([run.label] if has_labels else []),
        ))  # fmt: skip
    yield pg.table((*columns, "Label") if has_labels else columns, rows)
    if len(runs) > RUNS_LISTED:
        more = pg.report("Work", "/work?kind=run")
        yield pg.text(f"The newest {RUNS_LISTED} of {len(runs):,}; all of them: ", more)
