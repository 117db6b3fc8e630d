"""Known secrets enter neither rows nor receipts nor caches; texts of others lose nothing else."""

import json
from base64 import b64encode, encodebytes, urlsafe_b64encode
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest

from schemas.errors import ConfigurationError
from schemas.tables import TABLE
from warehouse.parquet import read_rows, write_bytes, write_rows
from warehouse.scrubbing import check_address, known_secrets, mask_secrets
from warehouse.stores.keyed_store import KeyedStore

KEY = "k3y+of/tests-91x"


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PROVIDER_API_KEY_2", KEY)
    monkeypatch.setenv("PROXY_OF_TESTS", "http://reader:pr0xy-password@proxy:3128")
    monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__TOKENS_PER_MINUTE", "12345678")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "disabled-1")
    monkeypatch.setenv("ASSAY_DASHBOARD__PASSWORD", "evaluation")
    monkeypatch.setenv("SHORT_TOKEN", "abc1")
    monkeypatch.setenv("NUMERIC_SECRET", "2024010112")


def test_secrets_are_known_by_the_names_of_their_variables() -> None:
    found = known_secrets()
    assert {KEY, quote(KEY, safe=""), "pr0xy-password"} <= set(found)
    assert not {"12345678", "disabled-1", "evaluation", "Evaluation", "abc1", "2024010112"} & set(
        found
    )
    assert list(found) == sorted(found, key=lambda secret: (-len(secret), secret))


def test_texts_lose_known_secrets_and_nothing_else() -> None:
    review = (
        "Key-performance indicators, sk-learn pipelines, Bearer tokens and hf-transfer: evaluation"
        " in 2024010112."
    )
    assert mask_secrets(review) == review
    assert mask_secrets(f"a {KEY} b {quote(KEY, safe='')}") == "a *** b ***"
    assert mask_secrets([KEY, {"x": (KEY, 1, None, 2.5, b"raw " + KEY.encode())}]) == [
        "***",
        {"x": ("***", 1, None, 2.5, b"raw ***")},
    ]


@pytest.mark.parametrize("user", ["", "u", "us", "use"])
@pytest.mark.parametrize("around", ["{}", "{}\t", " {}\r\n", '"{}"'])
def test_a_secret_is_hidden_in_the_forms_in_which_servers_repeat_it(
    user: str, around: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = 'c4nary"ü+/ -91x\\end'
    monkeypatch.setenv("OTHER_API_KEY", around.format(secret))
    named = f"{user}:{secret}".encode()
    texts = [
        secret,
        quote(secret),
        quote(secret, safe=""),
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        secret.replace("/", "\\/"),
        b64encode(named).decode(),
        b64encode(named + b"@host").decode(),
        urlsafe_b64encode(named).decode(),
    ]
    for text in texts:
        hidden = mask_secrets(f"Basic {text} ")
        assert "***" in hidden
        assert len(hidden) < 28
    assert (
        mask_secrets(b64encode(b"something else").decode()) == b64encode(b"something else").decode()
    )


@pytest.mark.parametrize(
    "text",
    [
        "c4nary%2bkey%2f91x%3d%26end",
        "c4nary%2bkey/91x%3d%26end",
        r"c4nary\u002Bkey/91x=\u0026end",
        r"c4nary\u002bkey\/91x=\u0026end",
        r"c4nary\u002Bkey\u002F91x\u003D\u0026end",
        r"c4nary+key/91x\u003d\u0026end",
        escape("c4nary+key/91x=&end"),
        "c4nary&#43;key/91x=&amp;end",
        "c4nary&#x2B;key&#x2F;91x&#x3D;&amp;end",
        "c4nary&#x2b;key/91x=&#x26;end",
    ],
)
def test_a_secret_is_hidden_however_its_punctuation_is_escaped(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "c4nary+key/91x=&end")
    assert mask_secrets(f"<{text}>") == "<***>"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", r"\n", r"\r\n"])
@pytest.mark.parametrize("length", [58, 60, 164, 300])
def test_a_long_secret_in_lines_of_base64_is_hidden(
    length: int, line_end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "".join(f"{number:03}k" for number in range(100))[:length]
    monkeypatch.setenv("OTHER_API_KEY", secret)
    hidden = mask_secrets(encodebytes(secret.encode()).decode().replace("\n", line_end))
    assert hidden.startswith("***")
    assert len(hidden) <= len("***") + len("w==") + len(line_end)


def test_rows_receipts_and_kept_answers_hold_no_known_secret(tmp_path: Path) -> None:
    table = TABLE["failures"]
    row = dict.fromkeys(table.column_names) | {
        "run_id": "run",
        "idea_id": "idea",
        "position": 0,
        "recorded_by": "read_ideas",
        "stage": "stage",
        "subject": f"http://host/?key={KEY}",
        "reason": "forbidden",
        "detail": f"the server said {KEY}",
        "retryable": False,
    }
    write_rows(table, [row], tmp_path / "failures.parquet")
    (kept,) = read_rows(TABLE["failures"], tmp_path / "failures.parquet")
    assert (kept["subject"], kept["detail"]) == ("http://host/?key=***", "the server said ***")
    write_bytes(tmp_path / "receipt.json", f'{{"detail": "{KEY}"}}'.encode())
    assert (tmp_path / "receipt.json").read_bytes() == b'{"detail": "***"}'
    with KeyedStore(tmp_path / "cache.sqlite") as store:
        store.put_many({"a": f'{{"review": "{KEY}"}}'.encode(), "b": b"\x00\xff binary"})
        assert store.get_many(["a", "b"]) == {"a": b'{"review": "***"}', "b": b"\x00\xff binary"}


@pytest.mark.parametrize(
    "address",
    [
        "http://user:pw@host/v1",
        "http://user@host",
        "http://host/v1?x=1",
        "http://host/#x",
        f"http://host/{KEY}",
        "http://[::1?a=b",
    ],
)
def test_an_address_that_carries_a_secret_is_refused_without_showing_it(address: str) -> None:
    if "[" in address:
        check_address("--api-base", address, "remedy")  # no address at all: others say so
        return
    with pytest.raises(
        ConfigurationError, match=r"^--api-base http://.*: leave out user.*; remedy$"
    ) as caught:
        check_address("--api-base", address, "remedy")
    assert not any(secret in str(caught.value) for secret in ("pw", "x=1", KEY, "user@", "\n"))


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8000/v1",
        "https://router.example.org/hf-inference/v1",
        "http://[::1]:80/v1",
    ],
)
def test_an_address_without_secrets_is_taken(address: str) -> None:
    check_address("--api-base", address, "remedy")
