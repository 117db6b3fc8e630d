"""The SQL console answers questions and does nothing else."""

from datetime import date
from pathlib import Path

import orjson
import pytest

from schemas.errors import ConfigurationError, SqlError
from tests.support.evaluations import CUTOFF
from warehouse.console import console
from warehouse.console.console import FUNCTIONS, run_sql
from warehouse.warehouse import Warehouse


def test_questions_are_answered_with_plain_values(published: Warehouse) -> None:
    (row,) = run_sql(
        published,
        'select idea_id, cutoff_date, "group", 1.5::decimal(4, 2) as half from ideas where'
        " idea_id = 'idea-00001'",
    )
    assert row == {"idea_id": "idea-00001", "cutoff_date": CUTOFF, "group": "vision", "half": 1.5}
    assert isinstance(row["cutoff_date"], date)


@pytest.mark.parametrize(
    "sql",
    [
        "from runs",
        "with best as (select * from group_rankings where rank = 1) select count(*) from best",
        "describe ideas",
        "summarize comparisons",
        "show tables",
        "from information_schema.tables",
        "values (1), (2)",
        "select unnest(authors) from papers limit 3",
        "select * from range(3)",
        "select * from lake.main.ideas",
        "select i.idea_id from ideas as i join papers as p using (run_id, idea_id) limit 1;",
        "select sum(prompt_tokens) from llm_calls",
        "select list(score) from idea_scores",
        "-- a comment\nselect 1",
        "select 1e400::double, -1e400, 'nan'::double",
        "select 170141183460469231731687303715884105727, [18446744073709551615::ubigint]",
        "select 340282366920938463463374607431768211455::uhugeint as x",
        "select map {170141183460469231731687303715884105727: {'a': 1e400}}",
    ],
)
def test_every_kind_of_question_is_allowed_and_answered_in_json(
    published: Warehouse, sql: str
) -> None:
    orjson.dumps(run_sql(published, sql))


@pytest.mark.parametrize("said", ["ERROR:", "before ERROR: ", "ERROR:\n"])
def test_an_error_that_a_question_words_itself_is_one_line(published: Warehouse, said: str) -> None:
    with pytest.raises(SqlError, match=r"ERROR|Error") as refused:
        run_sql(published, f"select error('{said}')")
    assert "\n" not in str(refused.value)


