"""What `assay check` prints and exits with, for a check that is already published."""

import asyncio
import json
from pathlib import Path

import pytest

from flows.campaign import conclude
from flows.check_request import resolve_check
from flows.checking import Check
from flows.commands.check_output import print_check
from schemas.options import CheckOptions
from schemas.settings import Settings
from tasks.manuscripts.check_shard import check_job
from tasks.manuscripts.collect import CheckJob
from tests.support.manuscript_files import faulty_pdf, locked_pdf


def test_problems_are_printed_with_place_and_reason_and_what_was_not_read_costs_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "faulty.pdf").write_bytes(faulty_pdf())
    (tmp_path / "locked.pdf").write_bytes(locked_pdf())
    request = resolve_check([tmp_path], CheckOptions(warehouse=tmp_path / "wh"), Settings())
    check = Check(request)
    plan = check.plan()
    asyncio.run(
        check_job(
            CheckJob(run_id=plan.head.run_id, request=request, sources=request.sources), Settings()
        )
    )
    summary = conclude(check, plan)
    assert summary.published, summary.failed_expectations

    assert print_check(request, summary, as_json=False) == 1
    printed = capsys.readouterr()
    assert "where: page 1" in printed.out
    assert "not checked (encrypted): the PDF needs a password" in printed.out
    assert "text checks without a language model" in printed.err

    print_check(request, summary, as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert [one["manuscript_id"] for one in answer["rows"]] == ["faulty", "locked"]
    assert answer["rows"][0]["problems"][0]["location"].startswith("page 1")

    html, markdown = (path.read_text() for path in summary.report_paths)
    assert "12 of 40" in markdown
    assert "It could not be read: the PDF needs a password" in markdown
    assert "<h2" in html
    assert not Check(request).plan().shards, "a finished check has nothing left to do"
