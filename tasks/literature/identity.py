"""Which literature a gateway stands for."""

import orjson

from schemas.errors import ConfigurationError
from tasks.web.addresses import web_address
from tasks.web.exchange import NoAnswerError, probe

_TIMEOUT_SECONDS = 10.0


def literature_identity(url: str) -> str:
    """`snapshot:<fingerprint>` or `live:<host and path>`, as the gateway at `url` says; part of
    every evaluation key.

    Raises:
        ConfigurationError: nothing answers there, something else does, or it does not know this
            name of its own.
    """
    try:
        answer = probe(f"{url.rstrip('/')}/healthz", _TIMEOUT_SECONDS, use_proxies=False)
    except NoAnswerError as error:
        why = f"no literature gateway answers at {url}: {error}"
        raise ConfigurationError(f"{why}; start one with: assay literature serve") from error
    if answer.status == 400:
        host = web_address(url).host
        mend = f"name it there in ASSAY_LITERATURE__ALLOWED_HOSTS='[\"{host}\"]'"
        raise ConfigurationError(f"the gateway at {url} does not answer to {host}: {mend}")
    try:
        identity = orjson.loads(answer.content).get("literature") if answer.status == 200 else None
    except (orjson.JSONDecodeError, AttributeError):
        identity = None
    if not isinstance(identity, str) or not identity:
        raise ConfigurationError(
            f"what answers at {url} is no literature gateway; start one with: assay literature"
            " serve"
        )
    return identity
