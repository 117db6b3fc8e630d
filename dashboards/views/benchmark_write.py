"""Writes the report on benchmarks as files, Markdown and one self-contained HTML page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import uuid4

from dashboards.render import wording
from dashboards.render.charts.reliability_chart import ReliabilityChart, reliability_charts
from dashboards.render.html_page import html_page
from dashboards.render.render import rendered
from dashboards.views.benchmark_page import BenchmarkPage, Difference, benchmark_page
from schemas.identifiers import content_hash
from warehouse.warehouse import Warehouse


def write_benchmark_report(
    warehouse: Warehouse, run_ids: Sequence[str], differences: Sequence[Difference] = ()
) -> tuple[Path, Path]:
    """Write `reports/<name>/index.md` and `index.html`; the paths of index.html and index.md.

    The folder is named after the benchmark, or after all that are compared.

    Raises:
        ConfigurationError: no such lake, or one of the benchmarks is not published.
    """
    with warehouse.queries() as queries:
        page = benchmark_page(queries, run_ids, differences)
    folder = warehouse.reports / (
        run_ids[0] if len(run_ids) == 1 else f"benchmarks-{content_hash(*run_ids, length=10)}"
    )
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "index.html", folder / "index.md"
    for path, text in zip(paths, (benchmark_html(page), benchmark_markdown(page)), strict=True):
        building = path.with_name(f".{path.name}.{uuid4().hex}")
        building.write_bytes(text.encode("utf-8", "replace"))
        building.replace(path)
    return paths


def benchmark_markdown(page: BenchmarkPage) -> str:
    return _markdown(page, {}, folded=False)


def benchmark_html(page: BenchmarkPage) -> str:
    title = " and ".join(dict.fromkeys(head.suite for head in page.heads))
    charts = reliability_charts(line.score for part in page.suites for line in part.measured)
    return html_page(
        _markdown(page, charts, folded=True), title=f"Benchmark {title}", reliability=charts
    )


def _markdown(page: BenchmarkPage, charts: Mapping[int, ReliabilityChart], *, folded: bool) -> str:
    """`charts`: drawings to leave room for; a Markdown file has none, and folds nothing."""
    first = page.heads[0]
    return rendered(
        "benchmark.md.jinja",
        page=page,
        banners=wording.banners(first.engine, first.literature),
        charts=charts,
        folded=folded,
    )
