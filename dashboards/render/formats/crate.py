"""RO-Crates (https://www.researchobject.org/ro-crate/) of published work.

They contain its tables and reports, and the authors of each part according to the ledger.
"""

import tempfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq
from rocrate.model import ContextEntity, File, Person, SoftwareApplication
from rocrate.rocrate import ROCrate

from dashboards.render.figures import plural
from dashboards.render.formats.provenance import prov_json
from dashboards.views.pages_by_kind import page_of
from schemas.identifiers import RunId
from schemas.people.ledger import CreditRole, LedgerAction, LedgerRow
from schemas.run import Run
from schemas.tables import TABLE
from schemas.text.plain_files import read_file
from warehouse.export import rows_of_run
from warehouse.kinds.registry import KINDS
from warehouse.ledger import ledger_of_run
from warehouse.parquet import MOST_BYTES
from warehouse.queries import Queries
from warehouse.reports import bring_report
from warehouse.units.kind import Kind
from warehouse.units.published_work import published_head, published_kind
from warehouse.warehouse import Warehouse

# Texts of papers are not ours to distribute.
TEXTS_OF_OTHERS = frozenset({"paper_sections", "passages"})
_REPORTS = {"index.md": "text/markdown", "index.html": "text/html"}


def write_crate(
    queries: Queries, warehouse: Warehouse, run_id: RunId, target: Path, terms: str
) -> tuple[int, int]:
    """Write published work as a zipped RO-Crate; return its file and action counts.

    Args:
        terms: licence, or its URL.

    Raises:
        UnknownNameError: nothing is published under that name.
        ConfigurationError: the report's path is not a file of the warehouse.
    """
    kind = published_kind(queries.connection, run_id)
    head = published_head(queries.connection, kind, run_id)
    rows = ledger_of_run(queries.connection, run_id)
    crate = ROCrate(version="1.2")
    crate.name = f"Assay {kind.title(run_id)}"
    crate.description = _description(kind, head, rows)
    crate.datePublished = head.finished_at
    crate.license = terms
    crate.keywords = "research evaluation"
    with tempfile.TemporaryDirectory() as folder:
        files = {
            name: crate.add(file)
            for name, file in _files(crate, queries, warehouse, kind, run_id, Path(folder), rows)
        }
        actions = _add_actions(crate, rows, files)
        building = target.with_name(f".{target.name}.building.zip")
        crate.write_zip(building)
        building.replace(target)
    return len(files), actions


def _description(kind: Kind[Any, Any, Any], head: Any, rows: Sequence[LedgerRow]) -> str:
    units = len({row.unit_id for row in rows if row.unit_id})
    sources = {name: getattr(head, name, None) for name in ("profile", "literature")}
    rests_on = "".join(f"; {name} {value}" for name, value in sources.items() if value)
    state = f" {head.states_in_words}." if isinstance(head, Run) else ""
    return f"{plural(units, kind.unit_noun)} by {head.engine}{rests_on}.{state}"


