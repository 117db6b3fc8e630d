"""Pictures of image models: untrusted bytes re-encoded as plain pixels."""

import base64
import io
import struct
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from PIL import Image
from pydantic import Field

from schemas.base import Reply
from schemas.calls import CallStatus
from schemas.reasons import Reason
from tasks.judging.replies import ParsedReply, UnusableReply

_FORMATS = ("PNG", "JPEG", "WEBP")
MOST_BYTES = 25_000_000
MOST_PIXELS = 4_096 * 4_096
MOST_WIDTH = MOST_HEIGHT = 1_600
"""Pixels of a printed column."""
MOST_KEPT_BYTES = 6_000_000
PICTURE_TOKENS = 6_240
"""Tokens of one picture, 1,536 by 1,024 pixels at high quality. Source:
https://platform.openai.com/docs/guides/image-generation ("Cost and latency").
"""
_DATA = "data:"
_ADDRESSES = ("http://", "https://")


class PictureReply(Reply):
    """Reply to a step that draws."""

    png: str = Field(min_length=1, description="A PNG of pixels alone, in Base64.")
    width: int = Field(ge=1, description="Pixels.")
    height: int = Field(ge=1, description="Pixels.")

    @property
    def content(self) -> bytes:
        return base64.b64decode(self.png)


PictureT = TypeVar("PictureT", bound=Reply)


def as_prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    """Join the messages to the single prompt of an image model."""
    return "\n\n".join(message["content"] for message in messages)


def read_picture(
    text: str | None, output_model: type[PictureT]
) -> ParsedReply[PictureT] | UnusableReply:
    """Read a picture in Base64 as `output_model`, a `PictureReply`.

    Only PNG, JPEG and WebP are decoded, up to `MOST_BYTES` and `MOST_PIXELS`. The result is a new
    PNG of the pixels on white, at most `MOST_WIDTH` wide and `MOST_HEIGHT` high, without metadata,
    color profile, animation or transparency. URLs are not followed.
    """
    if not text:
        return UnusableReply(CallStatus.EMPTY, Reason.REPLY_EMPTY, "no picture came", again=False)
    if text.startswith(_ADDRESSES):
        return _unusable("an address came instead of a picture, and is not followed")
    base64_content = text.partition(",")[2] if text.startswith(_DATA) else text
    if len(base64_content) > MOST_BYTES * 4 // 3 + 4:
        return _unusable(f"the picture has more than {MOST_BYTES:,} bytes")
    try:
        image = _pixels(base64.b64decode(base64_content, validate=True))
    except ValueError:
        return _unusable("what came is no picture in Base64")
    if isinstance(image, UnusableReply):
        return image
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    if buffer.tell() > MOST_KEPT_BYTES:
        return _unusable(f"as PNG the picture has more than {MOST_KEPT_BYTES:,} bytes")
    png = base64.b64encode(buffer.getvalue()).decode("ascii")
    width, height = image.size
    return ParsedReply(output_model.model_validate({"png": png, "width": width, "height": height}))


def _pixels(content: bytes) -> Image.Image | UnusableReply:
    """Return the pixels on white, scaled down to the size limit."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # bounded below
            with Image.open(io.BytesIO(content), formats=_FORMATS) as source:
                width, height = source.size
                if width * height > MOST_PIXELS:
                    return _unusable(
                        f"the picture has {width:,} by {height:,} pixels, more than"
                        f" {MOST_PIXELS:,}",
                    )
                rgba = source.convert("RGBA")
    except Image.DecompressionBombError:
        return _unusable(f"the picture has more than {MOST_PIXELS:,} pixels")
    # Pillow raises these for truncated and broken files.
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error) as error:
        kind = type(error).__name__
        return _unusable(f"what came is no PNG, JPEG or WebP that can be read ({kind})")
    canvas = Image.new("RGB", rgba.size, "white")
    canvas.paste(rgba, mask=rgba)
    canvas.thumbnail((MOST_WIDTH, MOST_HEIGHT), Image.Resampling.LANCZOS)
    return canvas


def _unusable(detail: str) -> UnusableReply:
    """Return an unusable reply without a retry: each attempt costs a picture."""
    return UnusableReply(CallStatus.UNPARSABLE, Reason.REPLY_UNPARSABLE, detail, again=False)
