"""A run as an RO-Crate and as W3C PROV: others can read it, and it names who made what."""

import zipfile
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest
from prov.model import ProvDocument
from rocrate.rocrate import ROCrate

from dashboards.render.formats.crate import TEXTS_OF_OTHERS, write_crate
from dashboards.render.formats.provenance import prov_document
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import RunId
from tests.support.draft_lake import DRAFT, make_draft, publish_draft
from tests.support.evaluations import make_evaluation, make_run
from tests.support.survey_lake import SURVEY, make_survey, published_surveys
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.ledger import ledger_of_run
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")
METADATA = "ro-crate-metadata.json"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("crate"))
    for number in range(2):
        land(warehouse, make_evaluation(number))
    assert publish(warehouse, RUNS, make_run(ideas=2)).published
    (warehouse.reports / RUN).mkdir(parents=True)
    (warehouse.reports / RUN / "index.md").write_text("# Run")
    return warehouse


@pytest.fixture(scope="module")
def crate(warehouse: Warehouse) -> Path:
    target = warehouse.root / "run.crate.zip"
    with warehouse.queries() as queries:
        write_crate(queries, warehouse, RUN, target, "https://creativecommons.org/licenses/by/4.0/")
    return target


def entities(crate: Path) -> dict[str, dict[str, object]]:
    with zipfile.ZipFile(crate) as files:
        graph = orjson.loads(files.read(METADATA))["@graph"]
    return {each["@id"]: each for each in graph}


def test_the_crate_has_what_the_specification_asks_of_its_descriptor_and_root(crate: Path) -> None:
    found = entities(crate)
    descriptor, root = found[METADATA], found["./"]
    assert descriptor["@type"] == "CreativeWork"
    assert descriptor["about"] == {"@id": "./"}
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.2"}
    assert "Dataset" in root["@type"]
    assert all(root[name] for name in ("name", "description", "datePublished", "license"))


def test_every_file_is_described_and_every_reference_leads_somewhere(crate: Path) -> None:
    found = entities(crate)
    with zipfile.ZipFile(crate) as files:
        names = {name for name in files.namelist() if not name.endswith("/")} - {METADATA}
    parts = {part["@id"] for part in found["./"]["hasPart"]}
    assert names == parts
    assert names <= found.keys()
    references = {
        value["@id"]
        for each in found.values()
        for given in each.values()
        for value in (given if isinstance(given, list) else [given])
        if isinstance(value, dict) and "@id" in value
    }
    assert {each for each in references if not each.startswith("http")} <= found.keys()


def test_the_library_reads_it_back_with_tables_and_without_texts_of_others(
    crate: Path, warehouse: Warehouse, tmp_path: Path
) -> None:
    read = ROCrate(str(crate))
    names = {Path(str(each.id)).stem for each in read.data_entities}
    assert {"ideas", "soundness_reviews", "ledger", "provenance", "index"} <= names
    assert not names & TEXTS_OF_OTHERS
    with zipfile.ZipFile(crate) as files:
        files.extract("data/ideas.parquet", tmp_path)
    assert len(pq.read_table(tmp_path / "data/ideas.parquet")) == 2


def test_each_step_is_an_action_with_its_model_as_agent_and_its_table_as_result(
    crate: Path,
) -> None:
    found = entities(crate)
    actions = [each for each in found.values() if each["@type"] == "CreateAction"]
    (review,) = [
        each for each in actions if each["name"] == "made soundness_reviews soundness_review"
    ]
    assert review["result"] == {"@id": "data/soundness_reviews.parquet"}
    agent = found[review["agent"]["@id"]]
    assert (agent["@type"], agent["name"]) == (
        "SoftwareApplication",
        "litellm:small (small-2026-01)",
    )


def test_the_provenance_reads_back_and_holds_every_row_of_the_ledger(
    crate: Path, warehouse: Warehouse
) -> None:
    with zipfile.ZipFile(crate) as files:
        text = files.read("provenance.json").decode()
    with warehouse.queries() as queries:
        rows = ledger_of_run(queries.connection, RUN)
    read = ProvDocument.deserialize(content=text, format="json")
    assert read == prov_document(rows)
    told = orjson.loads(text)
    assert len(told["activity"]) == len(rows)
    (agent,) = told["agent"].values()
    assert agent["prov:type"]["$"] == "prov:SoftwareAgent"
    assert {"used", "wasGeneratedBy", "wasAssociatedWith"} <= told.keys()


def test_drawings_of_every_kind_are_files_with_their_type(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse")
    published_surveys(warehouse, make_survey())
    draft = make_draft()
    publish_draft(warehouse, draft)
    of_draft = {f"report/draft/figures/{each.figure_id}.svg" for each in draft.figures if each.svg}
    for run_id, least in ((SURVEY, {"report/map-1.svg"}), (DRAFT, of_draft)):
        target = tmp_path / f"{run_id}.crate.zip"
        with warehouse.queries() as queries:
            write_crate(queries, warehouse, run_id, target, "https://example.org/terms")
        read = ROCrate(str(target))
        drawings = {each.id: each for each in read.data_entities if "ImageObject" in each.type}
        assert least <= drawings.keys()
        assert least
        with zipfile.ZipFile(target) as files:
            for name, each in drawings.items():
                assert each["encodingFormat"] == "image/svg+xml"
                assert files.read(name).lstrip().startswith(b"<svg")


def test_a_run_that_is_not_published_is_not_exported(warehouse: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "none.zip"
    with warehouse.queries() as queries, pytest.raises(UnknownNameError):
        write_crate(queries, warehouse, RunId("nobody"), target, "none")
    assert not target.exists()


def test_a_crate_takes_no_file_behind_a_link_along(warehouse: Warehouse, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret of this machine")
    planted = warehouse.reports / RUN / "index.html"
    planted.symlink_to(secret)
    target = tmp_path / "run.crate.zip"
    with (
        warehouse.queries() as queries,
        pytest.raises(ConfigurationError, match=r"index\.html is a link"),
    ):
        write_crate(queries, warehouse, RUN, target, "https://example.org/terms")
    planted.unlink()
    assert not target.exists()
