"""Prints how the checks of a manuscript's text agree on one paper as LaTeX or Markdown, as PDF and
as damaged OCR text.

python -m tests.benchmarks manuscript_forms

Into each text wrong sentences are put, one after every forty. A finding of another form is matched
where it quotes the same letters; any other finding there is one about damage.
"""

import asyncio
import json
import random
import re
import tempfile
import textwrap
from collections import Counter
from pathlib import Path

from dashboards.render.formats.pdf_file import pdf_file
from schemas.identifiers import IdeaId
from schemas.settings import Settings
from schemas.works.check_run import ManuscriptSource
from tasks.accounting.ledger import Ledger
from tasks.manuscripts.problems import leads_at
from tasks.manuscripts.read import Manuscript, read_manuscript
from tasks.manuscripts.sections import sections_of

SEED = 7
EVERY = 40
SENTENCE_ENDS = re.compile(r"(?<=[a-z]\. )(?=[A-Z])|(?<=[a-z]\.\n)(?=[A-Z])")


async def read(path: Path, form: str = "auto") -> Manuscript | None:
    source = ManuscriptSource(manuscript_id="m", path=path, content_sha256="")
    ledger = Ledger(IdeaId("m"))
    found = await read_manuscript(source, form, Settings().documents, None, ledger, lambda: False)
    return found if isinstance(found, Manuscript) else None


def quotes(manuscript: Manuscript) -> set[str]:
    reading = manuscript.reading
    found = leads_at(reading, sections_of(reading))
    return {letters(lead.quote) for leads in found for lead in leads}


def letters(text: str) -> str:
    plain = re.sub(r"\\[a-z]+", "", text).replace("\ufb01", "fi").casefold()
    return "".join(sign for sign in plain if sign.isalnum())


def spoiled(text: str, per_cent: str, rng: random.Random) -> str:
    parts = []
    for number, part in enumerate(SENTENCE_ENDS.split(text)):
        parts.append(part)
        if number % EVERY == EVERY // 2:
            count = rng.randint(10, 30)
            parts.append(
                f"In all {count} of {4 * count + 7} (25{per_cent}) cases of set {number} counted. "
                if number % (2 * EVERY) < EVERY
                else f"The test of set {number} was clear, t({number}) = 2.20, p = .36, as hoped. "
            )
    return "".join(parts)


def scanned(text: str, rng: random.Random) -> str:
    """Of the lines without a wrong sentence three in a hundred lose letters, two are set apart and
    two run together; one word in ten lines is cut.
    """
    lines = []
    for line in textwrap.wrap(text, 70, break_long_words=False, replace_whitespace=False):
        drawn = rng.random()
        if " of set " not in line and "(25" not in line:
            line = line.replace("e", "\ufffd", 2) if drawn < 0.03 else line
            line = " ".join(line) if 0.03 <= drawn < 0.05 else line
            line = line.replace(" ", "") if 0.05 <= drawn < 0.07 else line
        head, _, last = line.rpartition(" ")
        cut = rng.random() < 0.1 and len(last) > 6 and last.isalpha()
        lines.append(f"{head} {last[:3]}-\n{last[3:]}" if cut else line)
    return "\n".join(lines).replace("fi", "\ufb01")


async def forms_of(main: Path, folder: Path) -> dict[str, Manuscript | None]:
    rng = random.Random(SEED)
    source = await read(main)
    if source is None:
        return {}
    if main.suffix == ".tex":
        own = folder / "paper.tex"
        body = spoiled(source.text, r"\%", rng)
        own.write_text(f"\\documentclass{{article}}\\begin{{document}}\n{body}\n\\end{{document}}")
    else:
        own = folder / "paper.md"
        own.write_text(spoiled(source.text, "%", rng))
    as_text = await read(own, "text")
    if as_text is None:
        return {}
    (folder / "paper.pdf").write_bytes(pdf_file(re.sub(r"[_*]", " ", as_text.text), "paper"))
    (folder / "paper.ocr").write_text(scanned(as_text.text, rng))
    names = {"source": own, "pdf": folder / "paper.pdf", "ocr": folder / "paper.ocr"}
    return {name: await read(path) for name, path in names.items()}


DATA = Path(__file__).parents[3] / "shared" / "data" / "manuscripts"


def main() -> None:
    if not DATA.exists():
        print(f"skipped: {DATA} is not here")
        return
    asyncio.run(compare(DATA))


async def compare(data: Path) -> None:
    totals: Counter[str] = Counter()
    for row in map(json.loads, (data / "manifest.jsonl").read_text().splitlines()):
        with tempfile.TemporaryDirectory() as folder:
            forms = await forms_of(data / row["id"] / row["main"], Path(folder))
        found = {name: quotes(one) for name, one in forms.items() if one is not None}
        if set(found) != {"source", "pdf", "ocr"}:
            print(f"{row['id']}: not read in all forms")
            continue
        wanted = found.pop("source")
        totals["findings"] += len(wanted)
        for name, others in found.items():
            matched = sum(any(one in other or other in one for other in others) for one in wanted)
            damage = [one for one in others if not any(one in w or w in one for w in wanted)]
            totals[f"{name} matched"] += matched
            totals[f"{name} about damage"] += len(damage)
            print(f"{row['id']}: {name} {matched} of {len(wanted)}, {len(damage)} about damage")
    print(dict(totals))


if __name__ == "__main__":
    main()