def _files(
    crate: ROCrate,
    queries: Queries,
    warehouse: Warehouse,
    kind: Kind[Any, Any, Any],
    run_id: RunId,
    folder: Path,
    rows: Sequence[LedgerRow],
) -> Iterator[tuple[str, File]]:

    def file(source: Path, name: str, form: str, description: str) -> tuple[str, File]:
        properties: dict[str, Any] = {
            "@type": ["File", "ImageObject"] if form.startswith("image/") else "File",
            "name": name,
            "description": description,
            "encodingFormat": form,
        }
        return source.stem, File(crate, str(source), name, properties=properties)

    # The tables of a kind and of the kinds in its folder, each once.
    kinds_in_folder = (
        each for each in KINDS if next(iter(each.folders)) == next(iter(kind.folders))
    )
    names = dict.fromkeys(
        name for each in (kind, *kinds_in_folder) for name in (each.head_table, *each.tables)
    )
    for table in (TABLE[name] for name in names if name not in TEXTS_OF_OTHERS):
        table_rows = rows_of_run(queries.connection, table.name, run_id)
        if len(table_rows):
            path = folder / f"{table.name}.parquet"
            pq.write_table(table_rows, path)
            yield file(path, f"data/{path.name}", "application/vnd.apache.parquet", table.meaning)
    pq.write_table(rows_of_run(queries.connection, "ledger", run_id), folder / "ledger.parquet")
    yield file(
        folder / "ledger.parquet",
        "data/ledger.parquet",
        "application/vnd.apache.parquet",
        TABLE["ledger"].meaning,
    )
    provenance = folder / "provenance.json"
    provenance.write_text(prov_json(rows), "utf-8")
    yield file(provenance, provenance.name, "application/json", "The ledger's rows as W3C PROV.")
    for name, form in _REPORTS.items():
        if bring_report(warehouse, warehouse.reports / run_id / name):
            report = folder / name
            place = warehouse.reports.resolve() / run_id / name
            report.write_bytes(
                read_file(place, MOST_BYTES)
            )  # refuses links, which may lead to any file
            key, crate_file = file(report, f"report/{name}", form, "The report.")
            yield f"{key}{report.suffix}", crate_file
    for name, svg in page_of(kind, warehouse, run_id).drawings().items():
        drawing = folder / "drawings" / name
        drawing.parent.mkdir(parents=True, exist_ok=True)
        drawing.write_text(svg, "utf-8")
        _, crate_file = file(drawing, f"report/{name}", "image/svg+xml", "A drawing of the report.")
        yield name, crate_file


def _add_actions(crate: ROCrate, rows: Sequence[LedgerRow], files: dict[str, File]) -> int:
    assay = crate.add(
        SoftwareApplication(
            crate,
            "#assay",
            properties={"name": "Assay", "softwareVersion": metadata.version("assay")},
        )
    )
    agents: dict[str, ContextEntity] = {}
    count = 0

    def key(row: LedgerRow) -> tuple[str, ...]:
        parts = (row.part, row.action, row.step, row.participant_id, row.model)
        return tuple(each or "" for each in parts)

    for action_key, group in groupby(sorted(rows, key=key), key=key):
        part, action, step, participant_id, model = action_key
        of_group = list(group)
        properties: dict[str, object] = {
            "name": " ".join(filter(None, (action.replace("_", " "), part, step))),
            "endTime": max(row.happened_at for row in of_group).isoformat(),
            "description": f"{len(of_group)} rows of the ledger",
        }
        entity = crate.add(
            ContextEntity(
                crate,
                f"#{quote('-'.join(filter(None, action_key)), safe='-_.')}",
                properties={"@type": _TYPES.get(action, "CreateAction"), **properties},
            )
        )
        entity["instrument"] = assay
        if participant_id:
            role = of_group[0].role
            entity["agent"] = _agent(crate, agents, participant_id, model, role)
        if part in files:
            entity["result"] = files[part]
        crate.root_dataset.append_to("mentions", entity)
        count += 1
    return count


_TYPES: dict[str, str] = {
    LedgerAction.PUBLISHED: "PublicationEvent",
    LedgerAction.CHOSEN: "ChooseAction",
    LedgerAction.APPROVED: "AgreeAction",
    LedgerAction.REJECTED: "RejectAction",
    LedgerAction.COMMENTED: "CommentAction",
    LedgerAction.REQUESTED: "AskAction",
}


def _agent(
    crate: ROCrate,
    agents: dict[str, ContextEntity],
    participant_id: str,
    model: str,
    role: CreditRole | None,
) -> ContextEntity:
    name = f"{participant_id} ({model})" if model else participant_id
    if name not in agents:
        kind = SoftwareApplication if role is CreditRole.TOOL else Person
        agent = kind(crate, f"#{quote(name, safe='-_.')}", properties={"name": name})
        agents[name] = crate.add(agent)
    return agents[name]
