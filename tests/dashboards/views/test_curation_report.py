"""The report on a curated set, its file of ideas and its datasheet."""

import json

import pytest

from dashboards.views.curated_set import UNSTATED
from dashboards.views.write_curation import curation_page
from schemas.base import replace
from schemas.reasons import Reason
from schemas.works.curation import Curation
from tasks.benchmarks.suites.coverage import read_scholarideas
from tests.support.curation_lake import CURATION, SENTENCE, make_curation, publish_curation
from warehouse.warehouse import Warehouse

ATTACK = "<script>alert(1)</script> [a](javascript:alert(1)) | `x`"
BARE = replace(
    make_curation("bare"), title=ATTACK, discipline="", licence="", cutoff_date=None, url=ATTACK
)
DROPPED = Curation(
    paper_id="dropped",
    title="",
    reviewed_at=BARE.reviewed_at,
    url="",
    licence="",
    discipline="",
    cutoff_date=None,
    decision="",
    is_first_version=None,
    content_sha256="ef" * 32,
    review_count=0,
    used_review_count=0,
    dropped_reason=Reason.TOO_FEW_REVIEWS,
    dropped_detail="0 of 0 reviews can be used, and 1 are asked for",
)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("curated"))
    publish_curation(warehouse, make_curation(), BARE, DROPPED)
    return warehouse


def test_statements_stand_with_their_sentences_and_what_was_left_out(warehouse: Warehouse) -> None:
    told = curation_page(warehouse, CURATION).markdown()
    for part in (
        *("The calls are not recorded outdoors", " ".join(SENTENCE.split())),
        *("Many typos in the text", "0 of 0 reviews can be used"),
    ):
        assert part in told
    assert "What people changed" not in told


def test_nothing_of_a_paper_becomes_markup(warehouse: Warehouse) -> None:
    page = curation_page(warehouse, CURATION).html()
    assert "<script>alert" not in page
    assert 'href="javascript' not in page


def test_the_file_of_ideas_holds_those_of_the_set_alone_and_is_read_by_the_suite(
    warehouse: Warehouse,
) -> None:
    paths = {
        path.name: path
        for path in curation_page(warehouse, CURATION).write(warehouse.reports / CURATION)
    }
    lines = [json.loads(line) for line in paths["ideas.jsonl"].read_text().splitlines()]
    assert [line["idea_id"] for line in lines] == ["bare", "paper-0"]
    assert (lines[0]["discipline"], lines[0]["cutoff_date"]) == (UNSTATED, None)
    assert lines[1]["rubrics"][0]["sentences"] == [{"review": "r1", "text": SENTENCE}]
    assert len(read_scholarideas(paths["ideas.jsonl"])) == 2


def test_the_datasheet_names_licences_dates_and_gaps(warehouse: Warehouse) -> None:
    paths = {
        path.name: path
        for path in curation_page(warehouse, CURATION).write(warehouse.reports / CURATION)
    }
    sheet = paths["ideas.datasheet.md"].read_text()
    for told in (
        *("CC BY 4.0", "ecology", "2020-05-17", "1 idea without a field"),
        *("1 idea without a licence", "2 ideas perhaps made of a later version"),
        "2 ideas from which sentences that reveal results were removed",
    ):
        assert told in sheet
