"""Output of `assay rank`: rankings by matches and by scores."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from rich.console import Group

from dashboards.render.formats.report_format import ReportFormat
from dashboards.render.wording import what_leads_among
from flows.cli.answer import print_answer
from flows.cli.output import idea_cell, number, print_ranking, ranking_table, stdout_console
from flows.cli.terminal import print_note
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.profile import Profile
from schemas.run import Run
from schemas.work import Summary
from warehouse.kinds.rankings.queries import comparability, ideas_by_scores
from warehouse.row_models import RankedIdea
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    import polars

    from dashboards.views.write_ranking import RankedRun
    from tasks.work.declaration import Result


COLUMNS = (
    "rank",
    "range",
    "idea",
    "strength",
    "95 %",
    "won",
    "lost",
    "tied",
    "unscored\nverdicts",
    "score",
)
ACROSS_COLUMNS = ("rank over\nall groups", "strength over\nall groups")


def print_scores(
    warehouse: Path,
    run_id: RunId,
    profile: Profile | None,
    *,
    as_json: bool,
    output: Path | None = None,
    shrink: bool = False,
) -> int:
    """Print or write the ranking by scores; return the exit code.

    Args:
        profile: profile with the weights; None: the weights of the run.
        shrink: rank by shrunk scores; the measured ones are printed.
    """
    with Warehouse(warehouse).queries() as queries:
        run = queries.run(run_id)
        weights = profile.score_weights if profile is not None else None
        ideas = ideas_by_scores(queries, run_id, weights, shrink=shrink)
        scores = queries.idea_scores(run_id)
    if output is not None:
        write_ranking(output, ideas, warehouse, run_id, by_matches=False)
    if as_json:
        print_answer("ranked_by_scores", ideas, run=run)
    else:
        print_ranking(ideas, scores)
        note = f"run {run_id}, ranked by scores"
        if profile is not None:
            acting = profile.score_weights.acting(assessed=run.assessed)
            names = ", ".join(f"{name} {weight:g}" for name, weight in acting.items() if weight)
            note += f" under the weights of profile {profile.name}: {names or 'overall alone'}"
        print_note(note)
        if profile is not None and (unused_weights := weights_not_acting(run, profile)):
            print_note(unused_weights)
        if shrink:
            print_note(
                "scores that rest on little were drawn toward the mean of their group before they"
                " were ranked; shown are the scores as they were measured"
            )
    return 0


def weights_not_acting(run: Run, profile: Profile) -> str:
    """Return which weights of a profile do not apply to a run, and why."""
    other_weights = profile.score_weights.acting(assessed=not run.assessed)
    names = ", ".join(name for name, weight in other_weights.items() if weight)
    if not names:
        return ""
    if run.assessed:
        return f"the run is scored by its assessment, where weights of {names} do not apply"
    return f"the run has no assessment, so that weights of {names} do not apply"


def print_matches(page: "RankedRun", _: "Result", __: Summary[Any]) -> None:
    """Print a ranking by matches, with the range of ranks that intervals allow."""
    head, ranked_ideas, groups = page.head, page.units, page.groups
    has_joined_groups = any(group.joins_groups for group in groups)

    def cells(idea: RankedIdea) -> tuple[str | Group, ...]:
        return _row(idea)[: len(columns)]

    columns = (*COLUMNS, *(ACROSS_COLUMNS if has_joined_groups else ()))
    stdout_console().print(ranking_table(columns, ranked_ideas, cells))
    matches = sum(group.match_count for group in groups)
    unscored_count = sum(group.unscored_match_count for group in groups)
    biases = [group.position_bias for group in groups if group.position_bias is not None]
    bias = f", position bias {sum(biases) / len(biases):+.2f} on average" if biases else ""
    print_note(
        f"run {head.run_id}, {head.ranking_id}: {matches:,} verdicts ({unscored_count:,} unscored) in"
        f" {sum(not group.joins_groups for group in groups):,} groups{bias}; engine {head.engine},"
        f" ratings {head.method.value}"
        + (f", {head.vote_count:,} human votes" if head.vote_count else "")
    )
    if any(idea.undecided for idea in ranked_ideas):
        print_note(what_leads_among(ranked_ideas))
    if head.group_count > 1:
        print_note(comparability(groups))


def _row(entry: RankedIdea) -> tuple[str | Group, ...]:
    has_matches = entry.wins is not None and entry.losses is not None
    rank, strength = entry.rank_across_groups, entry.strength_across_groups
    return (
        "–" if entry.rank is None else str(entry.rank),
        "" if entry.best_rank is None else f"{entry.best_rank}–{entry.worst_rank}",
        idea_cell(entry),
        _strength(entry),
        (
            ""
            if entry.strength_lower is None or entry.strength_upper is None
            else f"{entry.strength_lower:.2f} … {entry.strength_upper:.2f}"
        ),
        f"{entry.wins:g}" if has_matches else "",
        f"{entry.losses:g}" if has_matches else "",
        "" if entry.ties is None else str(entry.ties),
        "" if entry.unscored_match_count is None else str(entry.unscored_match_count),
        number(entry.score),
        "–" if rank is None else str(rank),
        "" if strength is None else f"{strength:.2f}",
    )


def _strength(entry: RankedIdea) -> str:
    if entry.strength is not None:
        return f"{entry.strength:.2f}"
    return "by score" if entry.basis == "scores" and entry.rank is not None else "unranked"


_PAGES = (".html", ".md", ".pdf", ".docx")


def is_table(path: Path) -> bool:
    return path.suffix.lower() in _WRITERS


def check_output(path: Path, *, tables_alone: bool = False) -> None:
    """Raise ConfigurationError if the file extension names no format.

    Args:
        tables_alone: only tables and HTML, as for a ranking by scores.
    """
    endings = (*_WRITERS, *(_PAGES[:1] if tables_alone else _PAGES))
    if path.suffix.lower() not in endings:
        *first, last = endings
        raise ConfigurationError(f"--output {path}: end it in {', '.join(first)} or {last}")


def write_ranking(
    path: Path, ideas: Sequence[RankedIdea], warehouse: Path, run_id: RunId, *, by_matches: bool
) -> None:
    if path.suffix.lower() == ".html":
        from dashboards.render.formats.report_file import report_file

        html, lake = ReportFormat.HTML, Warehouse(warehouse)
        path.write_bytes(report_file(lake, run_id, None, html, ranking=by_matches))
        return
    _WRITERS[path.suffix.lower()](path, ideas)


def _cells(ideas: Sequence[RankedIdea]) -> "polars.DataFrame":
    import polars

    from dashboards.spreadsheet_cells import frame_as_text

    rows = [idea.model_dump(mode="json") for idea in ideas]
    names = list(RankedIdea.model_fields)
    return frame_as_text(polars.DataFrame(rows, schema=names, infer_schema_length=None))


def _write_csv(path: Path, ideas: Sequence[RankedIdea]) -> None:
    from dashboards.spreadsheet_cells import frame_as_csv

    path.write_bytes(frame_as_csv(_cells(ideas)).encode())


def _write_workbook(path: Path, ideas: Sequence[RankedIdea]) -> None:
    from openpyxl import Workbook
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = Workbook(write_only=True)
    sheet = book.create_sheet("ranking")
    frame = _cells(ideas)
    for row in (frame.columns, *frame.rows()):
        sheet.append(
            [ILLEGAL_CHARACTERS_RE.sub("", cell) if isinstance(cell, str) else cell for cell in row]
        )
    book.save(path)


def _write_json(path: Path, ideas: Sequence[RankedIdea]) -> None:
    rows = [idea.model_dump(mode="json") for idea in ideas]
    path.write_bytes(orjson.dumps(rows, option=orjson.OPT_INDENT_2))


_WRITERS: dict[str, Callable[[Path, Sequence[RankedIdea]], None]] = {
    ".csv": _write_csv,
    ".xlsx": _write_workbook,
    ".json": _write_json,
}
