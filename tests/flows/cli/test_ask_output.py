"""What `assay ask` and `assay survey` say beside their answer."""

from pathlib import Path

import pytest

from flows.cli.answer import EXIT_DONE
from flows.cli.works import print_published
from flows.run.requests import request_of
from schemas.settings import Settings
from schemas.work import Summary
from schemas.works.survey_run import SURVEYS, AskOptions, SurveyHead
from tasks.survey.work import ASK, SURVEY
from tests.support.survey_lake import make_survey, published_surveys
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("asked")


@pytest.fixture(scope="module")
def summary(warehouse: Path) -> Summary[SurveyHead]:
    opened = Warehouse(warehouse)
    run_id = published_surveys(opened, make_survey())
    with opened.reader() as connection:
        head = published_head(connection, kind_of(SURVEYS), run_id)
    return Summary[SurveyHead](
        name="ask",
        title="",
        head=head,
        published=True,
        unchanged=False,
        failed_expectations=(),
        report_paths=(),
    )


@pytest.mark.parametrize(("literature", "told"), [(None, True), ("live", False)])
def test_what_the_bundled_sample_lacks_is_not_taken_for_what_is_unknown(
    literature: str | None,
    told: bool,
    warehouse: Path,
    summary: Summary[SurveyHead],
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = AskOptions(warehouse=warehouse, literature=literature)
    settings = Settings(semantic_scholar_api_key=None)
    request = request_of(ASK, (("How do bats hunt?",),), options, settings)
    assert print_published(ASK, request, summary, as_json=False) == EXIT_DONE
    assert ("literature: the bundled sample" in capsys.readouterr().err) is told
    assert print_published(SURVEY, request, summary, as_json=False) == EXIT_DONE
    assert ("literature: the bundled sample" in capsys.readouterr().err) is told