def test_columns_of_one_name_are_told_apart(published: Warehouse) -> None:
    assert run_sql(published, "select 1 as a, 2 as a") == [{"a": 1, "a_2": 2}]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('/etc/passwd')",
        "from '/etc/passwd'",
        "select * from 'landing/run=run-a/*/ideas.parquet'",
        "select * from read_text('/etc/passwd')",
        "select (select content from read_text('/etc/passwd'))",
        "with x as (from read_blob('/etc/passwd')) from x",
        "select * from glob('/*')",
        "select * from sqlite_scan('lake/catalog.sqlite', 'ducklake_table')",
        "select * from sqlite_query('__ducklake_metadata_lake', 'select 1')",
        "select * from query('select 1')",
        "select * from query_table('ideas')",
        "select * from read_parquet('https://example.org/x.parquet')",
        "select * from duckdb_settings()",
        "select * from duckdb_databases",
        "select * from pragma_database_list",
        "select * from __ducklake_metadata_lake.ducklake_metadata",
        "select * from system.information_schema.schemata",
        "select * from __ducklake_metadata_lake.information_schema.schemata",
        "select * from ducklake_snapshots('lake')",
        "select current_setting('secret_directory')",
        "select json_serialize_plan('select 1')",
        "select JSON_Serialize_Plan('select * from sqlite_scan(''/tmp/x'', ''t'')', optimize := true)",
        "select system.main.json_serialize_sql('select 1')",
        "select json_deserialize_sql('{}')",
        "select currval('x')",
        "select getvariable('data_path')",
        "select list_transform(['x'], each -> current_setting(each))",
        "select pg_sleep(0)",
        "copy ideas to '/tmp/out.csv'",
        "copy (select 1) to '/tmp/out.csv'",
        "attach '/tmp/other.db' as other",
        "detach lake",
        "install httpfs",
        "load httpfs",
        "set threads = 1",
        "reset all",
        "pragma database_list",
        "create table mine (a int)",
        "create temp table mine (a int)",
        "insert into ideas (run_id) values ('x')",
        "delete from ideas",
        "update ideas set title = ''",
        "drop table ideas",
        "call ducklake_expire_snapshots('lake', older_than => now())",
        "export database '/tmp/x'",
        "begin",
        "explain select 1",
        "select 1; select 2",
        "select 1; drop table ideas",
        "select $1",
        "select nothing from ideas",
        "selec",
        "select 1 \0",
        "select '\0'",
        "",
        "   ;  ",
    ],
)
def test_everything_else_is_refused_in_one_line(published: Warehouse, sql: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        run_sql(published, sql)
    assert "\n" not in str(refused.value)
    assert "Traceback" not in str(refused.value)


def test_a_function_that_duckdb_has_and_nobody_looked_at_is_refused(
    published: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_sql(published, "select upper('a') as x") == [{"x": "A"}]
    monkeypatch.setattr(console, "FUNCTIONS", FUNCTIONS - {"upper"})
    with pytest.raises(ConfigurationError, match="the function upper is not allowed here"):
        run_sql(published, "select upper('a') as x")


def test_every_function_of_the_list_is_one_of_this_duckdb(published: Warehouse) -> None:
    """One that is gone may come back as another."""
    with published.reader() as connection:
        sql = "select distinct lower(function_name) from duckdb_functions()"
        known = {name for (name,) in connection.execute(sql).fetchall()}
    assert FUNCTIONS - known == set()


def test_an_endless_question_is_interrupted(published: Warehouse) -> None:
    with pytest.raises(ConfigurationError, match=r"longer than 0\.3 seconds"):
        run_sql(
            published,
            "select count(*) from range(10000000000) as a, range(100000) as b",
            timeout_seconds=0.3,
        )


def test_an_answer_too_large_is_refused_not_cut(
    published: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(run_sql(published, "select * from range(10)", maximum_rows=10)) == 10
    with pytest.raises(ConfigurationError, match="add a LIMIT"):
        run_sql(published, "select * from range(11)", maximum_rows=10)
    monkeypatch.setattr(console, "_MAXIMUM_CHARACTERS", 1_000)
    with pytest.raises(ConfigurationError, match=r"more than 1,000 characters"):
        run_sql(published, "select [{'a': repeat('x', 50)}] from range(20)")


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("select " + "+".join(["1"] * 600), "nested too deeply"),
        (
            "select " + "-(" * 600 + "idea_id" + ")" * 600 + " from ideas",
            "wrong SQL|nested too deeply",
        ),
        ("select to_days(2147483647)", "out of range .*: cast it to varchar"),
        ("select '\ud800'", "lone surrogate"),
    ],
    ids=["many operators", "many parentheses", "interval", "lone surrogate"],
)
def test_what_python_cannot_hold_is_one_line(published: Warehouse, sql: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as raised:
        run_sql(published, sql)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "sql", ["select 1 -- x ; y", "select 1 /* ; select 2 */", "select ';'", "select 1;;"]
)
def test_a_semicolon_in_a_comment_or_a_text_ends_no_statement(
    published: Warehouse, sql: str
) -> None:
    assert len(run_sql(published, sql)) == 1


def test_numbers_and_times_that_json_does_not_know_are_told_as_text(published: Warehouse) -> None:
    (row,) = run_sql(
        published,
        "select 170141183460469231731687303715884105727::hugeint as big, timetz '01:02:03+04' as"
        " clock",
    )
    assert row == {"big": "170141183460469231731687303715884105727", "clock": "01:02:03+04:00"}
    assert orjson.loads(orjson.dumps(row)) == row


def test_files_of_the_users_own_are_tables_beside_the_lake_and_no_others_can_be_read(
    published: Warehouse, tmp_path: Path
) -> None:
    (tmp_path / "labels.csv").write_text("idea_id,label\nidea-00001,good\n")
    beside = {"labels": tmp_path / "labels.csv"}
    query = "select idea_id, label from ideas join labels using (idea_id)"
    assert run_sql(published, query, files=beside) == [{"idea_id": "idea-00001", "label": "good"}]
    with pytest.raises(ConfigurationError):
        run_sql(published, f"from '{tmp_path / 'labels.csv'}'", files=beside)
    with pytest.raises(ConfigurationError, match="labels does not exist"):
        run_sql(published, "from labels")


@pytest.mark.parametrize("name", ["runs", "Idea_Scores", "a b", 'x"; drop table ideas; --'])
def test_a_file_takes_no_name_of_the_lakes_and_none_that_is_no_word(
    name: str, published: Warehouse, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(ConfigurationError, match="cannot name a table"):
        run_sql(published, "select 1", files={name: tmp_path / "a.csv"})


def test_what_was_not_found_comes_with_candidates(published: Warehouse) -> None:
    with pytest.raises(ConfigurationError, match='"idea_scores"'):
        run_sql(published, "from idea_score")
    with pytest.raises(ConfigurationError, match='Candidate bindings: "score"'):
        run_sql(published, "select scor from idea_scores")
