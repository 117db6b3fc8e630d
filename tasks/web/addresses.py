"""Addresses and identifiers from outside, read so that nothing about them raises later."""

from string import ascii_lowercase, ascii_uppercase

import httpx

URL = httpx.URL
InvalidURL = httpx.InvalidURL
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def web_address(text: str) -> httpx.URL:
    """`text` as an address whose every part can be read.

    Raises:
        httpx.InvalidURL: it is none, be it for its form, its port or its host
        (`http://xn--a.invalid/`).
    """
    try:
        return _readable(httpx.URL(text))
    except (ValueError, TypeError) as error:
        raise httpx.InvalidURL(f"no address ({type(error).__name__})") from error


def redirected(url: httpx.URL, location: str) -> httpx.URL:
    """Where `location`, whole or relative, leads from `url`; raises as `web_address`."""
    try:
        return _readable(url.join(location))
    except (ValueError, TypeError) as error:
        raise httpx.InvalidURL(f"no address ({type(error).__name__})") from error


def shown(url: httpx.URL) -> str:
    """The address without query, fragment and credentials: those may be secrets."""
    port = f":{url.port}" if url.port else ""
    return f"{url.scheme}://{url.raw_host.decode('ascii')}{port}{url.path}"[:300]


def stays_in_place(identifier: str) -> bool:
    """Whether an identifier that may hold slashes can stand in a path: no `.` or `..` between them,
    nothing unprintable.
    """
    steps = identifier.replace("\\", "/").split("/")
    return identifier.isprintable() and not {".", ".."} & set(steps)


def ascii_lower(text: str) -> str:
    """`text` with A–Z in lower case.

    `str.lower` also makes a `k` of the Kelvin sign, and so one name of two.
    """
    return text.translate(_LOWER)


def _readable(url: httpx.URL) -> httpx.URL:
    """httpx decodes a host only when it is asked for it, and raises then."""
    _ = url.host, url.netloc, url.path, url.raw_path
    return url
