"""Secrets of the settings are read without white space and never shown, or refused by name before any
request.
"""

import pytest
from pydantic import ValidationError

from schemas.errors import ConfigurationError
from schemas.settings import Settings
from tasks.judging.model_keys import check_keys

SECRET = "canary-4f9a17c2e8d05b"


@pytest.mark.parametrize("value", [f"{SECRET}\n", f"\t {SECRET}\r\n", SECRET])
@pytest.mark.parametrize("name", ["S2_API_KEY", "OPENALEX_API_KEY", "ASSAY_DASHBOARD__PASSWORD"])
def test_white_space_around_secrets_is_left_out_and_they_do_not_show(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    settings = Settings()
    read = (
        settings.semantic_scholar_api_key,
        settings.openalex_api_key,
        settings.dashboard.password,
    )
    assert SECRET in [secret.get_secret_value() for secret in read if secret is not None]
    assert SECRET not in f"{settings!r} {settings.model_dump_json()}"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (f'"{SECRET}"', "begins with a quotation mark: remove it"),
        (f"“{SECRET}", "begins with a quotation mark: remove it"),
        (f"{SECRET}\n{SECRET}", "holds a line end or an invisible character"),
        (f"{SECRET}\u200b", "holds a line end or an invisible character"),
        (f"{SECRET[:9]}…{SECRET[9:]}", "holds a letter that no key has"),
    ],
)
@pytest.mark.parametrize("name", ["SERPER_API_KEY", "GITHUB_TOKEN", "ASSAY_CATALOGUE_URL"])
def test_what_cannot_be_sent_is_refused_by_name_and_not_shown(
    name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    if name == "ASSAY_CATALOGUE_URL" and "letter" in said:
        assert Settings().catalogue == value  # a password may hold any letter
        return
    with pytest.raises(ValidationError) as refused:
        Settings()
    assert said in str(refused.value)
    assert "canary" not in str(refused.value)
    (error,) = refused.value.errors()
    assert error["loc"][0] in (name, "catalogue_url")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/jörg/creds.json"),
        ("VERTEXAI_CREDENTIALS", '{\n  "type": "service_account"\n}'),
    ],
)
def test_credentials_may_be_a_path_or_json_of_several_lines(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    check_keys("vertex_ai/gemini-2.5-flash")


def test_a_key_of_a_model_that_cannot_be_sent_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", f"{SECRET}…")
    with pytest.raises(ConfigurationError, match=r"^GEMINI_API_KEY holds a letter") as refused:
        check_keys("gemini/gemini-2.5-flash")
    assert SECRET not in str(refused.value)
