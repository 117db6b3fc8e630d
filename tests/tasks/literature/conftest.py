import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from schemas.settings import LiteratureSettings, Settings
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.snapshot import Snapshot
from tests.support.paper_files import paper_rows, write_parquet


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    return paper_rows(60)


@pytest.fixture(scope="session")
def snapshot(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> Snapshot:
    """Sixty papers, for reading only."""
    folder = tmp_path_factory.mktemp("snapshot")
    return build_snapshot(write_parquet(folder / "papers.parquet", rows), folder / "index")


@pytest.fixture
def own_snapshot(tmp_path: Path, snapshot: Snapshot) -> Path:
    """The folder of a copy that a test may damage."""
    return Path(shutil.copytree(snapshot.folder, tmp_path / "own"))


@pytest.fixture(scope="session")
def settings_of() -> Callable[..., Settings]:
    """Settings that reach a test server fast: many requests a second, short waits."""

    def make(folder: Path, url: str, **changes: Any) -> Settings:
        values: dict[str, Any] = {
            "requests_per_second": 200.0,
            "timeout_seconds": 60.0,
            "retry_base_seconds": 0.01,
            **changes,
        }
        literature = LiteratureSettings(upstream_url=url, **values)
        return Settings(
            home=folder / "home",
            literature=literature,
            semantic_scholar_api_key=SecretStr("secret-key-of-tests"),
        )

    return make


@pytest.fixture
def settings_for(tmp_path: Path, settings_of: Callable[..., Settings]) -> Callable[..., Settings]:
    """The same for one test."""
    return lambda url, **changes: settings_of(tmp_path, url, **changes)
