"""What `assay report --json` prints: what the report says of a run, a check, a benchmark or an idea."""

from pathlib import Path

from dashboards.reports.any_run import kind_of
from dashboards.reports.benchmark_page import benchmark_page
from flows.commands.answer import print_answer
from flows.commands.benchmark_output import answer_with_scores
from flows.commands.check_output import answer_with_checks
from flows.commands.rank_output import answer_with_matches
from flows.commands.run_output import published, state_of
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.settings import Settings
from tasks.manuscripts.scores import check_scores
from warehouse.benchmarks.landing import BENCHMARKS
from warehouse.lake import open_reader
from warehouse.layout import Layout
from warehouse.manuscripts.landing import CHECKS
from warehouse.manuscripts.queries import check_head, manuscript_checks
from warehouse.queries import Queries, open_queries
from warehouse.rankings.queries import group_summaries, ranked_by, ranking_shown


def answer_with_report(
    warehouse: Path, run: str | None, idea: str | None, *, ranking: bool
) -> None:
    """Print an `Answer`; its rows are those of the command that made what is reported.

    Raises:
        ConfigurationError: no such lake, run, ranking or idea.
    """
    layout, catalogue = Layout(warehouse), Settings().catalogue
    with open_queries(layout, catalogue_url=catalogue) as queries:
        run_id = RunId(run) if run else queries.latest_run().run_id
        kind = kind_of(queries, run_id)
        if kind is BENCHMARKS:
            answer_with_scores(benchmark_page(queries, [run_id]))
        elif ranking:
            _ranking(queries, run_id)
        elif kind is not CHECKS:
            _run(queries, run_id, idea)
    if kind is CHECKS:
        with open_reader(layout, catalogue_url=catalogue) as connection:
            head, checks = check_head(connection, run_id), manuscript_checks(connection, run_id)
        scores = check_scores(checks, head.judges, maximum_problems=head.maximum_problems)
        answer_with_checks(head, checks, scores)


def _run(queries: Queries, run_id: RunId, idea: str | None) -> None:
    run = queries.run(run_id)
    told = published(queries, run_id)
    rows = told.ranked if idea is None else [queries.idea_review(run_id, IdeaId(idea))]
    print_answer(state_of(run), rows, run=run, warnings=run.order_reasons, rejected=told.rejections)


def _ranking(queries: Queries, run_id: RunId) -> None:
    head = ranking_shown(queries, run_id)
    if head is None:
        raise ConfigurationError(
            f"run {run_id} has no published ranking by matches: `assay rank {run_id}`"
        )
    ranked, groups = ranked_by(queries, head), group_summaries(queries, head)
    answer_with_matches(queries.run(run_id), head, ranked, groups)
