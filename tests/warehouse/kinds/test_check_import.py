"""A quality checker's release becomes check runs of the lake; Table 2 then comes by SQL from the
lake's own tables.
"""

from pathlib import Path

import duckdb
import pytest

from schemas.works.check_run import CHECKS
from tasks.metrics.hit_rate import Rule, checked_papers, hit_rate
from warehouse.kinds.manuscripts.quality_checker import (
    checker_usage,
    joint_hits,
    judge_hits,
    release_views,
)
from warehouse.kinds.manuscripts.release import import_release
from warehouse.units.kind import kind_of
from warehouse.units.reading import published_heads, published_units
from warehouse.warehouse import Warehouse

RELEASE = Path(__file__).parents[4] / "shared" / "data" / "withdrarxiv"
TABLE_2_O3 = ("4.8", "5", "5", "16,594", "3,152")
"""PDF approach, o3 (medium): problems (mean, Q1, Q3), input and thinking tokens."""


def part_of_release(folder: Path, condition: str) -> Path:
    folder.mkdir()
    with duckdb.connect() as connection:
        for name in ("checks", "papers", "problems", "votes"):
            where = "" if name == "papers" else f"where {condition}"
            connection.execute(
                f"copy (select * from '{RELEASE}/{name}.parquet' {where}) to"
                f" '{folder}/{name}.parquet'"
            )
    return folder


@pytest.mark.skipif(
    not RELEASE.is_dir(),
    reason="the released outputs of the quality checker are not beside this checkout",
)
def test_the_release_s_figures_come_from_the_lake_as_from_its_files(tmp_path: Path) -> None:
    folder = part_of_release(tmp_path / "release", "model = 'o3'")
    warehouse = Warehouse(tmp_path / "wh")
    (publication,) = import_release(folder, warehouse)
    assert publication.published, publication.validation
    assert (publication.rows["manuscripts"], publication.rows["problems"]) == (245, 1178)
    assert import_release(folder, warehouse)[0].unchanged
    with release_views(warehouse, [publication.run_id]) as lake:
        (usage,) = checker_usage(lake)
        assert usage == checker_usage(folder)[0]
        assert judge_hits(lake) == judge_hits(folder)
        (joint,) = joint_hits(lake)
        assert joint == joint_hits(folder)[0]
    shown = (
        f"{usage.mean_problems:.1f}",
        f"{usage.first_quartile_problems:.0f}",
        f"{usage.third_quartile_problems:.0f}",
    )
    assert (
        *shown,
        f"{usage.mean_input_tokens:,.0f}",
        f"{usage.mean_thinking_tokens:,.0f}",
    ) == TABLE_2_O3
    with warehouse.reader() as connection:
        (head,) = published_heads(connection, kind_of(CHECKS))
        assert head.dataset == "withdrarxiv-check"
        checks = published_units(connection, kind_of(CHECKS), head.run_id)
        by_mart = connection.execute(
            "select judge, count(*) filter (where hit) from attempt_hits group by judge order by"
            " judge"
        ).fetchall()
    papers = [paper for check in checks for paper in checked_papers(check)]
    assert hit_rate(papers, head.judges, Rule.ALL).value == pytest.approx(joint.all_hit_count / 245)
    assert by_mart == [
        (row.judge, row.hit_count) for row in sorted(judge_hits(folder), key=lambda row: row.judge)
    ]
