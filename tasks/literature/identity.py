"""Which literature a gateway stands for."""

import httpx

from schemas.errors import ConfigurationError

_TIMEOUT_SECONDS = 10.0


def literature_identity(url: str) -> str:
    """`snapshot:<fingerprint>` or `live:<host and path>`, as the gateway at `url` says; part of every evaluation key.

    Raises:
        ConfigurationError: nothing answers there, something else does, or it does not know this name of its own.
    """
    try:
        response = httpx.get(f"{url.rstrip('/')}/healthz", timeout=_TIMEOUT_SECONDS, trust_env=False)
        identity = response.json().get("literature") if response.status_code == 200 else None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ConfigurationError(
            f"no literature gateway answers at {url} ({type(error).__name__}); start one with: assay literature serve"
        ) from error
    except (ValueError, AttributeError):
        identity = None
    if response.status_code == httpx.codes.BAD_REQUEST:
        raise ConfigurationError(
            f"the gateway at {url} does not answer to {response.request.url.host}: name it there in "
            f"ASSAY_LITERATURE__ALLOWED_HOSTS='[\"{response.request.url.host}\"]'"
        )
    if not isinstance(identity, str) or not identity:
        raise ConfigurationError(f"what answers at {url} is no literature gateway; start one with: assay literature serve")
    return identity
