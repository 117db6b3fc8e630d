"""The folder of a draft: editable files and their sources."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import pypdfium2
import vl_convert

from dashboards.render.drafts.draft_compiler import (
    BIBLIOGRAPHY,
    FIGURES,
    REFERENCES,
    SOURCE,
    compile_draft,
    references,
)
from dashboards.render.drafts.venues import LAYOUT, NEUTRAL, SHIPPED, TYPST, files_of, read_venue
from dashboards.render.formats.bib_file import bib_file
from dashboards.render.formats.markdown import markdown_line
from dashboards.render.page import line
from schemas.errors import ConfigurationError
from schemas.works.draft import Draft
from schemas.works.draft_run import DraftHead
from schemas.works.draft_venue import Venue

CLAIMS, OUTLINE, README, MARK = "claims.json", "outline.yaml", "README.md", ".assay-draft"
LATEX_PDF = "draft-latex.pdf"
_PRINT_SCALE = 3.0
_README = """\
# {title}

{form} `{run_id}`, written by Assay with engine `{engine}`. Template: {venue}.

| file | what it is |
|---|---|
| `draft.pdf`, `draft.docx`, `draft.html` | the draft, to be read |
| `draft.tex`, `references.bib` | LaTeX: `latexmk -pdf draft.tex`; where it and bubblewrap were installed, `draft-latex.pdf` came of it |
| `draft.typ`, `venue.typ`, `layout.typ` | Typst, of which `draft.pdf` came |
| `draft.md` | the source of all of them: Pandoc's Markdown; a number is in a span with its key |
| `outline.yaml` | what each section has to say, by which claims; edit it and write again with `--outline` |
| `claims.json` | every number, text, quotation and gap by key, with the SQL that gives it out of the lake |
| `figures/` | each figure as SVG, PDF and PNG, with its specification and the SQL of its rows |
{made}
To continue by hand, edit `draft.tex` or `draft.docx`. What is changed there is no longer checked: a number that is
not in `claims.json`, and a sentence about a work that is not quoted, is yours.
"""


class DraftFiles(NamedTuple):
    """The compiled files of a draft.

    Attributes:
        faults: problems that keep the draft from being in order, a line each.
        notes: further information.
    """

    paths: tuple[Path, ...]
    faults: tuple[str, ...]
    notes: tuple[str, ...]


def write_folder(
    draft: Draft, head: DraftHead, outline: str, folder: Path, venue: Venue | None = None
) -> DraftFiles:
    """Write the folder atomically, replacing an earlier one.

    Args:
        venue: None: the neutral template.

    Raises:
        ConfigurationError: `folder` exists and holds no draft.
        OSError: it cannot be written.
    """
    is_other = folder.exists() and not (folder / MARK).exists()
    if is_other and not (folder.is_dir() and not any(folder.iterdir())):
        raise ConfigurationError(f"{folder} is there and holds no draft: name another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=folder.parent) as building:
        draft_folder = Path(building) / "draft"
        result = _write_files(draft, head, outline, draft_folder, venue or read_venue(NEUTRAL))
        if folder.exists():
            shutil.rmtree(folder)
        draft_folder.replace(folder)
    return result._replace(paths=tuple(folder / path.name for path in result.paths))


def _write_files(
    draft: Draft, head: DraftHead, outline: str, folder: Path, venue: Venue
) -> DraftFiles:
    figures = folder / FIGURES
    figures.mkdir(parents=True)
    (folder / MARK).touch()
    for path in (SHIPPED / LAYOUT, SHIPPED / NEUTRAL / TYPST):
        shutil.copy(path, folder)
    for name, content in files_of(
        venue
    ).items():  # first, so that they replace no file of the draft
        (folder / name).write_bytes(content)
    for figure in draft.figures:
        svg, place = figure.svg, figures / figure.figure_id
        place.with_suffix(".svg").write_text(svg, "utf-8")
        place.with_suffix(".pdf").write_bytes(vl_convert.svg_to_pdf(svg))
        place.with_suffix(".png").write_bytes(vl_convert.svg_to_png(svg, scale=_PRINT_SCALE))
        place.with_suffix(".json").write_text(figure.spec + "\n", "utf-8")
        if figure.query:
            place.with_suffix(".sql").write_text(figure.query + "\n", "utf-8")
    papers = [work.paper for work in draft.works]
    keys = [work.cite_key for work in draft.works]
    claims = [claim.model_dump(mode="json") for claim in draft.claims]
    readme_values = {
        "title": markdown_line(line(draft.title)),
        "form": draft.form.value.capitalize(),
        "run_id": head.run_id,
        "engine": head.engine,
        "venue": f"{venue.venue}: {venue.title}",
        "made": "".join(
            f"\n`{FIGURES}/{figure.figure_id}`: {figure.made}\n"
            for figure in draft.figures
            if figure.made
        ),
    }
    texts = {
        SOURCE: draft.markdown,
        BIBLIOGRAPHY: bib_file(papers, keys),
        REFERENCES: references(draft.works),
        CLAIMS: json.dumps(claims, ensure_ascii=False, indent=1) + "\n",
        OUTLINE: outline,
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    paths, latex = compile_draft(draft, folder, venue)
    faults, notes = [f"LaTeX: {line}" for line in latex.errors], list(latex.notes)
    if latex.pdf is not None:
        (folder / LATEX_PDF).write_bytes(latex.pdf)
        paths = (*paths, folder / LATEX_PDF)
    pages = len(pypdfium2.PdfDocument((folder / "draft.pdf").read_bytes()))
    if venue.most_pages is not None and pages > venue.most_pages:
        faults.append(f"draft.pdf has {pages} pages, and {venue.venue} allows {venue.most_pages}")
    remarks = "".join(f"- {line}\n" for line in (*faults, *notes))
    readme = _README.format(**readme_values) + (
        f"\n## What was found\n\n{remarks}" if remarks else ""
    )
    (folder / README).write_text(readme, "utf-8")
    return DraftFiles(paths, tuple(faults), tuple(notes))
