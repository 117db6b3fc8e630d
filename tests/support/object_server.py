"""Object storage as S3 speaks it, on loopback: every request is held against its signature, and a
script says which of them goes wrong, and how.
"""

import hashlib
import hmac
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from tests.support.loopback import Loopback, QuietHandler, serving

BUCKET = "lab"
REGION = "eu-central-1"
KEY_ID = "AKIAASSAYTESTS"
SECRET = "not+a/real-secret-of-tests"
_LARGEST_SKEW = timedelta(minutes=15)
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
    r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})"
)
_PAYLOAD_UNSIGNED = "UNSIGNED-PAYLOAD"
_ROWS_OF_A_LISTING = 1000


@dataclass(frozen=True)
class Asked:
    """A request; `query` without values where it has none, as in `?uploads`."""

    method: str
    key: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def operation(self) -> str:
        """What S3 calls it."""
        if self.method in ("GET", "HEAD"):
            listed = self.method == "GET" and not self.key
            return "list" if listed else self.method.lower()
        if self.method == "POST":
            if "delete" in self.query:
                return "delete_many"
            return "begin" if "uploads" in self.query else "complete"
        if self.method == "PUT":
            return "part" if "uploadId" in self.query else "put"
        return "abort" if "uploadId" in self.query else "delete"


@dataclass(frozen=True)
class Fault:
    """What goes wrong with requests of one kind.

    Attributes:
        operation: of `Asked`; empty: any.
        how: `slow_down` (503) · `late` (done, but the answer never comes) · `partial` (the server
            loses the connection in the middle of the body) · `hangs` (nothing is done, and no
            answer comes) · `half` (of an answer's body).
        times: how often; None: until it is taken away.
        in_key: a part of the object's name.
    """

    how: str
    operation: str = ""
    times: int | None = 1
    in_key: str = ""


