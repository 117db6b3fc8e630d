"""A curated set as files: `ideas.jsonl`, which `assay benchmark coverage` reads as it reads
ScholarIdeas, and the datasheet beside it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import orjson

from dashboards.render import figures, wording
from dashboards.render.render import rendered
from schemas.choices import EXTRACTIVE
from schemas.works.curation import CuratedSentence, CuratedStatement, Curation
from schemas.works.curation_edit import CurationEdit, EditAgreement, EditShare
from schemas.works.curation_run import CurationHead
from warehouse.kinds.curations.edits import edit_shares
from warehouse.parquet import write_bytes

UNSTATED = "unstated"
"""Stands for a field, licence or date that nobody states."""


def ideas_file(curations: Sequence[Curation]) -> bytes:
    """One JSON object a line for each paper that is part of the set."""
    lines = (orjson.dumps(_line(each)) for each in curations if each.dropped_reason is None)
    return b"".join(line + b"\n" for line in lines)


def _line(curation: Curation) -> dict[str, object]:
    day = curation.cutoff_date
    return {
        "idea_id": curation.paper_id,
        "discipline": curation.discipline or UNSTATED,
        "text": curation.text,
        "cutoff_date": day.isoformat() if day is not None else None,
        "rubrics": [_rubric(each, curation) for each in curation.statements],
        "title": curation.title,
        "url": curation.url,
        "licence": curation.licence or UNSTATED,
    }


def _rubric(statement: CuratedStatement, curation: Curation) -> dict[str, object]:
    sentences = {each.sentence_id: each for each in curation.sentences}
    return {
        "statement": statement.statement,
        "type": statement.type.value,
        "axis": statement.axis.value,
        "severity": statement.severity.value,
        "sentences": [
            {"review": sentences[name].review_id, "text": sentences[name].text}
            for name in statement.sentence_ids
        ],
    }


@dataclass(frozen=True)
class CuratedSet:
    """What report and datasheet show.

    Attributes:
        curations: as people have edited them.
        agreement: between people who looked at the same; empty: unknown here, or nobody did.
    """

    head: CurationHead
    curations: tuple[Curation, ...]
    edits: tuple[CurationEdit, ...] = ()
    agreement: tuple[EditAgreement, ...] = ()

    @cached_property
    def kept(self) -> tuple[Curation, ...]:
        """The papers that are part of the set."""
        return tuple(each for each in self.curations if each.dropped_reason is None)

    @cached_property
    def dropped(self) -> tuple[Curation, ...]:
        """Those that are not."""
        return tuple(each for each in self.curations if each.dropped_reason is not None)

    def sentences(self, curation: Curation) -> dict[str, CuratedSentence]:
        """Of one paper, by their names."""
        return {each.sentence_id: each for each in curation.sentences}

    @property
    def needs_wording(self) -> bool:
        """Whether some of its ideas nobody has worded yet, neither a model nor a person."""
        seen = {each.paper_id for each in self.edits}
        return self.head.engine == EXTRACTIVE.text and any(
            each.paper_id not in seen for each in self.kept
        )

    @property
    def shares(self) -> tuple[EditShare, ...]:
        """How much people changed of what they looked at; empty: nobody looked."""
        return edit_shares(self.edits) if self.edits else ()

    @property
    def editors(self) -> int:
        """How many people looked at something of it."""
        return len({each.editor for each in self.edits})

    @property
    def statement_count(self) -> int:
        """Of the papers that are part of the set."""
        return sum(each.statement_count for each in self.kept)

    @property
    def kinds(self) -> list[tuple[str, int]]:
        """How many statements there are of each type, axis and severity, most first."""
        counts = Counter(
            f"{each.severity.value} {each.type.value} of {each.axis.value}"
            for curation in self.kept
            for each in curation.statements
        )
        return counts.most_common()

    @property
    def disciplines(self) -> list[tuple[str, int, int]]:
        """Each field with its ideas and statements, by name."""
        ideas = Counter(each.discipline or UNSTATED for each in self.kept)
        statements: Counter[str] = Counter()
        for each in self.kept:
            statements[each.discipline or UNSTATED] += each.statement_count
        return [(name, ideas[name], statements[name]) for name in sorted(ideas)]

    @property
    def drops(self) -> list[tuple[str, str, int]]:
        """What was left out of papers, why, and how often, most first."""
        counts = Counter(
            (each.left_out_of.value, wording.reason(each.reason))
            for curation in self.curations
            for each in curation.drops
        )
        return [(what, why, count) for (what, why), count in counts.most_common()]

    @property
    def years(self) -> str:
        """From the first to the last day that an idea was submitted; empty: none is known."""
        days = sorted(each.cutoff_date for each in self.kept if each.cutoff_date is not None)
        return f"{days[0].isoformat()} to {days[-1].isoformat()}" if days else ""

    @property
    def gaps(self) -> list[str]:
        """What is not known of the set, or speaks against using it as it is."""
        found = []
        if self.needs_wording:
            found.append(
                "Not all of it is worded: ideas and statements that nobody looked at are sentences"
                " of papers and reviews"
            )
        lacking = {
            "without a field": [each for each in self.kept if not each.discipline],
            "without a day after which literature may not be cited": [
                each for each in self.kept if each.cutoff_date is None
            ],
            "without a licence of its texts": [each for each in self.kept if not each.licence],
            "perhaps made of a later version than its reviewers had first": [
                each for each in self.kept if each.is_first_version is None
            ],
            "from which sentences that told results were taken": [
                each for each in self.kept if each.leak_count
            ],
        }
        found += [
            f"{figures.counted(len(own), 'idea')} {what}" for what, own in lacking.items() if own
        ]
        found.append(
            "Reviews are taken as they stand today: a reviewer may have changed one after the"
            " authors' answer"
        )
        return found


def datasheet(curated: CuratedSet) -> str:
    """What the set holds, whose texts they are, and what is not known of it, as Markdown."""
    return rendered("datasheet.md.jinja", page=curated, unstated=UNSTATED)


def write_curated_set(path: Path, curated: CuratedSet) -> tuple[Path, ...]:
    """Write the ideas at `path` and `<name>.datasheet.md` beside it; their paths.

    Raises:
        OSError: they cannot be written.
    """
    beside = path.with_name(f"{path.stem}.datasheet.md")
    for target, content in (
        (path, ideas_file(curated.curations)),
        (beside, datasheet(curated).encode("utf-8", "replace")),
    ):
        building = target.with_name(f"{target.name}.building")
        write_bytes(building, content)
        building.replace(target)
    return path, beside
