"""Compilation of a draft: Pandoc reads the source once, Typst makes the PDF."""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pypandoc

from dashboards.render.drafts.latex import LatexResult, compile_latex, for_venue, variables
from dashboards.render.drafts.programs import run_typst
from dashboards.render.drafts.venues import DRAFT, PREAMBLE, TYPST
from schemas.errors import ConfigurationError
from schemas.literature.naming import INVISIBLE, MARKDOWN, surname
from schemas.works.draft import Draft, DraftWork
from schemas.works.draft_venue import Venue
from warehouse.scrubbing import one_line

SOURCE, BIBLIOGRAPHY, REFERENCES = f"{DRAFT}.md", "references.bib", "references.json"
FIGURES = "figures"
_FIGURE = "#fig-"
_A4 = ("-V", "papersize=a4")
_HTML = ("--embed-resources", "-V", "maxwidth=45em")


def compile_draft(draft: Draft, folder: Path, venue: Venue) -> tuple[tuple[Path, ...], LatexResult]:
    """Write `draft.pdf`, `.docx`, `.html` and `.tex` into `folder`.

    Source, figures, references and template are already in `folder`.

    Returns:
        The paths, and the result of LaTeX.

    Raises:
        OSError: they cannot be written.
        ConfigurationError: Pandoc or Typst refuses; one line in their words.
    """
    tree = json.loads(pypandoc.convert_text(draft.markdown, "json", format=MARKDOWN))
    numbers = {name: str(number) for number, name in enumerate(_figures(tree["blocks"]), start=1)}
    _name_figures(tree["blocks"], numbers)
    paths = {kind: folder / f"draft.{kind}" for kind in ("pdf", "docx", "html", "tex")}
    citation_options = ["--citeproc", f"--bibliography={folder / REFERENCES}"]
    natbib = ["--natbib", f"--bibliography={BIBLIOGRAPHY}"] if draft.works else []
    if (folder / PREAMBLE).exists():
        natbib.append(f"--include-in-header={folder / PREAMBLE}")
    typ, set_by = folder / "draft.typ", ("-V", f"template={TYPST}")
    _pandoc(_with(tree, "pdf"), "latex", paths["tex"], folder, *natbib, *_A4, *variables(venue))
    _pandoc(_with(tree, "pdf"), "typst", typ, folder, *citation_options, *_A4, *set_by)
    latex = paths["tex"].read_text("utf-8")
    paths["tex"].write_text(for_venue(latex, venue), "utf-8")
    run_typst(typ, paths["pdf"])
    _number_captions(tree["blocks"], numbers)
    _pandoc(_with(tree, "svg"), "html", paths["html"], folder, *citation_options, *_HTML)
    _pandoc(_with(tree, "png"), "docx", paths["docx"], folder, *citation_options)
    return tuple(paths.values()), compile_latex(folder, paths["tex"].name)


def _with(tree: Any, extension: str) -> Any:
    """Return the tree with the file extension added to its pictures."""
    copy = deepcopy(tree)
    for node in _nodes(copy["blocks"]):
        if node.get("t") == "Image":
            node["c"][2][0] += f".{extension}"
    return copy


def _pandoc(tree: Any, to: str, path: Path, folder: Path, *options: str) -> None:
    try:
        pypandoc.convert_text(
            json.dumps(tree),
            to,
            format="json",
            outputfile=str(path),
            extra_args=["--standalone", f"--resource-path={folder}", *options],
        )
    except RuntimeError as error:
        raise ConfigurationError(
            f"Pandoc cannot make {path.name}: {one_line(error)}; check the template"
        ) from error


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, list):
        for each in tree:
            yield from _nodes(each)
    elif isinstance(tree, dict):
        yield tree
        yield from _nodes(tree.get("c"))


def _figures(blocks: Any) -> list[str]:
    return [node["c"][0][0] for node in _nodes(blocks) if node.get("t") == "Figure"]


def _name_figures(blocks: Any, numbers: Mapping[str, str]) -> None:
    """Replace the text of links to figures by the figure number."""
    for node in _nodes(blocks):
        if node.get("t") == "Link" and node["c"][2][0].startswith(_FIGURE):
            name = node["c"][2][0].removeprefix("#")
            if name in numbers:
                node["c"][1] = _pandoc_words(f"Figure {numbers[name]}")


def _number_captions(blocks: Any, numbers: Mapping[str, str]) -> None:
    """Number the captions, for formats that do not."""
    for node in _nodes(blocks):
        if node.get("t") == "Figure":
            lines = node["c"][1][1]
            if lines and node["c"][0][0] in numbers:
                label = _pandoc_words(f"Figure {numbers[node['c'][0][0]]}:")
                lines[0]["c"] = [*label, {"t": "Space"}, *lines[0]["c"]]


def _pandoc_words(text: str) -> list[dict[str, Any]]:
    first, *rest = text.split()
    words = [{"t": "Str", "c": first}]
    for word in rest:
        words += [{"t": "Str", "c": "\u00a0"}, {"t": "Str", "c": word}]
    return words


def references(works: Sequence[DraftWork]) -> str:
    """Return the bibliography as CSL-JSON, in which no text acts as LaTeX."""
    return json.dumps([_entry(work) for work in works], ensure_ascii=False, indent=1)


def _entry(work: DraftWork) -> dict[str, Any]:
    published_on = work.publication_date
    parts = (
        [published_on.year, published_on.month]
        if published_on
        else [work.year]
        if work.year
        else []
    )
    entry = {
        "id": work.cite_key,
        "type": "article-journal" if work.venue.strip() else "document",
        "title": f'<span class="nocase">{_plain(work.title)}</span>',
        "author": [_name(author) for author in work.authors],
        "issued": {"date-parts": [parts]} if parts else None,
        "container-title": _plain(work.venue),
        "DOI": work.doi,
        "URL": work.url if not work.doi else None,
    }
    return {name: value for name, value in entry.items() if value}


def _name(author: str) -> dict[str, str]:
    plain_name = _plain(author)
    family = surname(plain_name)
    given_name = (
        plain_name.removesuffix(family).strip()
        if "," not in plain_name
        else plain_name.partition(",")[2]
    )
    name_parts = {"family": family, "given": given_name.strip()}
    return {part: value for part, value in name_parts.items() if value} or {
        "literal": plain_name or "Anonymous"
    }


def _plain(text: str) -> str:
    """Return the text without HTML tags, the only markup that CSL reads."""
    return " ".join(INVISIBLE.sub(" ", text).replace("<", "‹").replace(">", "›").split())
