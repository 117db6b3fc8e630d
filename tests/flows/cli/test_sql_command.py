"""`assay sql` answers in the format that was asked for."""

import csv
import io
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.cli.answer import EXIT_DONE, EXIT_USAGE
from flows.cli.command_line import application, run_command
from tests.support.evaluations import make_evaluation, make_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

QUERY = "select idea_id, 1 / 3 as third from ideas"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = Warehouse(tmp_path_factory.mktemp("asked"))
    land(warehouse, make_evaluation(0))
    assert publish(warehouse, RUNS, make_run(ideas=1)).published
    return warehouse.root


@pytest.fixture
def ask(warehouse: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("ASSAY_WAREHOUSE", str(warehouse))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return monkeypatch


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["assay", "sql", *arguments])
    return run_command(lambda: application()(standalone_mode=False))


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--format", "csv"), "idea_id,third\nidea-00000,0.3333333333333333\n"),
        (("--format", "jsonl"), '{"idea_id":"idea-00000","third":0.3333333333333333}\n'),
    ],
)
def test_text_for_programs_holds_every_digit(
    flags: tuple[str, ...],
    expected: str,
    ask: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(ask, QUERY, *flags) == EXIT_DONE
    assert capsys.readouterr().out == expected


def test_json_is_a_list_of_objects(
    ask: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(ask, QUERY, "--json") == EXIT_DONE
    assert json.loads(capsys.readouterr().out) == [{"idea_id": "idea-00000", "third": 1 / 3}]


def test_a_table_for_people_shortens_numbers(
    ask: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(ask, QUERY) == EXIT_DONE
    assert "0.333333 " in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet", "arrow"])
def test_the_ending_of_the_output_chooses_the_format(
    ending: str, ask: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"answer.{ending}"
    assert run(ask, QUERY, "-o", str(path)) == EXIT_DONE
    assert capsys.readouterr().out == ""
    if ending == "parquet":
        assert pq.read_table(path).column_names == ["idea_id", "third"]
    elif ending == "arrow":
        assert pa.ipc.open_file(path).read_all().num_rows == 1
    else:
        assert "idea-00000" in path.read_text()


def test_an_ending_that_says_no_format_is_one_line(
    ask: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(ask, QUERY, "-o", str(tmp_path / "answer.txt")) == EXIT_USAGE
    assert "--format" in capsys.readouterr().err


def test_the_statement_comes_from_a_file_or_from_standard_input(
    ask: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "question.sql").write_text(QUERY)
    assert run(ask, "-f", str(tmp_path / "question.sql"), "--format", "csv") == EXIT_DONE
    ask.setattr(sys, "stdin", io.StringIO(QUERY))
    assert run(ask, "-", "--format", "csv") == EXIT_DONE
    out = capsys.readouterr().out
    assert out[: len(out) // 2] == out[len(out) // 2 :]
    assert run(ask) == EXIT_USAGE


def test_labels_of_ones_own_are_joined_where_they_are_named(
    ask: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "labels.csv").write_text("idea_id,label\nidea-00000,good\n")
    query = "select label from ideas join labels using (idea_id)"
    given = f"labels={tmp_path / 'labels.csv'}"
    assert run(ask, query, "--with", given, "--format", "csv") == EXIT_DONE
    assert capsys.readouterr().out == "label\ngood\n"
    assert run(ask, query, "--with", "labels") == EXIT_USAGE
    assert "NAME=FILE" in capsys.readouterr().err


@pytest.mark.parametrize("output", [True, False])
def test_csv_holds_no_formula_and_json_what_the_lake_holds(
    output: bool, ask: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ("=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-5", "plain")
    columns = ", ".join(f"'{text}' as c{place}" for place, text in enumerate(texts))
    query = f"select {columns}, -1.5::double as d, 'x' as \"=name\""
    path = tmp_path / "answer.csv"
    assert run(ask, query, *(("-o", str(path)) if output else ("--format", "csv"))) == EXIT_DONE
    text = path.read_bytes().decode() if output else capsys.readouterr().out
    names, row = csv.reader(io.StringIO(text, newline=""))
    marked = ("'=HYPERLINK(1)", "'+1+1", "'-2+3", "'@SUM(A1)", "'\t'=1", "'\r'=1")
    expected = [*marked, "-5", "plain", "-1.5", "x"]
    assert row == (expected if output else [each.replace("\r", "\ufffd") for each in expected])
    assert names[-1] == "'=name"
    assert run(ask, query, "--json") == EXIT_DONE
    (as_json,) = json.loads(capsys.readouterr().out)
    assert list(as_json.values()) == [*texts, -1.5, "x"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_holds_no_formula_however_it_is_split(
    separator: str, ask: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    formula = "=cmd|''/c calc''!A1"
    texts = [f"x{end}{formula}" for end in (";", "\t", "\n", ',"', ";x;", ';"', ";-1;", '\t""')]
    columns = ", ".join(f"'{text}' as t{place}" for place, text in enumerate(texts))
    others = f"['{texts[0]}'] as l, {{'a': '{texts[0]}'}} as s, '{texts[0]}'::blob as b"
    query = f"select 'a' as a, 'b' as \"x;=1\", {columns}, {others}"
    assert run(ask, query, "--format", "csv") == EXIT_DONE
    text = capsys.readouterr().out
    cells = [cell for row in csv.reader(io.StringIO(text), delimiter=separator) for cell in row]
    assert not [cell for cell in cells if cell.startswith("=")]


def test_csv_quotes_texts_that_other_separators_would_split_and_no_numbers(
    ask: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "select 'p; q' as a, 'p\tq' as b, 'p q' as c, -1.5 as d, '3;-5' as e, null as f"
    assert run(ask, query, "--format", "csv") == EXIT_DONE
    assert capsys.readouterr().out == 'a,b,c,d,e,f\n"p; q","p\tq",p q,-1.5,"3;-5",\n'


def test_a_number_is_told_with_all_its_digits_however_many_it_has(
    ask: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long, short = "12345678901234567890.12", "1.50"
    most = str(2**127 - 1)
    columns = f"{long}::decimal(38,2) a, {short}::decimal(4,2) b, {most}::hugeint c, 1e400::double"
    assert run(ask, f"select {columns} d", "--json") == EXIT_DONE
    assert json.loads(capsys.readouterr().out) == [{"a": long, "b": 1.5, "c": most, "d": "inf"}]


def test_a_type_that_parquet_lacks_is_one_line_and_no_file(
    ask: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = tmp_path / "answer.parquet"
    assert run(ask, "select interval 3 days as i", "-o", str(answer)) == EXIT_USAGE
    assert "Parquet cannot hold" in capsys.readouterr().err
    assert not answer.exists()


def test_an_answer_without_rows_names_its_columns_once_however_many_they_are(
    ask: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask.setenv("COLUMNS", "80")
    assert run(ask, "from idea_scores where false") == EXIT_DONE
    assert "soundness_0_to_10" in capsys.readouterr().out.splitlines()
    assert run(ask, "select 1 as a, 2 as a from ideas where false", "--format", "csv") == EXIT_DONE
    assert capsys.readouterr().out == "a,a_2\n"
