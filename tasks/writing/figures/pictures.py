"""Pictures by an image model: as SVG that holds their pixels and loads nothing."""

import base64
import hashlib
import io
from dataclasses import dataclass

import lxml.etree
from PIL import Image

from schemas.works.draft import DraftFigure, PictureSpec
from tasks.writing.figures.printed import COLUMN_POINTS

WIDTH = 460.0
"""In pixels of the SVG, as wide as a graph."""
MOST_HEIGHT_POINTS = 480.0
_PNG = "data:image/png;base64,"


@dataclass(frozen=True, slots=True)
class Pixels:
    """What can be said of a picture without looking at it."""

    width: int
    height: int
    has_one_colour: bool

    @classmethod
    def of(cls, png: bytes) -> "Pixels":
        """Raises ValueError, OSError: it is no PNG."""
        with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
            colours = image.convert("RGB").getcolors(maxcolors=1)  # None: there are more
            return cls(*image.size, has_one_colour=colours is not None)


def picture_svg(png: bytes) -> str:
    """The picture as wide as a column, or so wide that a page has room for its height.

    Raises:
        ValueError, OSError: it is no PNG.
    """
    pixels = Pixels.of(png)
    highest = MOST_HEIGHT_POINTS * WIDTH / COLUMN_POINTS
    width = min(WIDTH, highest * pixels.width / pixels.height)
    size = f'width="{width:.1f}" height="{width * pixels.height / pixels.width:.1f}"'
    data = _PNG + base64.b64encode(png).decode("ascii")
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><image {size} href="{data}"/></svg>'


def kept_png(figure: DraftFigure) -> bytes:
    """The pixels that a picture's SVG holds.

    Raises:
        ValueError: it holds none, or others than its specification says.
    """
    try:
        root = lxml.etree.fromstring(
            figure.svg.encode(), lxml.etree.XMLParser(resolve_entities=False)
        )
        found = [each.get("href", "") for each in root.iter("{*}image")]
        png = base64.b64decode(found[0].removeprefix(_PNG), validate=True) if found else b""
    except (lxml.etree.XMLSyntaxError, ValueError) as error:
        raise ValueError("it holds no picture") from error
    told = PictureSpec.model_validate_json(figure.spec).png_sha256
    if hashlib.sha256(png).hexdigest() != told:
        raise ValueError("it holds another picture than was drawn")
    return png
