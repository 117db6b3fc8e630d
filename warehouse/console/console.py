"""SQL console: one SELECT over the lake, without access to the machine.

Two layers of protection. DuckDB may read only the lake's files and cannot change its settings, as
in every connection to a lake. Some functions bypass that (`sqlite_scan` opens any file), so the
parsed statement may use only listed functions, and no catalogue internals.
"""

import json
import math
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import time
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import UUID

import duckdb

from schemas.base import encodable
from schemas.errors import ConfigurationError, SqlError
from schemas.tables import TABLE
from warehouse.catalogue.connection import Connection, in_memory
from warehouse.lake import in_one_line
from warehouse.objects.object_files import report_storage_failures
from warehouse.rows import Row
from warehouse.statements import MARTS, quoted
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:  # slow import, and most answers are text
    import pyarrow as pa


_TABLE_FUNCTIONS = frozenset(
    {
        "generate_series",
        "json_each",
        "json_tree",
        "range",
        "regexp_split_to_table",
        "repeat",
        "unnest",
    }
)
_CATALOGUES = frozenset({"", "lake", "temp"})
_SCHEMAS = frozenset({"", "main", "lake", "temp", "information_schema"})
"""The first part of a two-part name may be the catalogue: `lake.runs`."""
_HIDDEN_PREFIXES = ("__ducklake", "duckdb_", "ducklake_", "pg_", "postgres_", "pragma_", "sqlite_")
_READERS = {
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".json": "read_json",
    ".jsonl": "read_json",
    ".ndjson": "read_json",
    ".parquet": "read_parquet",
}
_MAXIMUM_ROWS = 1_000_000
_MAXIMUM_CHARACTERS = 100_000_000
_ROWS_AT_ONCE = 100
_TIMEOUT_SECONDS = 300.0
_MOST_BITS = 63
"""Largest integer that other programs read; larger ones become text."""


def run_sql(
    warehouse: Warehouse,
    sql: str,
    *,
    timeout_seconds: float = _TIMEOUT_SECONDS,
    maximum_rows: int = _MAXIMUM_ROWS,
    files: Mapping[str, Path] = MappingProxyType({}),
) -> list[Row]:
    """Run one SELECT (also WITH, VALUES, FROM, DESCRIBE, SUMMARIZE, SHOW TABLES).

    It reads the published tables and marts. Values are plain: numbers, strings, dates, times,
    lists, dicts.

    Args:
        files: the user's files by table name: CSV, TSV, JSON, JSON Lines or Parquet.

    Raises:
        SqlError: the statement is invalid; one line, with the position.
        ConfigurationError: it is refused, too slow or too large, or a file cannot be read.
    """
    _, rows = run_sql_with_names(
        warehouse, sql, timeout_seconds=timeout_seconds, maximum_rows=maximum_rows, files=files
    )
    return rows


def run_sql_with_names(
    warehouse: Warehouse,
    sql: str,
    *,
    timeout_seconds: float = _TIMEOUT_SECONDS,
    maximum_rows: int = _MAXIMUM_ROWS,
    files: Mapping[str, Path] = MappingProxyType({}),
) -> tuple[tuple[str, ...], list[Row]]:
    """Run as `run_sql`; return also the column names, even without rows."""
    with _run_statement(warehouse, sql, timeout_seconds, files) as answer:
        names = _distinct([column[0] for column in answer.description or ()])
        values: list[tuple[Any, ...]] = []
        character_count = 0
        # DuckDB's bound on memory does not count what Python holds.
        while batch := answer.fetchmany(_ROWS_AT_ONCE):
            values += batch
            character_count += _characters(batch)
            if len(values) > maximum_rows:
                raise ConfigurationError(
                    f"the answer has more than {maximum_rows} rows: add a LIMIT"
                )
            if character_count > _MAXIMUM_CHARACTERS:
                raise ConfigurationError(
                    f"the answer has more than {_MAXIMUM_CHARACTERS:,} characters: select fewer"
                    " rows or columns"
                )
    rows = [{name: _plain(value) for name, value in zip(names, row, strict=True)} for row in values]
    return tuple(names), rows


def run_sql_to_arrow(
    warehouse: Warehouse,
    sql: str,
    *,
    files: Mapping[str, Path] = MappingProxyType({}),
) -> "pa.Table":
    """Run as `run_sql`, and return an Arrow table without a bound on rows."""
    with _run_statement(warehouse, sql, _TIMEOUT_SECONDS, files) as answer:
        table = answer.to_arrow_table()
        return table.rename_columns(_distinct(table.column_names))


