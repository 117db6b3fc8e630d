"""Proxies and certificates that all libraries of a process share."""

import os
import ssl
from pathlib import Path
from urllib.request import proxy_bypass

import httpx
import pytest

from flows.run.network import bypass_proxies, share_certificates
from schemas.errors import ConfigurationError
from tasks.web.client import open_client, proxy_of

PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
BUNDLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE")


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    # Set first, so that what the functions under test write is undone as well.
    for name in (*PROXY_VARIABLES, *map(str.lower, PROXY_VARIABLES), *BUNDLES):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.parametrize("excluded", ["", "example.org", "example.org, 127.0.0.1"])
def test_no_library_sends_requests_for_loopback_to_a_proxy(
    monkeypatch: pytest.MonkeyPatch, excluded: str
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", excluded)
    bypass_proxies("http://gateway.example:8080/", None)
    for host in ("127.0.0.1", "localhost", "::1", "gateway.example"):
        assert proxy_bypass(host)
    assert bool(proxy_bypass("example.org")) == bool(excluded)
    assert not proxy_bypass("api.semanticscholar.org")
    with httpx.Client() as client:
        loopback = client._transport_for_url(httpx.URL("http://127.0.0.1:4200/api"))
        assert loopback is client._transport


@pytest.mark.parametrize("name", ["ALL_PROXY", "https_proxy"])
def test_a_socks_proxy_that_requests_would_use_is_refused_without_its_password(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "socks5h://ada:a%20password@127.0.0.1:9")
    with pytest.raises(ConfigurationError, match=f"{name.upper()} names a socks5h proxy") as raised:
        bypass_proxies()
    assert "password" not in str(raised.value)
    with pytest.raises(ConfigurationError, match="SOCKS is not supported"):
        open_client(1.0)


def test_a_socks_proxy_that_no_request_uses_disturbs_no_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1:9")  # a form that curl and httpx take
    bypass_proxies()
    httpx.Client().close()
    assert proxy_of(httpx.URL("https://api.openalex.org")) == "http://127.0.0.1:9"


def test_without_a_proxy_the_environment_stays_as_it_is() -> None:
    bypass_proxies("http://gateway.example:8080/")
    assert "NO_PROXY" not in os.environ
    assert "no_proxy" not in os.environ


def test_the_bundle_that_one_variable_names_is_trusted_by_every_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bundle = tmp_path / "organization.pem"
    bundle.write_text("a certificate")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(bundle))
    share_certificates()
    assert {os.environ[name] for name in BUNDLES if name != "SSL_CERT_DIR"} == {str(bundle)}


def test_without_a_named_bundle_the_systems_store_is_trusted() -> None:
    share_certificates()
    assert os.environ.get("SSL_CERT_FILE") == ssl.get_default_verify_paths().cafile


def test_a_bundle_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/bundle.pem")
    with pytest.raises(ConfigurationError, match="SSL_CERT_FILE: there is no file /nowhere"):
        share_certificates()
