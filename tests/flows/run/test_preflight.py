"""What is checked before anything is paid for."""

import socket
import sqlite3
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from distributed import LocalCluster
from pydantic import SecretStr

from flows.profiles import load_profile
from flows.run import cluster_access, dask_scheduler, preflight
from flows.run.preflight import check_before, examine
from flows.run.requests import request_of
from flows.works.evaluate.request import bundled_file
from schemas.errors import ConfigurationError
from schemas.judgement.run_request import RunRequest
from schemas.options.commands import RunOptions
from schemas.settings import LiteratureSettings, Settings
from tasks.evaluation.work import EVALUATE
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus
from warehouse.source_states import RECORD_NAME
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Address of a Dask scheduler with a worker."""
    yield from cluster_of(1)


@pytest.fixture
def deserted() -> Iterator[str]:
    """Address of a Dask scheduler without workers."""
    yield from cluster_of(0)


def cluster_of(workers: int) -> Iterator[str]:
    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        yield str(cluster.scheduler_address)


def request_for(tmp_path: Path, scheduler: str, literature: str | None = None) -> RunRequest:
    options = RunOptions(warehouse=tmp_path, scheduler=scheduler, literature=literature)
    return request_of(EVALUATE, (bundled_file("ideas.jsonl"),), options, Settings())


@pytest.mark.parametrize("address", ["tcp://", "host", "tcp://host:port", "tcp://host:99999999"])
def test_a_scheduler_that_is_no_address_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="tcp://host:8786"):
        check_before(EVALUATE, request_for(tmp_path, address), Settings())


def test_a_scheduler_on_this_machine_needs_nothing_more(scheduler: str, tmp_path: Path) -> None:
    check_before(EVALUATE, request_for(tmp_path, scheduler), Settings())
    assert list(tmp_path.iterdir()) == []


def test_a_scheduler_without_workers_is_named_before_anything_waits_for_one(
    deserted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_scheduler, "_LOOK_SECONDS", 0.01)
    with pytest.raises(ConfigurationError, match=f"{deserted} has no workers: start one"):
        check_before(EVALUATE, request_for(tmp_path, deserted), Settings())


def test_what_takes_connections_and_is_no_scheduler_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "CONNECT_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(
            ConfigurationError, match="is no Dask scheduler that takes this connection"
        ):
            check_before(EVALUATE, request_for(tmp_path, address), Settings())


def test_workers_elsewhere_need_a_prefect_server_that_they_can_reach(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_access, "LOOPBACK_HOSTS", ())
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with pytest.raises(ConfigurationError, match="prefect server start"):
        check_before(EVALUATE, request_for(tmp_path, scheduler), Settings())
    monkeypatch.setenv("PREFECT_API_URL", "http://prefect:4200/api")
    check_before(EVALUATE, request_for(tmp_path, scheduler), Settings())


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (None, "was moved to PostgreSQL: export ASSAY_CATALOGUE_URL"),
        ("postgresql://127.0.0.1:1/lake", "cannot be opened (ASSAY_CATALOGUE_URL)"),
    ],
)
def test_the_doctor_blames_the_catalogue_alone_where_it_is_not_found(
    url: str | None, told: str, tmp_path: Path
) -> None:
    warehouse = Warehouse(tmp_path)
    warehouse.lake.mkdir()
    warehouse.moved_catalogue.touch()
    settings = Settings(catalogue_url=SecretStr(url)) if url else Settings()
    found = examine(tmp_path, "extractive", None, load_profile("economy"), settings)
    (catalogue,) = (each for each in found if each.part == "catalogue")
    assert catalogue.state == "broken"
    assert told in catalogue.detail
    assert "ASSAY_CATALOGUE_URL" in catalogue.remedy
    assert "object storage" not in {each.part for each in found}


@pytest.mark.parametrize(
    ("status", "content", "cause"),
    [
        (403, b'{"message": "Forbidden"}', r"the key was refused \(403\)"),
        (200, b"<!DOCTYPE html><p>Please sign in", "a web page instead of data"),
        (429, b'{"message": "Too Many Requests"}', None),
        (503, b"<html>Service Unavailable</html>", None),
        (200, b'{"total": 0, "data": []}', None),
    ],
)
def test_the_live_literature_is_asked_once_before_anything_is_paid(
    tmp_path: Path, status: int, content: bytes, cause: str | None
) -> None:
    with SemanticScholarServer(corpus(5)) as server:
        server._answer = lambda *_: (status, content)  # type: ignore[method-assign]
        settings = Settings(
            home=tmp_path / "home",
            literature=LiteratureSettings(upstream_url=server.url),
            semantic_scholar_api_key=SecretStr("secret-key-of-tests"),
        )
        options = RunOptions.model_validate(
            {"warehouse": str(tmp_path / "w"), "literature": "live"}
        )
        request = request_of(EVALUATE, (bundled_file("ideas.jsonl"),), options, settings)
        with pytest.raises(ConfigurationError, match=cause) if cause else nullcontext():
            check_before(EVALUATE, request, settings)
        assert (len(server.arrivals), server.keys) == (1, {"secret-key-of-tests"})
    (record,) = (tmp_path / "w").rglob(RECORD_NAME)
    with sqlite3.connect(record) as connection:
        assert list(connection.execute("select count(*) from requests")) == [(1,)]


@pytest.mark.parametrize("mark", ["", "/", "#", "?", "@", "["])
def test_doctor_shows_no_password_of_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    address = f"http://ada:s3{mark}cret@127.0.0.1:9"
    monkeypatch.setenv("http_proxy", address)
    monkeypatch.setenv("https_proxy", address)
    settings = Settings(grobid_url=address, prefect_api_url=f"{address}/api")
    statuses = examine(tmp_path / "w", "extractive", None, load_profile("economy"), settings)
    shown = " ".join(f"{each.detail} {each.remedy}" for each in statuses)
    assert "127.0.0.1:9" in shown or "percent-encode" in shown
    assert [word for word in ("s3", "cret") if word in shown] == []


def test_doctor_names_a_proxy_that_cannot_fetch_full_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://user:word@proxy.lab:3128")
    upstream = LiteratureSettings(upstream_url="https://literature.example")
    settings = Settings(literature=upstream)
    profile = load_profile("economy")
    statuses = examine(tmp_path / "lake", "extractive", None, profile, settings)
    (proxy,) = [each for each in statuses if each.part == "proxy"]
    assert proxy.state == "missing"
    assert proxy.detail.startswith("proxy.lab:3128; full texts cannot be fetched: literature.ex")
    assert proxy.remedy == "export ASSAY_DOCUMENTS__RESOLVE_NAMES_AT_PROXY=true"