@dataclass
class ObjectServer(Loopback):
    """A running server with one bucket.

    Attributes:
        clock_is_ahead: of its clock; more than fifteen minutes and no signature is taken.
        session_token: that must come with each request; None: none.
        unlisted: what is there although no listing names it.
        knows_conditions: whether a write under a condition is one.
    """

    objects: dict[str, bytes] = field(default_factory=dict)
    written_at: dict[str, datetime] = field(default_factory=dict)
    uploads: dict[str, tuple[str, dict[int, bytes]]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    clock_is_ahead: timedelta = timedelta(0)
    session_token: str | None = None
    expired: bool = False
    may_write: bool = True
    knows_conditions: bool = True
    unlisted: Callable[[str], bool] = field(default=lambda key: False)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def environment(self) -> dict[str, str]:
        """What names this server and its credentials to any tool of AWS."""
        token = {"AWS_SESSION_TOKEN": self.session_token} if self.session_token else {}
        return token | {
            "AWS_ENDPOINT_URL_S3": self.url,
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": "/nonexistent",
            "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        }

    def operations(self, *names: str) -> list[Asked]:
        """Requests so far of these kinds."""
        return [each for each in self.asked if each.operation in names]

    def put(self, key: str, content: bytes) -> str:
        """Keep an object; its tag."""
        self.objects[key] = content
        self.written_at[key] = self.now
        return etag(content)

    @property
    def now(self) -> datetime:
        return datetime.now(UTC) + self.clock_is_ahead

    def fault_of(self, asked: Asked) -> str | None:
        """How this request goes wrong; None: it does not."""
        with self.lock:
            for number, fault in enumerate(self.faults):
                if fault.operation in ("", asked.operation) and fault.in_key in asked.key:
                    if fault.times is not None:
                        left = fault.times - 1
                        self.faults[number : number + 1] = (
                            [Fault(fault.how, fault.operation, left, fault.in_key)] if left else []
                        )
                    return fault.how
        return None


def etag(content: bytes) -> str:
    return f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'


def object_server() -> AbstractContextManager[ObjectServer]:
    """Run a server on a free port for the length of the block."""
    return serving(ObjectServer, _Handler)


@dataclass(frozen=True)
class _Answer:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def _error(status: int, code: str, message: str = "") -> _Answer:
    told = f"<Error><Code>{code}</Code><Message>{escape(message or code)}</Message></Error>"
    return _Answer(status, told.encode(), {"Content-Type": "application/xml"})


def _xml(root: str, *inner: str) -> _Answer:
    told = f'<?xml version="1.0" encoding="UTF-8"?><{root}>{"".join(inner)}</{root}>'
    return _Answer(200, told.encode(), {"Content-Type": "application/xml"})


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        server: ObjectServer = self.told
        parts = urlsplit(self.path)
        bucket, _, key = unquote(parts.path).lstrip("/").partition("/")
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        asked = Asked(self.command, key, query, headers)
        how = server.fault_of(asked)
        length = int(headers.get("content-length", 0))
        if how == "partial":
            self.rfile.read(length // 2)
            server.asked.append(asked)
            self.close_connection = True
            return
        asked = Asked(self.command, key, query, headers, self.rfile.read(length))
        server.asked.append(asked)
        if how == "hangs":
            self._never(server)
            return
        answer = _refusal(server, asked, parts.path, parts.query) or (
            _error(503, "SlowDown", "Please reduce your request rate.")
            if how == "slow_down"
            else _error(404, "NoSuchBucket")
            if bucket != BUCKET
            else _done(server, asked)
        )
        if how == "late":
            self._never(server)
        else:
            self._send(server, answer, half=how == "half")

    def _never(self, server: ObjectServer) -> None:
        server.closing.wait(10)
        self.close_connection = True

    def _send(self, server: ObjectServer, answer: _Answer, *, half: bool) -> None:
        self.send_response_only(answer.status)
        length = {"Content-Length": str(len(answer.body))}
        date = {"Date": format_datetime(server.now, usegmt=True)}
        for name, value in {**date, **length, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if half:
            self.wfile.write(answer.body[: len(answer.body) // 2])
            self.close_connection = True
        elif self.command != "HEAD":
            self.wfile.write(answer.body)


def _refusal(server: ObjectServer, asked: Asked, path: str, query: str) -> _Answer | None:
    """Who asks is somebody else, too late, or may not."""
    found = _AUTHORIZATION.fullmatch(asked.headers.get("authorization", ""))
    if found is None or found[1] != KEY_ID or found[3] != REGION:
        return _error(403, "InvalidAccessKeyId", "The key is not known here.")
    at = asked.headers.get("x-amz-date", "")
    body_hash = asked.headers.get("x-amz-content-sha256", "")
    if abs(datetime.strptime(at, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) - server.now) > (
        _LARGEST_SKEW
    ):
        return _error(403, "RequestTimeTooSkewed", "The difference between the clocks is too large")
    if server.expired:
        return _error(400, "ExpiredToken", "The provided token has expired.")
    if asked.headers.get("x-amz-security-token") != server.session_token:
        return _error(403, "InvalidToken", "The provided token is malformed.")
    names = found[4].split(";")
    pairs = sorted(parse_qsl(query, keep_blank_values=True))
    canonical = "\n".join(
        (
            asked.method,
            path,
            "&".join(f"{quote(name, safe='-_.~')}={quote(v, safe='-_.~')}" for name, v in pairs),
            *(f"{name}:{' '.join(asked.headers.get(name, '').split())}" for name in names),
            "",
            found[4],
            body_hash,
        )
    )
    scope = f"{found[2]}/{REGION}/s3/aws4_request"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for word in (found[2], REGION, "s3", "aws4_request"):
        key = hmac.digest(key, word.encode(), "sha256")
    to_sign = f"AWS4-HMAC-SHA256\n{at}\n{scope}\n{hashed}".encode()
    if hmac.digest(key, to_sign, "sha256").hex() != found[5]:
        return _error(403, "SignatureDoesNotMatch", "The signature does not match the request.")
    if body_hash != _PAYLOAD_UNSIGNED and body_hash != hashlib.sha256(asked.body).hexdigest():
        return _error(400, "XAmzContentSHA256Mismatch", "The body is not what was signed.")
    if not server.may_write and asked.method not in ("GET", "HEAD"):
        return _error(403, "AccessDenied", "Access Denied")
    return None


def _done(server: ObjectServer, asked: Asked) -> _Answer:
    with server.lock:
        return _OPERATIONS[asked.operation](server, asked)


def _get(server: ObjectServer, asked: Asked) -> _Answer:
    content = server.objects.get(asked.key)
    if content is None:
        return _error(404, "NoSuchKey", "The specified key does not exist.")
    told = {
        "ETag": etag(content),
        "Last-Modified": format_datetime(server.written_at[asked.key], usegmt=True),
        "Accept-Ranges": "bytes",
    }
    if asked.method == "HEAD":
        return _Answer(200, b"", told | {"Content-Length": str(len(content))})
    wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", asked.headers.get("range", ""))
    if wanted is None:
        return _Answer(200, content, told)
    if wanted[1]:
        first, last = int(wanted[1]), min(int(wanted[2] or len(content)), len(content) - 1)
    else:
        first, last = max(len(content) - int(wanted[2]), 0), len(content) - 1
    if first >= len(content):
        return _error(416, "InvalidRange")
    told["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    return _Answer(206, content[first : last + 1], told)


def _put(server: ObjectServer, asked: Asked) -> _Answer:
    there, held = server.objects.get(asked.key), asked.headers.get("if-match")
    unmet = asked.headers.get("if-none-match") == "*" and there is not None
    unmet = unmet or (held is not None and there is not None and etag(there) != held)
    if held is not None and there is None and server.knows_conditions:
        return _error(404, "NoSuchKey", "The specified key does not exist.")
    if unmet and server.knows_conditions:
        return _error(412, "PreconditionFailed", "At least one of the conditions did not hold.")
    return _Answer(200, b"", {"ETag": server.put(asked.key, asked.body)})


def _list(server: ObjectServer, asked: Asked) -> _Answer:
    prefix, start = asked.query.get("prefix", ""), asked.query.get("continuation-token", "")
    delimiter = asked.query.get("delimiter", "")
    rows: dict[str, str] = {}
    for key in sorted(server.objects):
        if not key.startswith(prefix) or server.unlisted(key):
            continue
        rest = key[len(prefix) :]
        if delimiter and delimiter in rest:
            folder = prefix + rest.partition(delimiter)[0] + delimiter
            told = f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>"
            rows[folder] = told
        else:
            content, at = server.objects[key], server.written_at[key]
            rows[key] = (
                f"<Contents><Key>{escape(key)}</Key><Size>{len(content)}</Size><ETag>"
                f"{escape(etag(content))}</ETag><LastModified>{at:%Y-%m-%dT%H:%M:%S}.000Z"
                "</LastModified><StorageClass>STANDARD</StorageClass></Contents>"
            )
    names = [name for name in rows if name > start]
    page, more = names[:_ROWS_OF_A_LISTING], len(names) > _ROWS_OF_A_LISTING
    following = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more else ""
    return _xml(
        "ListBucketResult",
        f"<Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount>",
        f"<IsTruncated>{str(more).lower()}</IsTruncated>{following}",
        *(rows[name] for name in page),
    )


def _begin_upload(server: ObjectServer, asked: Asked) -> _Answer:
    upload = f"upload-{len(server.asked)}"
    server.uploads[upload] = (asked.key, {})
    told = f"<Bucket>{BUCKET}</Bucket><Key>{escape(asked.key)}</Key><UploadId>{upload}</UploadId>"
    return _xml("InitiateMultipartUploadResult", told)


def _take_part(server: ObjectServer, asked: Asked) -> _Answer:
    upload = server.uploads.get(asked.query["uploadId"])
    if upload is None:
        return _error(404, "NoSuchUpload")
    upload[1][int(asked.query["partNumber"])] = asked.body
    return _Answer(200, b"", {"ETag": etag(asked.body)})


def _complete_upload(server: ObjectServer, asked: Asked) -> _Answer:
    key, parts = server.uploads.get(asked.query["uploadId"], ("", {}))
    if not parts:
        return _error(404, "NoSuchUpload", "The specified upload does not exist.")
    numbers = [int(each) for each in re.findall(r"<PartNumber>(\d+)<", asked.body.decode())]
    if sorted(numbers) != sorted(parts):
        return _error(400, "InvalidPart")
    tag = server.put(key, b"".join(parts[number] for number in sorted(parts)))
    del server.uploads[asked.query["uploadId"]]
    told = f"<Bucket>{BUCKET}</Bucket><Key>{escape(key)}</Key><ETag>{escape(tag)}</ETag>"
    return _xml("CompleteMultipartUploadResult", told)


def _abort_upload(server: ObjectServer, asked: Asked) -> _Answer:
    server.uploads.pop(asked.query["uploadId"], None)
    return _Answer(204)


def _delete(server: ObjectServer, asked: Asked) -> _Answer:
    server.objects.pop(asked.key, None)
    return _Answer(204)


def _delete_many(server: ObjectServer, asked: Asked) -> _Answer:
    for key in re.findall(r"<Key>([^<]*)</Key>", asked.body.decode()):
        server.objects.pop(key, None)
    return _xml("DeleteResult")


_OPERATIONS: Mapping[str, Callable[[ObjectServer, Asked], _Answer]] = {
    "get": _get,
    "head": _get,
    "put": _put,
    "list": _list,
    "begin": _begin_upload,
    "part": _take_part,
    "complete": _complete_upload,
    "abort": _abort_upload,
    "delete": _delete,
    "delete_many": _delete_many,
}