@contextmanager
def _run_statement(
    warehouse: Warehouse, sql: str, timeout_seconds: float, files: Mapping[str, Path]
) -> Iterator[Connection]:
    if "\0" in sql:
        raise ConfigurationError("wrong SQL: it holds a NUL character: leave it out")
    if not encodable(sql):
        raise ConfigurationError("wrong SQL: it contains a lone surrogate: type it again")
    with warehouse.reader() as connection:
        connection.execute("set errors_as_json = true")  # JSON errors include the position
        _refuse_other_statements(connection, sql)
        for name, path in files.items():
            _load_file(connection, name, path)
        connection.execute("set lock_configuration = true")
        stop = threading.Timer(timeout_seconds, connection.interrupt)
        stop.start()
        try:
            with report_storage_failures():
                yield connection.execute(sql)
        except duckdb.InterruptException:
            raise ConfigurationError(
                f"the statement took longer than {timeout_seconds:g} seconds: narrow it down"
            ) from None
        except (duckdb.Error, RuntimeError) as error:
            raise _sql_error(sql, error) from None
        except (OverflowError, ValueError) as error:  # some DuckDB values are out of Python's range
            raise ConfigurationError(
                f"a value of the answer is out of range ({error}): cast it to varchar"
            ) from None
        finally:
            stop.cancel()


def _load_file(connection: Connection, name: str, path: Path) -> None:
    """Load a file of the user into a temporary table of the connection."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise ConfigurationError(f"{path.name}: give a {', '.join(_READERS)} file")
    if not name.isidentifier() or name.lower() in {*TABLE, *MARTS}:
        raise ConfigurationError(
            f"{name!r} cannot name a table here: choose a word that is no table of the lake's"
        )
    try:
        # Read with another connection, since this one is limited to the lake.
        with in_memory() as file_connection:
            rows = file_connection.execute(
                f"from {reader}(?)", [str(path.resolve())]
            ).to_arrow_table()
        connection.register("a file", rows)
        connection.execute(f'create temp table "{name}" as from "a file"')
        connection.unregister("a file")
    except duckdb.Error as error:
        raise ConfigurationError(f"{path} cannot be read: {_parse_error(error)[0]}") from None


def _refuse_other_statements(connection: Connection, sql: str) -> None:
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise _sql_error(sql, error) from None
    if len(statements) != 1:
        raise ConfigurationError(f"one statement at a time, please: found {len(statements)}")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise ConfigurationError(
            f"only SELECT is allowed here, not {statements[0].type.name}: the lake is read-only"
        )
    if statements[0].named_parameters:
        raise ConfigurationError(
            "parameters cannot be given here: write the values into the statement"
        )
    answer = connection.execute(f"select json_serialize_sql({quoted(sql)})").fetchall()
    try:
        tree = json.loads(answer[0][0])  # unlike orjson it accepts Infinity, as in 1e400
    except (ValueError, RecursionError):
        raise ConfigurationError(
            "the statement is nested too deeply: write it with fewer operators or parentheses"
        ) from None
    if tree["error"]:
        raise ConfigurationError(f"only a plain SELECT is allowed here: {tree['error_message']}")
    for node in _nodes(tree):
        _refuse_other_tables(node)
        _refuse_functions(connection, node)


def _nodes(tree: object) -> Iterator[dict[str, Any]]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _refuse_other_tables(node: dict[str, Any]) -> None:
    if node.get("type") == "TABLE_FUNCTION":
        name = str(node["function"]["function_name"]).lower()
        if name not in _TABLE_FUNCTIONS:
            raise ConfigurationError(
                f"the table function {name} is not allowed here: only tables and marts of the lake"
            )
    elif node.get("type") in ("BASE_TABLE", "SHOW_REF"):
        catalogue, schema, name = (
            str(node.get(part) or "").lower().strip('"')
            for part in ("catalog_name", "schema_name", "table_name")
        )
        if catalogue not in _CATALOGUES or schema not in _SCHEMAS:
            raise ConfigurationError(
                f"{'.'.join(filter(None, (catalogue, schema, name)))} is not a table of the lake:"
                " `show tables` lists them"
            )
        if name.startswith(_HIDDEN_PREFIXES):
            raise ConfigurationError(f"{name} is not a table of the lake: `show tables` lists them")
        if name in MARTS and (catalogue or schema or node.get("at_clause")):
            # The lake's own view may contain foreign SQL; the temporary one does not.
            raise ConfigurationError(f"the mart {name} is asked by its name alone, as it is now")


def _refuse_functions(connection: Connection, node: dict[str, Any]) -> None:
    name = str(node.get("function_name") or "").lower()
    if not name or name in FUNCTIONS or name in _TABLE_FUNCTIONS:
        return
    sql = "select 1 from duckdb_functions() where lower(function_name) = ? limit 1"
    if connection.execute(sql, [name]).fetchall():  # for unknown names DuckDB suggests others
        raise ConfigurationError(f"the function {name} is not allowed here")


def _characters(value: Any) -> int:
    """Return the approximate length of a value as text."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_characters, (*value.keys(), *value.values())))
    return sum(map(_characters, value)) if isinstance(value, list | tuple) else 8


