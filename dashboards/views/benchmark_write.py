"""Writes the report on benchmarks as files, Markdown and one self-contained HTML page."""

from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from dashboards.render import wording
from dashboards.render.charts.reliability_chart import reliability_charts
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.page import Page
from dashboards.render.render import rendered_page
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
        view = benchmark_view(benchmark_page(queries, run_ids, differences))
    folder = warehouse.reports / (
        run_ids[0] if len(run_ids) == 1 else f"benchmarks-{content_hash(*run_ids, length=10)}"
    )
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "index.html", folder / "index.md"
    for path, text in zip(paths, (html_page(view), markdown_page(view)), strict=True):
        building = path.with_name(f".{path.name}.{uuid4().hex}")
        building.write_bytes(text.encode("utf-8", "replace"))
        building.replace(path)
    return paths


def benchmark_view(page: BenchmarkPage) -> Page:
    first, suites = page.heads[0], dict.fromkeys(head.suite for head in page.heads)
    charts = reliability_charts(line.score for part in page.suites for line in part.measured)
    return rendered_page(
        "benchmark.md.jinja",
        f"Benchmark {' and '.join(suites)}",
        charts,
        page=page,
        banners=wording.banners(first.engine, first.literature),
        charts=charts,
    )
