"""Small PDFs, good and hostile, made for tests."""

import zlib

Text = tuple[str, float, bool]
"""One line: text, size in points, bold."""


def pdf_of(
    pages: list[list[Text]], *, encrypted: bool = False, page_count: int | None = None
) -> bytes:
    """A PDF that prints `pages` from top to bottom in Helvetica."""
    return pdf_from_streams(
        [_stream(lines) for lines in pages], encrypted=encrypted, page_count=page_count
    )


def pdf_from_streams(
    streams: list[bytes], *, encrypted: bool = False, page_count: int | None = None
) -> bytes:
    """A PDF whose pages have these content streams, compressed; `page_count` may lie."""
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {page_count or len(streams)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
    ]
    for number, stream in enumerate(streams):
        packed = zlib.compress(stream, 9)
        resources = "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {resources} /Contents"
            f" {6 + 2 * number} 0 R >>".encode()
        )
        objects.append(
            f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
            + packed
            + b"\nendstream"
        )
    return _assembled(objects, encrypted=encrypted)


def pdf_from_objects(*objects: bytes) -> bytes:
    """A PDF of these objects, numbered from 1; the first is its catalogue."""
    return _assembled(list(objects), encrypted=False)


def outlined(*bookmarks: bytes, extra: bytes = b"") -> bytes:
    """One page that says "Hello there world", with `extra` in its dictionary; bookmarks are objects
    7, 8, …, page is object 3.
    """
    text = b"BT /F1 9 Tf 60 700 Td (Hello there world) Tj ET"
    return pdf_from_objects(
        b"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 4 0 R >>"
        b" >> /Contents 5 0 R " + extra + b">>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n" % len(text) + text + b"\nendstream",
        b"<< /First 7 0 R /Last 7 0 R /Count 1 >>",
        *bookmarks,
    )


def _stream(lines: list[Text]) -> bytes:
    pieces = []
    height = 750.0
    for text, size, bold in lines:
        safe = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        pieces.append(f"BT /{'F2' if bold else 'F1'} {size} Tf 60 {height} Td ({safe}) Tj ET")
        height -= 1.4 * size
    return "\n".join(pieces).encode("latin-1", "replace")


def _assembled(objects: list[bytes], *, encrypted: bool) -> bytes:
    content = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(content)
    content += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    content += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    locked = (
        f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{'41' * 32}> /U <{'42' * 32}> /P -4 >> /ID"
        " [<00> <00>]"
        if encrypted
        else ""
    )
    return bytes(
        content
        + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {locked}"
        f" >>\nstartxref\n{start}\n%%EOF\n".encode()
    )


def paper_pdf() -> bytes:
    """A two-page paper with abstract, methods and results."""
    body = [
        (
            "This sentence fills the body of the paper with plain words so that sizes are clear.",
            10.0,
            False,
        )
    ] * 6
    first = [
        ("A Small Paper About Headings", 18.0, True),
        ("Ann Lee and Bo Roe", 11.0, False),
        ("Abstract", 12.0, True),
        ("We abstract what we did.", 10.0, False),
        ("1 Introduction", 12.0, True),
        *body,
    ]
    second = [
        ("2 Materials and Methods", 12.0, True),
        ("2.1 Cohort", 10.0, True),
        ("We measured forty people.", 10.0, False),
        *body,
        ("3 Results", 12.0, True),
        ("Everything improved by ten percent.", 10.0, False),
        *body,
        ("4 Conclusion", 12.0, True),
        *body,
    ]
    return pdf_of([first, second])
