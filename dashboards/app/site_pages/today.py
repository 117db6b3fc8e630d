"""Today: how the newest night stands, what failed, who leads, what waits, what it cost."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache

from dashboards.app.choosing import chosen_run, form, run_field
from dashboards.app.data import Lake
from dashboards.app.evaluating.asking import may_watch
from dashboards.app.site import Shown, Visit, controls, idea_path, run_path, with_query
from dashboards.app.site_pages import decide
from dashboards.app.site_pages.ideas import gives_verdicts, verdict_on
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.views.nightly_page import About, NightFigures, NightRun, night_figures, night_run
from dashboards.views.why_it_leads import why_it_leads
from schemas.identifiers import RunId
from schemas.people.role import Action
from schemas.run import Run
from warehouse.answers import IdeaScore
from warehouse.app.jobs import Job, jobs
from warehouse.progress import Activity, RunProgress, Watch
from warehouse.queries import Queries
from warehouse.warehouse import Warehouse

NIGHTS, RUNS_LISTED, JOBS_LISTED = 14, 20, 10
_WHERE = {
    About.UNSCORED: ("/operate/quality", {"view": "Unscored"}),
    About.CHECKS: ("/operate/quality", {"view": "Checks"}),
    About.JUDGES: ("/operate/quality", {"view": "Judges"}),
    About.COST: ("/operate/cost", {}),
}
_TITLE_CHARACTERS = 110


def show(visit: Visit) -> Shown:
    """The worst first: what is wrong with the run, under way or waiting; then who leads."""
    lake = visit.lake
    runs, open_runs = lake.runs(), under_way(lake)
    if not runs:
        head = controls("today", kind="", status="No run is published yet.")
        return Shown("Today", (*_under_way(visit, open_runs), *_no_lake(lake)), head, live=True)
    run = chosen_run(visit, runs)
    night = lake.ask(night_run, run.run_id, thresholds=lake.thresholds)
    kind = "bad" if not run.in_order else "alarms" if night.alarms else "good"
    blocks = (
        *_banners(run),
        *_under_way(visit, open_runs),
        *_alarms(night),
        *_waiting(visit),
        *_leaders(lake, night),
        *_figures(night),
        *_changed(lake, night),
        *_nights(lake, run),
        *_runs(lake, runs),
    )
    title = f"Night of {run.started_at:%Y-%m-%d %H:%M}"
    head = controls("today", kind=kind, status=night.status)
    above = form(run_field(runs, run)) + head
    return Shown("Today", blocks, above, heading=pg.line(title, " UTC"), live=True)


def under_way(lake: Lake) -> tuple[RunProgress, ...]:
    """Runs that are not published as planned, newest first."""
    ended = {RunId(run.run_id): run.finished_at for run in lake.runs()}
    return _watch(lake.warehouse).progress(ended)


@cache
def _watch(warehouse: Warehouse) -> Watch:
    return Watch(warehouse)


def _no_lake(lake: Lake) -> Iterator[pg.Block]:
    yield pg.text("Evaluate a batch of ideas; the bundled sample needs no key and no network:")
    place = lake.warehouse.address
    yield pg.Code(f"assay demo --warehouse {place}\nassay evaluate ideas.jsonl --warehouse {place}")


def _banners(run: Run) -> Iterator[pg.Block]:
    for told in wording.banners(
        run.engine, run.literature, run.literature_name, run.literature_lacks
    ):
        yield pg.text(told)


def _under_way(visit: Visit, open_runs: Sequence[RunProgress]) -> Iterator[pg.Block]:
    """Runs that are not published, and jobs that wait, are done or ended a short time ago."""
    if open_runs:
        yield pg.heading("Not published yet")
        columns = ("Run", "State", "Ideas landed:", "A minute:", "End", "Unscored:", "Cost:")
        yield pg.table(columns, map(_progress_row, open_runs))
    for run in open_runs:
        if run.activity is Activity.STOPPED:
            yield pg.text(
                f"No command is at work on {run.planned.run_id}. Give the same `assay evaluate`"
                " again: it continues where it stopped and pays nothing twice."
            )
        elif run.activity is Activity.REFUSED:
            broken = pg.report(
                "Broken checks", with_query("/operate/quality", run=run.planned.run_id)
            )
            yield pg.text(
                f"Files of {run.planned.run_id} broke a critical check, so they stay out of the"
                " lake. ",
                broken,
            )
    shown = _jobs(visit)
    if shown:
        yield pg.heading("Jobs")
        rows = [(each.request.name if each.request else each.job_id,
                 each.status.state.value,
                 "" if each.status.started_at is None else each.status.started_at,
                 each.status.last_word) for each in shown]  # fmt: skip
        yield pg.table(("Job", "State", "Started", "Last word"), rows)


def spent_of(run: RunProgress) -> str:
    """What a run has spent so far, beside its bound."""
    bound = run.planned.budget.maximum_cost_usd
    spent = f"${run.cost_usd:,.4f}" + (f" of ${bound:,.2f}" if bound is not None else "")
    unknown = run.unknown_cost_count
    return f"{spent} (+ {figures.counted(unknown, 'idea')} without a price)" if unknown else spent


def _progress_row(run: RunProgress) -> tuple[pg.Part, ...]:
    planned = run.planned
    return (
        pg.code(planned.run_id),
        run.activity.value,
        f"{run.landed_count:,} of {planned.idea_count:,}",
        "–" if run.ideas_per_minute is None else f"{run.ideas_per_minute:.1f}",
        "–" if run.ends_at is None else f"{run.ends_at:%m-%d %H:%M} UTC",
        figures.count(run.unscored_count),
        spent_of(run),
    )


def _jobs(visit: Visit) -> list[Job]:
    """Those that this reader may watch, at work or ended within a day."""
    if visit.lake.warehouse.objects is not None or not visit.may(Action.SUBMIT):
        return []
    now = datetime.now(UTC)
    own = []
    for job in jobs(visit.lake.warehouse):
        ended = job.status.finished_at
        if may_watch(visit.person, job) and (ended is None or (now - ended).days < 1):
            own.append(job)
    return own[:JOBS_LISTED]


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


def _waiting(visit: Visit) -> Iterator[pg.Block]:
    """How many decisions wait for whoever is signed in."""
    waiting = decide.waiting(visit)
    if waiting:
        yield pg.heading("Decisions")
        wait = "waits" if waiting == 1 else "wait"
        yield pg.text(f"{figures.counted(waiting, 'request')} {wait} for your answer: ",
                      pg.report("Decide", decide.PATH))  # fmt: skip


def _leaders(lake: Lake, night: NightRun) -> Iterator[pg.Block]:
    yield pg.heading("Leading ideas")
    if not night.top:
        yield pg.text("No idea of this run has a rank.")
        return
    run_id = night.run.run_id
    scores = lake.ask(Queries.idea_scores, run_id)
    of: dict[str, IdeaScore] = {str(score.idea_id): score for score in scores}
    rows = {row["idea_id"]: row for row in lake.frame("leaderboard", run_id=run_id).to_dicts()}
    items = []
    for idea in night.top:
        title = " ".join(idea.title.split()) or str(idea.idea_id)
        verdict = verdict_on(rows[str(idea.idea_id)]) if gives_verdicts(night.run) else None
        weights = night.run.score_weights
        why = why_it_leads(
            of[str(idea.idea_id)],
            scores,
            weights,
            wins=idea.wins,
            losses=idea.losses,
            ties=idea.ties,
        )
        place = wording.rank_with_range(idea.rank, idea.best_rank, idea.worst_rank)
        known = f"{verdict.value.capitalize()} · " if verdict is not None else ""
        head = pg.line(
            pg.strong(f"{known}{figures.mean(idea.score)}"),
            " · ",
            pg.report(wording.shortened(title, _TITLE_CHARACTERS), idea_path(run_id, idea.idea_id)),
        )
        group = f" in {idea.group}" if idea.group else ""
        items.append((pg.Paragraph(head), pg.text(f"Rank {place}{group}. {why}")))
    yield pg.Listing(tuple(items))
    whole = with_query("/ideas", run=run_id)
    yield pg.text(f"{night.what_leads} ", pg.report("The whole ranking", whole))


def _figures(night: NightRun) -> Iterator[pg.Block]:
    """Ideas by state, money and time, beside the last comparable night."""
    run, cost, before, cost_before = night.run, night.cost, night.before, night.cost_before
    yield pg.heading("Ideas, cost and time")
    earlier = () if before is None else (f"{before.started_at:%Y-%m-%d}:",)
    rows = [("Ideas", run.states_in_words), ("Cost", figures.usd(cost.cost_usd)),
            ("Cost of an idea", figures.usd(cost.cost_usd_per_idea)),
            ("Time", figures.duration(run.duration_seconds))]  # fmt: skip
    if before is not None and cost_before is not None:
        old = (before.states_in_words, figures.usd(cost_before.cost_usd),
               figures.usd(cost_before.cost_usd_per_idea),
               figures.duration(before.duration_seconds))  # fmt: skip
        rows = [(*row, told) for row, told in zip(rows, old, strict=True)]  # type: ignore[misc]
    yield pg.table(("", "This run:", *earlier), rows)
    if before is None:
        yield pg.text("No earlier run compares with it.")


def _changed(lake: Lake, night: NightRun) -> Iterator[pg.Block]:
    run, ideas, before = night.run, night.ideas, night.before
    taken_over = ideas["ideas"] - ideas["evaluated_anew"]
    yield pg.heading("What changed")
    yield pg.text(
        f"{figures.counted(ideas['never_seen'], 'idea')} never seen before,"
        f" {ideas['evaluated_anew']:,} evaluated in this run, {taken_over:,} taken over from"
        " earlier ones."
    )
    if before is not None and run.in_order != before.in_order:
        was = "in order" if before.in_order else "not in order"
        yield pg.text(f"The run of {before.started_at:%Y-%m-%d} was {was}.")
    if run.rejected_count:
        yield pg.heading("Rejected entries")
        rows = lake.ask(Queries.rejections, run.run_id)
        yield pg.table(
            ("Where", "Why", "How to mend it"),
            ((row.subject, wording.reason(row.reason), row.detail) for row in rows),
        )


def _nights(lake: Lake, run: Run) -> Iterator[pg.Block]:
    """The last nights that compare with the run, up to it; nothing where there is only this one."""
    comparable = [
        each
        for each in lake.runs()
        if each.started_at <= run.started_at and run.compares_with(each)
    ][:NIGHTS]
    if len(comparable) < 2:
        return
    yield pg.heading(f"The last {len(comparable)} comparable nights")
    asked = [each.run_id for each in comparable]
    nights = lake.ask(night_figures, asked, thresholds=lake.thresholds)
    columns = ("Night", "Ideas:", "Cost of an idea:", "Unscored:", "Time:", "Alarms:")
    yield pg.table(columns, map(_night_row, nights))


def _night_row(night: NightFigures) -> tuple[pg.Part, ...]:
    return (
        pg.report(f"{night.run.started_at:%Y-%m-%d %H:%M}", with_query("/", run=night.run.run_id)),
        night.run.idea_count,
        figures.usd(night.cost.cost_usd_per_idea),
        figures.percent(night.unscored_share) if night.unscored_share is not None else "–",
        figures.duration(night.run.duration_seconds),
        len(night.alarms),
    )


def _runs(lake: Lake, runs: Sequence[Run]) -> Iterator[pg.Block]:
    listed = lake.frame("run_list", limit=RUNS_LISTED, offset=0).to_dicts()
    order = {str(run.run_id): run for run in runs}
    yield pg.heading("Published runs")
    columns = ("Run", "In order", "Started", "Engine", "Scored:", "Partly:", "Unscored:",
               "Rejected:", "Cost:", "Time:", "Label")  # fmt: skip
    rows = []
    for row in listed:
        run = order[row["run_id"]]
        rows.append((
            pg.report(run.run_id, run_path(run.run_id)), run.order_in_words, run.started_at,
            run.engine, run.scored_count, run.partly_scored_count, run.unscored_count,
            run.rejected_count, figures.usd(row["cost_usd"], row["unknown_price_calls"]),
            figures.duration(run.duration_seconds), run.label,
        ))  # fmt: skip
    yield pg.table(columns, rows)
    if len(runs) > RUNS_LISTED:
        more = pg.report("Work", "/work?kind=run")
        yield pg.text(f"The newest {RUNS_LISTED} of {len(runs):,}; all of them: ", more)
