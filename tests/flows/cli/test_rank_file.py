"""A ranking as a file says what the ranking says, and runs nothing in a spreadsheet."""

import csv
from pathlib import Path

import openpyxl
import pytest

from flows.cli.evaluate.rank_output import check_output, write_ranking
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from warehouse.row_models import RankedIdea

RUN = RunId("run-a")
HOSTILE = '=HYPERLINK("http://example.org";"x")\x00'


def ranked(title: str) -> RankedIdea:
    fields = dict.fromkeys(RankedIdea.model_fields)
    known = {"run_id": RUN, "idea_id": IdeaId("a"), "title": title, "rank": 1, "score": 4.86}
    counts = {"unscored_count": 0, "failure_count": 0, "basis": "scores", "score_basis": "modules"}
    given = {**fields, **known, **counts, "coverage_0_to_1": 1.0, "state": "scored"}
    return RankedIdea.model_validate(given, strict=False)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_title_that_looks_like_a_formula_is_text(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"ranking.{ending}"
    write_ranking(path, [ranked(HOSTILE)], tmp_path, RUN, by_matches=False)
    if ending == "csv":
        (row,) = csv.DictReader(path.open(encoding="utf-8"))
        title = row["title"]
    else:
        names, cells = openpyxl.load_workbook(path).active.iter_rows()
        values = {name.value: cell for name, cell in zip(names, cells, strict=True)}
        assert (values["rank"].value, values["score"].value) == (1, 4.86)
        assert values["title"].data_type == "s"
        title = values["title"].value
    assert title.startswith("'=HYPERLINK")


def test_an_ending_that_names_no_format_is_refused_before_anything_is_ranked() -> None:
    with pytest.raises(ConfigurationError, match=r"\.csv, \.xlsx, .* or \.docx"):
        check_output(Path("ranking.odt"))
    with pytest.raises(ConfigurationError, match=r"\.csv, \.xlsx, \.json or \.html"):
        check_output(Path("ranking.docx"), tables_alone=True)


def test_an_empty_ranking_still_names_its_columns(tmp_path: Path) -> None:
    write_ranking(tmp_path / "r.csv", [], tmp_path, RUN, by_matches=False)
    assert (tmp_path / "r.csv").read_text().splitlines() == [",".join(RankedIdea.model_fields)]
