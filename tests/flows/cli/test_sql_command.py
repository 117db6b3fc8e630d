"""`assay sql` answers in the format that was asked for."""

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.cli.answer import EXIT_DONE, EXIT_USAGE
from tests.flows.conftest import Assay
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
def ask(assay: Assay, warehouse: Path) -> Assay:
    """Ask the lake, and return what is on stdout; a wrong usage returns its line."""

    def answer(*words: object, **more: object) -> str:
        ended = assay("sql", *words, ASSAY_WAREHOUSE=warehouse, **more)
        if ended.returncode == EXIT_DONE:
            return ended.stdout
        assert ended.returncode == EXIT_USAGE
        (line,) = ended.stderr.splitlines()
        return line

    return answer


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--format", "csv"), "idea_id,third\nidea-00000,0.3333333333333333\n"),
        (("--format", "jsonl"), '{"idea_id":"idea-00000","third":0.3333333333333333}\n'),
    ],
)
def test_text_for_programs_holds_every_digit(
    flags: tuple[str, ...], expected: str, ask: Assay
) -> None:
    assert ask(QUERY, *flags) == expected


def test_json_is_a_list_of_objects_and_a_table_shortens_numbers(ask: Assay) -> None:
    assert json.loads(ask(QUERY, "--json")) == [{"idea_id": "idea-00000", "third": 1 / 3}]
    assert "0.333333 " in ask(QUERY)


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet", "arrow"])
def test_the_ending_of_the_output_chooses_the_format(
    ending: str, ask: Assay, tmp_path: Path
) -> None:
    path = tmp_path / f"answer.{ending}"
    assert ask(QUERY, "-o", path) == ""
    if ending == "parquet":
        assert pq.read_table(path).column_names == ["idea_id", "third"]
    elif ending == "arrow":
        assert pa.ipc.open_file(path).read_all().num_rows == 1
    else:
        assert "idea-00000" in path.read_text()


def test_the_statement_comes_from_a_file_or_from_standard_input(ask: Assay, tmp_path: Path) -> None:
    (tmp_path / "question.sql").write_text(QUERY)
    from_file = ask("-f", tmp_path / "question.sql", "--format", "csv")
    assert from_file == ask("-", "--format", "csv", stdin=QUERY) != ""
    assert "say one SELECT" in ask()
    assert "--format" in ask(QUERY, "-o", tmp_path / "answer.txt")


def test_labels_of_ones_own_are_joined_where_they_are_named(ask: Assay, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("idea_id,label\nidea-00000,good\n")
    query = "select label from ideas join labels using (idea_id)"
    labels = f"labels={tmp_path / 'labels.csv'}"
    assert ask(query, "--with", labels, "--format", "csv") == "label\ngood\n"
    assert "NAME=FILE" in ask(query, "--with", "labels")


@pytest.mark.parametrize("output", [True, False])
def test_csv_holds_no_formula_and_json_what_the_lake_holds(
    output: bool, ask: Assay, tmp_path: Path
) -> None:
    texts = ("=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-5", "plain")
    columns = ", ".join(f"'{text}' as c{place}" for place, text in enumerate(texts))
    query = f"select {columns}, -1.5::double as d, 'x' as \"=name\""
    path = tmp_path / "answer.csv"
    shown = ask(query, *(("-o", path) if output else ("--format", "csv")))
    text = path.read_bytes().decode() if output else shown
    names, row = csv.reader(io.StringIO(text, newline=""))
    marked = ("'=HYPERLINK(1)", "'+1+1", "'-2+3", "'@SUM(A1)", "'\t'=1", "'\r'=1")
    expected = [*marked, "-5", "plain", "-1.5", "x"]
    assert row == (expected if output else [each.replace("\r", "\ufffd") for each in expected])
    assert names[-1] == "'=name"
    (as_json,) = json.loads(ask(query, "--json"))
    assert list(as_json.values()) == [*texts, -1.5, "x"]


def test_csv_holds_no_formula_however_it_is_split(ask: Assay) -> None:
    formula = "=cmd|''/c calc''!A1"
    texts = [f"x{end}{formula}" for end in (";", "\t", "\n", ',"', ";x;", ';"', ";-1;", '\t""')]
    columns = ", ".join(f"'{text}' as t{place}" for place, text in enumerate(texts))
    others = f"['{texts[0]}'] as l, {{'a': '{texts[0]}'}} as s, '{texts[0]}'::blob as b"
    text = ask(f"select 'a' as a, 'b' as \"x;=1\", {columns}, {others}", "--format", "csv")
    for separator in (",", ";", "\t"):
        rows = csv.reader(io.StringIO(text), delimiter=separator)
        assert not [cell for row in rows for cell in row if cell.startswith("=")], separator


def test_csv_quotes_texts_that_other_separators_would_split_and_no_numbers(ask: Assay) -> None:
    query = "select 'p; q' as a, 'p\tq' as b, 'p q' as c, -1.5 as d, '3;-5' as e, null as f"
    expected = 'a,b,c,d,e,f\n"p; q","p\tq",p q,-1.5,"3;-5",\n'
    assert ask(query, "--format", "csv") == expected


def test_a_number_is_told_with_all_its_digits_however_many_it_has(ask: Assay) -> None:
    long, short = "12345678901234567890.12", "1.50"
    most = str(2**127 - 1)
    columns = f"{long}::decimal(38,2) a, {short}::decimal(4,2) b, {most}::hugeint c, 1e400::double"
    rows = json.loads(ask(f"select {columns} d", "--json"))
    assert rows == [{"a": long, "b": 1.5, "c": most, "d": "inf"}]


def test_a_type_that_parquet_lacks_is_one_line_and_no_file(ask: Assay, tmp_path: Path) -> None:
    answer = tmp_path / "answer.parquet"
    assert "Parquet cannot hold" in ask("select interval 3 days as i", "-o", answer)
    assert not answer.exists()


def test_an_answer_without_rows_names_its_columns_once_however_many_they_are(ask: Assay) -> None:
    lines = ask("from idea_scores where false", COLUMNS=80).splitlines()
    assert "soundness_0_to_10" in lines
    query = "select 1 as a, 2 as a from ideas where false"
    assert ask(query, "--format", "csv") == "a,a_2\n"
