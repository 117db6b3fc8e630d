"""The same idea has one evaluation key in every format."""

import csv
import html
import io
import json
import string
from collections.abc import Callable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from schemas.identifiers import IdeaId
from tasks.ideas.read import read_ideas

HEADINGS = {"problem": "Problem", "method": "Method", "experiment": "Experiment Design"}
Row = dict[str, str]


def markdown(row: Row) -> str:
    parts = (f"## {heading}\n\n{row[name]}" for name, heading in HEADINGS.items())
    return "\n\n".join([f"# {row['title']}", *parts])


def front_matter(row: Row) -> str:
    fields = {name: row[name] for name in ("idea_id", "cutoff_date", "authors")}
    return f"---\n{yaml.safe_dump(fields)}---\n"


def delimited(row: Row, delimiter: str) -> bytes:
    lines = io.StringIO()
    writer = csv.DictWriter(lines, list(row), delimiter=delimiter)
    writer.writeheader()
    writer.writerow(row)
    return lines.getvalue().encode()


def workbook(row: Row) -> bytes:
    book, content = Workbook(), io.BytesIO()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(row))
    sheet.append(list(row.values()))
    book.save(content)
    return content.getvalue()


def parquet(row: Row) -> bytes:
    content = io.BytesIO()
    pl.DataFrame([row]).write_parquet(content)
    return content.getvalue()


def page(row: Row) -> bytes:
    cells = (
        "".join(f"<td>{html.escape(each)}</td>" for each in line) for line in (row, row.values())
    )
    return f"<html><body><table>{''.join(f'<tr>{line}</tr>' for line in cells)}</table>".encode()


WRITERS: dict[str, Callable[[Row], bytes]] = {
    "ideas.json": lambda row: json.dumps([row]).encode(),
    "ideas.jsonl": lambda row: json.dumps(row).encode(),
    "ideas.csv": lambda row: delimited(row, ","),
    "ideas.tsv": lambda row: delimited(row, "\t"),
    "ideas.yaml": lambda row: yaml.safe_dump([row], allow_unicode=True).encode(),
    "ideas.xlsx": workbook,
    "ideas.parquet": parquet,
    "ideas.html": page,
    "ideas.md": lambda row: (front_matter(row) + markdown(row)).encode(),
}


def text_page(row: Row) -> bytes:
    parts = (
        f"<h2>{heading}</h2><p>{html.escape(row[name])}</p>" for name, heading in HEADINGS.items()
    )
    return (
        f"<html><body><h1>{html.escape(row['title'])}</h1>{''.join(parts)}</body></html>".encode()
    )


TEXTS: dict[str, Callable[[Row], bytes]] = {
    "idea.txt": lambda row: markdown(row).encode(),
    "idea.md": lambda row: markdown(row).encode(),
    "idea.html": text_page,
    "idea.jsonl": lambda row: json.dumps({"text": markdown(row)}).encode(),
    "idea.json": lambda row: json.dumps(
        {"title": row["title"]} | {n: row[n] for n in HEADINGS}
    ).encode(),
}
WORDS = st.text(string.ascii_lowercase, min_size=2, max_size=9)
SENTENCES = st.lists(WORDS, min_size=6, max_size=12).map(lambda words: f"We {' '.join(words)} & x.")
ROWS = st.fixed_dictionaries(
    {
        "idea_id": WORDS.map(lambda word: f"id-{word}"),
        "title": st.lists(WORDS, min_size=3, max_size=6).map(lambda words: f"On {' '.join(words)}"),
        **dict.fromkeys(HEADINGS, SENTENCES),
        "cutoff_date": st.dates(date(1990, 1, 1), date(2030, 1, 1)).map(str),
        "authors": st.sampled_from(["Ada Bird; Ben Cave", "Ada Bird"]),
    }
)


def key(name: str, content: bytes) -> tuple[IdeaId, str]:
    """What the evaluation key has of an idea."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        (idea,) = read_ideas(path, default_cutoff=None).ideas
    return idea.idea_id, idea.content_sha256


@pytest.mark.parametrize("writers", [WRITERS, TEXTS], ids=["fields", "text alone"])
@given(row=ROWS)
def test_one_idea_has_one_key_in_every_format(
    writers: dict[str, Callable[[Row], bytes]], row: Row
) -> None:
    keys = {name: key(name, write(row)) for name, write in writers.items()}
    assert len(set(keys.values())) == 1, keys