def _distinct(names: list[str]) -> list[str]:
    """Number repeated column names, so that none is lost in a dict."""
    counts: dict[str, int] = {}
    distinct = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        distinct.append(name if counts[name] == 1 else f"{name}_{counts[name]}")
    return distinct


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        as_float = float(value)  # which may lose digits
        return as_float if Decimal(repr(as_float)) == value else str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(content) for key, content in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, UUID | bytes) or (
        isinstance(value, int) and value.bit_length() > _MOST_BITS
    ):
        return str(value)
    if isinstance(value, time):
        return value.isoformat()
    return value


def _sql_error(sql: str, error: duckdb.Error | RuntimeError) -> SqlError:
    line, details = _parse_error(error)
    is_unreadable = isinstance(error, duckdb.IOException)
    title = (
        "the lake cannot be read (`assay warehouse verify` says more)"
        if is_unreadable
        else "wrong SQL"
    )
    sql_error = SqlError(f"{title}: {line}")
    if str(details.get("position", "")).isdecimal():
        prefix = sql.encode()[: int(details["position"])]
        sql_error.place = len(prefix.decode(errors="ignore"))
    sql_error.word = str(details.get("name", ""))
    sql_error.offered = tuple(
        name for name in str(details.get("candidates", "")).split(",") if name
    )
    return sql_error


def _parse_error(error: duckdb.Error | RuntimeError) -> tuple[str, Mapping[str, Any]]:
    """Return DuckDB's message as one line, with its details: position in bytes, name, candidates."""
    kind, _, text = str(error).partition(": ")
    try:
        details = json.loads(text)
    except ValueError:
        details = None
    if not isinstance(details, dict) or "exception_message" not in details:
        return in_one_line(str(error)), {}
    return in_one_line(f"{kind}: {details['exception_message']}"), details


