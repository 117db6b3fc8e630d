"""The dashboard in `infra/grafana` shows figures that a gateway really has."""

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from schemas.settings import LiteratureSettings, Settings
from tasks.literature.gateway.application import application
from tasks.literature.gateway.upstreams import LiveUpstream
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus, paper_id
from warehouse.stores.keyed_store import KeyedStore

INFRA = Path(__file__).parents[2] / "infra"
_SELECTOR = re.compile(r"(assay_\w+)(?:\{([^}]*)\})?")
_LABEL = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_BY = re.compile(r"\bby \(([^)]*)\)")
OF_THE_SCRAPE = {"job", "instance", "le"}


@pytest.fixture(scope="module")
def exposed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Sample names with their labels, of a real gateway's page after some traffic, a refusal among
    it.
    """
    folder = tmp_path_factory.mktemp("gateway")
    found: dict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(asyncio.run(page_after_traffic(folder))):
        for sample in family.samples:
            found[sample.name] |= set(sample.labels)
    return found


async def page_after_traffic(folder: Path) -> str:
    with SemanticScholarServer(
        corpus(20), fault=lambda number, path: "500" if number == 0 else None
    ) as source:
        literature = LiteratureSettings(
            upstream_url=source.url, requests_per_second=50, maximum_attempts=1
        )
        upstream = LiveUpstream(
            Settings(home=folder, literature=literature), KeyedStore(folder / "kept.sqlite")
        )
        transport = httpx.ASGITransport(app=application(upstream))
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            paths = [f"paper/search?query=graphs {number}" for number in range(4)] + [
                f"paper/{paper_id('1')}?fields=title"
            ]
            await asyncio.gather(*(client.get(f"/graph/v1/{path}") for path in paths * 2))
            text = (await client.get("/metrics")).text
        await upstream.close()
    return text


def dashboards() -> Iterator[tuple[str, str]]:
    for path in sorted((INFRA / "grafana" / "dashboards").glob("*.json")):
        board = json.loads(path.read_text("utf-8"))
        for panel in board["panels"]:
            yield from (
                (f"{path.stem}: {panel['title']}", target["expr"]) for target in panel["targets"]
            )
        yield from (
            (f"{path.stem}: ${each['name']}", each["definition"])
            for each in board["templating"]["list"]
        )


@pytest.mark.parametrize(("panel", "expression"), dashboards())
def test_every_expression_asks_for_figures_and_labels_of_the_gateway(
    panel: str, expression: str, exposed: dict[str, set[str]]
) -> None:
    asked = _SELECTOR.findall(expression)
    assert asked, panel
    labels = set()
    for name, selector in asked:
        assert name in exposed, f"{panel}: no gateway has {name}"
        labels |= exposed[name]
        assert (
            set(_LABEL.findall(re.sub(r'"[^"]*"', "", selector))) <= exposed[name] | OF_THE_SCRAPE
        )
    grouped = {label.strip() for group in _BY.findall(expression) for label in group.split(",")}
    assert grouped <= labels | OF_THE_SCRAPE


def test_every_figure_of_the_gateway_is_shown(exposed: dict[str, set[str]]) -> None:
    shown = {name for _, expression in dashboards() for name, _ in _SELECTOR.findall(expression)}
    unshown = {
        name
        for name in exposed
        if name.startswith("assay_gateway") and not name.endswith(("_created", "_count", "_sum"))
    } - shown
    assert unshown == set()


def test_compose_mounts_what_grafana_and_prometheus_read() -> None:
    services = yaml.safe_load((INFRA / "compose.yaml").read_text("utf-8"))["services"]
    for name in ("prometheus", "grafana"):
        mounted = [
            volume.split(":")[0] for volume in services[name]["volumes"] if volume.startswith("./")
        ]
        assert mounted
        assert all((INFRA / path).exists() for path in mounted)
        assert all(port.startswith("127.0.0.1:") for port in services[name]["ports"])
    gateway, worker = yaml.safe_load((INFRA / "prometheus.yaml").read_text())["scrape_configs"]
    assert gateway["static_configs"] == [{"targets": ["gateway:8765"]}]
    (found,) = worker["dns_sd_configs"]
    assert found["names"] == ["worker"]
    assert services["worker"]["command"].endswith(f"--metrics 0.0.0.0:{found['port']}")
    (source,) = yaml.safe_load(
        (INFRA / "grafana/provisioning/datasources/prometheus.yaml").read_text("utf-8")
    )["datasources"]
    board = json.loads((INFRA / "grafana" / "dashboards" / "gateway.json").read_text("utf-8"))
    assert {panel["datasource"]["uid"] for panel in board["panels"]} == {source["uid"]}
    (provider,) = yaml.safe_load(
        (INFRA / "grafana/provisioning/dashboards/assay.yaml").read_text("utf-8")
    )["providers"]
    assert any(
        volume.startswith("./grafana/dashboards:" + provider["options"]["path"])
        for volume in services["grafana"]["volumes"]
    )
