"""`assay write --review` killed at several moments by SIGKILL: no answer is paid for twice, and what
comes of it is what an undisturbed command gives.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from schemas.base import replace
from schemas.literature.survey import SurveyQuote
from tests.support.assay_command import assay, kill_hard, rows, start_assay
from tests.support.draft_lake import PASSAGES
from tests.support.draft_writer import ENGINE, MET, answer
from tests.support.experiment_lake import make_experiment, publish_experiment
from tests.support.openai_server import OpenAIServer, start_openai_server
from tests.support.survey_lake import make_survey, published_surveys
from tests.support.unpaid import Till, not_yet_at
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]

IDEA = {"idea_id": "bats", "title": "Bats and steps", "problem": "Bats choose badly among steps."}
SEEN = (
    "select section_id, text from draft_sections order by all",
    "select claim_key, shown from draft_claims order by all",
    "select figure_id, spec, svg, mended, seen_by from draft_figures order by all",
    "select revises = '', review_run_id = '', incomplete_reason from draft_runs order by all",
    "select problem_id, problem, location from problems order by all",
    "select stage, subject, detail from failures order by all",
)


def command(folder: Path, server: OpenAIServer) -> list[str]:
    """The command, over a lake with an experiment and a survey."""
    warehouse = folder / "warehouse"
    if not warehouse.exists():
        (folder / "idea.jsonl").write_text(json.dumps(IDEA))
        survey = make_survey()
        kept = [paper.paper_id for paper in survey.papers if paper.kept]
        quotes = tuple(
            SurveyQuote(paper_id=paper_id, said_in_paper_id=paper_id, quote=passage)
            for paper_id, passage in zip(kept, PASSAGES[:2], strict=True)
        )
        published_surveys(Warehouse(warehouse), replace(survey, quotes=quotes))
        publish_experiment(Warehouse(warehouse), make_experiment())
    sources = ["--survey", "survey-a", "--experiment", "experiment-a", "--review"]
    engine = ["--engine", ENGINE, "--api-base", server.url]
    words = ["write", str(folder / "idea.jsonl"), "--warehouse", str(warehouse), *sources, *engine]
    return [*words, "-o", str(folder / "draft")]


@pytest.fixture(scope="module")
def paid_env(bare_env: dict[str, str]) -> dict[str, str]:
    images = {"ASSAY_LANGUAGE_MODEL__IMAGES": "yes"}
    return {**bare_env, **images, "OPENAI_API_KEY": "sk-of-a-test"}


@pytest.fixture(scope="module")
def undisturbed(
    paid_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Counter[str]]:
    """The folder of a draft that was written and reviewed in one go, and what it asked."""
    folder, till = tmp_path_factory.mktemp("undisturbed"), Till()
    with start_openai_server(till, answer=answer) as server:
        done = assay(*command(folder, server), env=paid_env)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, till.answered


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.kills)])
def test_a_draft_killed_at_several_moments_pays_for_no_answer_twice(
    kills: int,
    undisturbed: tuple[Path, Counter[str]],
    paid_env: dict[str, str],
    tmp_path: Path,
) -> None:
    whole, asked = undisturbed
    till, warehouse, log = Till(), tmp_path / "warehouse", tmp_path / "log"
    with start_openai_server(till, answer=answer) as server:
        words = command(tmp_path, server)
        for kill in range(kills):
            till.allowed, till.held = 1 + asked.total() * kill // kills, 0
            process = start_assay(*words, env=paid_env, log=log)
            assert not not_yet_at(till, process, warehouse), log.read_text()
            kill_hard(process)
            process.wait()
            assert not (tmp_path / "draft").exists()
        till.allowed = float("inf")
        done = assay(*words, env=paid_env)
        assert done.returncode == 0, done.stdout + done.stderr
    assert till.answered == asked
    assert max(asked.values()) == 1
    for query in SEEN:
        assert rows(warehouse, query) == rows(whole / "warehouse", query), query
    markdown = (tmp_path / "draft" / "draft.md").read_text()
    assert MET in markdown
    assert markdown == (whole / "draft" / "draft.md").read_text()
    assert verify(Warehouse(warehouse)).problems == ()