# DuckDB functions that only compute from their arguments. A closed list, so that functions of later
# versions are reviewed first. Left out are functions that bind or run other statements
# (`json_serialize_plan`), read settings, variables, sequences or the catalogue, write, or wait.
_FUNCTION_NAMES = r"""
!__postfix !~~ !~~* % & && * ** + - ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~ abs
acos acosh add age aggregate ago alias any_value apply approx_count_distinct approx_quantile
approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null
arg_min_nulls_last argmax argmin array_agg array_aggr array_aggregate array_append array_apply
array_cat array_concat array_contains array_cosine_distance array_cosine_similarity
array_cross_product array_distance array_distinct array_dot_product array_extract array_filter
array_grade_up array_has array_has_all array_has_any array_indexof array_inner_product
array_intersect array_length array_negative_dot_product array_negative_inner_product
array_pop_back array_pop_front array_position array_prepend array_push_back array_push_front
array_reduce array_resize array_reverse array_reverse_sort array_select array_slice array_sort
array_to_json array_to_string array_to_string_comma_default array_transform array_unique
array_value array_where array_zip ascii asin asinh atan atan2 atanh avg bar base64 bin bit_and
bit_count bit_length bit_or bit_position bit_xor bitstring bitstring_agg bool_and bool_or
can_cast_implicitly cardinality cast_to_type cbrt ceil ceiling century char_length
character_length chr combine concat concat_ws constant_or_null contains corr cos cosh cot count
count_if count_star countif covar_pop covar_samp create_sort_key cume_dist current_catalog
current_database current_date current_localtime current_localtimestamp current_role
current_schema current_schemas current_user damerau_levenshtein date_add date_diff date_part
date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek
dayofyear days_in_month decade decode degrees dense_rank divide editdist3 element_at encode
ends_with entropy enum_code enum_first enum_last enum_range enum_range_boundary epoch epoch_ms
epoch_ns epoch_us equi_width_bins era error even exp factorial favg fdiv fill filter finalize
first first_value flatten floor fmod format format_bytes formatreadabledecimalsize
formatreadablesize from_base64 from_binary from_hex from_json from_json_strict fsum gamma gcd
gen_random_uuid generate_series generate_subscripts geomean geometric_mean get_bit
get_current_time get_current_timestamp get_type grade_up greatest greatest_common_divisor
group_concat hamming hash hex histogram histogram_exact hour icu_sort_key ilike_escape instr
is_histogram_other_bin isfinite isinf isnan isodow isoyear jaccard jaro_similarity
jaro_winkler_similarity json json_array json_array_length json_contains json_exists json_extract
json_extract_path json_extract_path_text json_extract_string json_group_array json_group_object
json_group_structure json_keys json_merge_patch json_object json_pretty json_quote
json_structure json_transform json_transform_strict json_type json_valid json_value julian
kahan_sum kurtosis kurtosis_pop lag last last_day last_value lcase lcm lead least
least_common_multiple left left_grapheme len length length_grapheme levenshtein lgamma
like_escape list list_aggr list_aggregate list_any_value list_append list_apply
list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor list_bool_and
list_bool_or list_cat list_concat list_contains list_cosine_distance list_cosine_similarity
list_count list_distance list_distinct list_dot_product list_element list_entropy list_extract
list_filter list_first list_grade_up list_has list_has_all list_has_any list_histogram
list_indexof list_inner_product list_intersect list_kurtosis list_kurtosis_pop list_last
list_mad list_max list_median list_min list_mode list_negative_dot_product
list_negative_inner_product list_pack list_position list_prepend list_product list_reduce
list_resize list_reverse list_reverse_sort list_select list_sem list_skewness list_slice
list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum list_transform list_unique
list_value list_var_pop list_var_samp list_where list_zip listagg ln log log10 log2 lower lpad
ltrim mad make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns
make_timestamptz make_type map map_concat map_contains map_contains_entry map_contains_value
map_entries map_extract map_extract_value map_from_entries map_keys map_values max max_by md5
md5_number md5_number_lower md5_number_upper mean median microsecond millennium millisecond min
min_by minute mismatches mod mode month monthname multiply murmur3_32 nanosecond nextafter
nfc_normalize normalized_interval not_ilike_escape not_like_escape now nth_value ntile nullif
octet_length ord parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path
percent_rank pi position pow power prefix printf product quantile quantile_cont quantile_disc
quarter radians random range rank rank_dense reduce regexp_escape regexp_extract
regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array
regexp_split_to_table regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
regr_sxy regr_syy remap_struct repeat replace replace_type reservoir_quantile reverse right
right_grapheme round round_even roundbankers row row_number row_to_json rpad rtrim second sem
session_user set_bit setseed sha1 sha256 sign signbit sin sinh skewness split split_part sqrt
st_asbinary st_astext st_aswkb st_aswkt st_crs st_geomfromwkb st_intersects_extent st_setcrs
starts_with stddev stddev_pop stddev_samp str_split str_split_regex strftime string_agg
string_split string_split_regex string_to_array strip_accents strlen strpos strptime
struct_concat struct_contains struct_extract struct_extract_at struct_has struct_indexof
struct_insert struct_keys struct_pack struct_position struct_update struct_values substr
substring substring_grapheme subtract suffix sum sum_no_overflow sumkahan switch tan tanh
time_bucket timetz_byte_comparable timezone timezone_hour timezone_minute to_base to_base64
to_binary to_centuries to_days to_decades to_hex to_hours to_json to_microseconds to_millennia
to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today
transaction_timestamp translate trim trunc try_strptime typeof ucase unbin unhex unicode
union_extract union_tag union_value unpivot_list upper url_decode url_encode user
uuid uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 var_pop var_samp variance
variant_bytes_to_variant variant_extract variant_normalize variant_to_parquet_variant
variant_typeof vector_type version wavg week weekday weekofyear weighted_avg xor year yearweek
"""
FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
