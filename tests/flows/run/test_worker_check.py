"""Whether a worker can do the work: said in one line that tells how to mend it."""

import asyncio
import re
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flows.run.worker_check import (
    Admission,
    WorkerNeeds,
    admission_refusal,
    code_hash,
    fingerprint,
    python_version,
    refusal_of,
    shared_settings,
)
from schemas.base import replace
from schemas.settings import EmbeddingSettings, Settings
from tests.support.object_server import BUCKET, ObjectServer, object_server
from tests.support.postgres_server import PostgresServer, needs_postgres
from warehouse.objects.object_storage import forget_client
from warehouse.shared_database import SharedDatabase
from warehouse.stores.budget_file import this_machine

Needs = Callable[..., WorkerNeeds]


@pytest.fixture
def needs(tmp_path: Path) -> Needs:
    """What a command of this machine needs whose warehouse is a folder."""
    shard = tmp_path / "warehouse" / "state" / "shard-00000.json"
    shard.parent.mkdir(parents=True)
    shard.touch()
    alike = WorkerNeeds(
        assay_version=metadata.version("assay"),
        python_version=python_version(),
        code=code_hash(),
        settings=shared_settings(Settings()),
        warehouse=str(tmp_path / "warehouse"),
        shard_file=shard,
        machine=this_machine(),
        embeds=False,
    )
    return lambda **changes: replace(alike, **changes)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ObjectServer]:
    with object_server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
        forget_client()
        yield server
        forget_client()


def test_a_worker_without_the_key_is_told_where_to_export_it(
    needs: Needs, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = needs(variables=("OPENAI_API_KEY",))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told = "it has no OPENAI_API_KEY: export it where the worker starts"
    assert refusal_of(asked, Settings()) == told
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    assert refusal_of(asked, Settings()) is None


def test_a_worker_with_another_setting_is_told_both_values(needs: Needs) -> None:
    otherwise = Settings(embeddings=EmbeddingSettings(maximum_tokens=64))
    told = refusal_of(needs(), otherwise)
    values = "is 64 on the worker and 128 at the command"
    assert told == f"ASSAY_EMBEDDINGS__MAXIMUM_TOKENS {values}: set it alike"


async def test_a_check_that_fails_refuses_its_worker_and_lets_the_command_go_on(
    needs: Needs, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def embed(self: object, texts: object) -> None:
        raise RuntimeError("no kernel image\nis available")

    monkeypatch.setattr("tasks.embeddings.sentence_embedder.SentenceEmbedder.embed", embed)
    admission = Admission(needs(embeds=True), "runs/run-1", "assay-1")
    worker: Any = SimpleNamespace(plugins={admission.name: admission}, periodic_callbacks={})
    await admission.setup(worker)
    told = await asyncio.wait_for(admission_refusal(admission.name, worker), 60)
    assert told == "its check failed: RuntimeError: no kernel image is available"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"assay_version": "9.9"}, "it has Assay .*: install 9.9, as the command has it"),
        (
            {"code": "another"},
            "its tables, steps or prompts are others: install the very same Assay",
        ),
        (
            {"shard_file": Path("not here")},
            "it does not see /.*/warehouse: mount that folder there at .*",
        ),
        (
            {"machine": "another"},
            ".* is kept in PostgreSQL alone: export ASSAY_CATALOGUE_URL on both",
        ),
    ],
)
def test_a_worker_that_differs_from_the_command_is_told_the_remedy(
    needs: Needs, changes: dict[str, Any], told: str
) -> None:
    assert re.fullmatch(told, refusal_of(needs(**changes), Settings()) or "")


@needs_postgres
def test_a_worker_of_another_catalogue_is_refused_before_it_spends(
    needs: Needs, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [postgres.new_database(f"check-{number}") for number in (1, 2)]
    asked = needs(database=SharedDatabase(urls[0]).identity, machine="another")
    told = "its ASSAY_CATALOGUE_URL does not lead to the command's database"
    assert (refusal_of(asked, Settings()) or "").startswith(told)
    monkeypatch.setenv("ASSAY_CATALOGUE_URL", urls[1])
    assert (refusal_of(asked, Settings()) or "").startswith(told)
    monkeypatch.setenv("ASSAY_CATALOGUE_URL", urls[0])
    assert refusal_of(asked, Settings()) is None


def test_a_worker_that_cannot_use_the_bucket_is_told_what_it_lacks(
    needs: Needs, bucket: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = needs(warehouse=f"s3://{BUCKET}/assay", shard_file=tmp_path / "not here")
    assert refusal_of(asked, Settings()) is None
    batched = refusal_of(replace(asked, shares_folder=True), Settings()) or ""
    assert batched.endswith("mount that folder there, or leave out --batch")
    bucket.may_write = False
    assert "these credentials may not do this" in (refusal_of(asked, Settings()) or "")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    forget_client()
    assert "s3://lab/assay" in (refusal_of(asked, Settings()) or "")
    monkeypatch.setitem(sys.modules, "boto3", None)
    forget_client()
    assert "pip install 'assay[objects]'" in (refusal_of(asked, Settings()) or "")


def test_a_file_that_the_command_names_has_to_be_the_same_there(
    needs: Needs, tmp_path: Path
) -> None:
    paper = tmp_path / "paper"
    (paper / "parts").mkdir(parents=True)
    (paper / "parts" / "main.tex").write_text("one")
    expected = fingerprint(paper)
    assert expected is not None
    asked = needs(files={paper: expected})
    assert refusal_of(asked, Settings()) is None
    (paper / "parts" / "main.tex").write_text("two")
    told = f"{paper} differs from the command's: copy it there from the command's machine"
    assert (refusal_of(asked, Settings()) or "").startswith(told)
    paper.rename(tmp_path / "moved")
    assert (refusal_of(asked, Settings()) or "").startswith(f"{paper} is missing: copy it there")
