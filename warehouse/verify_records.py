"""Is what the lake holds of the services' tables what people and programs did?"""

from collections.abc import Collection
from dataclasses import dataclass, field

from schemas.columns import Table
from schemas.tables import SERVICE_TABLES
from warehouse.layout import Layout
from warehouse.services.database import ServiceDatabase, services_file
from warehouse.services.records import arrow_rows, known_keys
from warehouse.verify_content import LakeContent, LandedContent

_ROWS_AT_ONCE = 10_000


@dataclass(slots=True)
class RecordFindings:
    """A line each: what is wrong, and what is not wrong but worth knowing."""

    problems: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def recorded_problems(
    layout: Layout, lake: LakeContent, readable: Collection[str]
) -> RecordFindings:
    """Hold the lake's rows against those recorded: each is one of them, with the same content.

    `readable`: tables of the lake that can be read.

    Raises:
        ConfigurationError: the services' database cannot be read.
    """
    findings = RecordFindings()
    if layout.objects is not None:  # nothing is recorded there: what the lake holds came with it
        return findings
    recorded: dict[str, dict[str, str]] = {}
    if services_file(layout).exists():
        with ServiceDatabase(layout) as database:
            for table in SERVICE_TABLES:
                recorded[table.name] = dict(database.ask("records", table_name=table.name))
    for table in SERVICE_TABLES:
        if table.name in readable:
            _hold(table, recorded.get(table.name, {}), lake, layout, findings)
    return findings


def _hold(
    table: Table,
    recorded: dict[str, str],
    lake: LakeContent,
    layout: Layout,
    findings: RecordFindings,
) -> None:
    folded = known_keys(lake.connection, table)
    strangers = folded - recorded.keys()
    if strangers:
        findings.problems.append(
            f"{table.name}: {len(strangers)} rows of the lake were never recorded in"
            f" {services_file(layout)}; bring that file back from a copy"
        )
    waiting = len(recorded.keys() - folded)
    if waiting:
        findings.notices.append(
            f"{waiting} rows of {table.name} wait for the next publication, which takes them up"
        )
    if strangers:
        return
    both = [document for key, document in recorded.items() if key in folded]
    expected = LandedContent(lake)
    for start in range(0, len(both), _ROWS_AT_ONCE):
        expected.add(table.name, arrow_rows(table, both[start : start + _ROWS_AT_ONCE]))
    if expected.of(table.name) != lake.of(table.name, "true", {}):
        findings.problems.append(
            f"{table.name}: the rows in the lake are not those that were recorded; bring"
            f" {layout.lake} back from a copy"
        )
