"""InnoEval's data sets: submissions with decisions, and groups and pairs of them.

Ideas are made from abstracts, or from full papers as InnoEval's published ideas are.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from datetime import date
from pathlib import Path
from typing import Annotated, Self

from pydantic import model_validator
from scipy.cluster.hierarchy import DisjointSet

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.failure import SourceFailure
from schemas.idea import Idea
from schemas.identifiers import IdeaId, content_hash
from schemas.judgement.benchmark import BenchmarkParameters, SubmissionText
from schemas.profile import Profile
from schemas.settings import DocumentSettings
from tasks.benchmarks.records import Day, OrNone, Row, Text, rows_of
from tasks.benchmarks.suite import SuiteData
from tasks.calibration.calibrator_files import load_prior
from tasks.documents.document import DOCUMENTS_AT_ONCE, ParsedDocument
from tasks.documents.headings import is_closing, kind_of
from tasks.documents.latex import read_latex
from tasks.documents.pdf import read_pdf
from tasks.ideas.groups import GroupNames
from tasks.judging.packing import side_by_side
from tasks.metrics.labels import decision_of
from tasks.text.words import shorten_words
from warehouse.run_log import EVENTS

POINTS_FILE = "innoeval_points.jsonl"
GROUPS_FILE = "innoeval_groups.json"
PAIR_FILES = {"easy": "innoeval_pairs_easy.json", "hard": "innoeval_pairs_hard.json"}
CUTOFF = date(2024, 10, 1)
"""Default cutoff, so that no submission is found as its own evidence.

It is the deadline of ICLR 2025, the earlier of the two conferences.
"""

DECISION_DATE = date(2025, 1, 22)
"""Decisions of ICLR 2025; those of NeurIPS 2025 came in September."""


@dataclass(frozen=True, slots=True)
class Submission:
    """Idea of a submission, and the decision on it; None: unknown."""

    idea: Idea
    decision: str | None


@dataclass(frozen=True, slots=True)
class SubmissionGroup:
    """Similar submissions with different decisions."""

    name: str
    members: tuple[Submission, ...]


@dataclass(frozen=True, slots=True)
class SubmissionPair:
    """Two submissions.

    `difficulty` is easy or hard; `kind` names the two decisions as in the file.
    """

    pair_id: str
    first: Submission
    second: Submission
    difficulty: str
    kind: str


class PaperRow(Row):
    """Submission as a release lists it, perhaps below `paper`."""

    paper_id: Annotated[Text | None, OrNone] = None
    id: Annotated[Text | None, OrNone] = None
    title: Text
    abstract: Text
    decision: Annotated[Text | None, OrNone] = None
    cutoff_date: Day = None

    @model_validator(mode="before")
    @classmethod
    def _inner(cls, value: object) -> object:
        return value.get("paper", value) if isinstance(value, dict) else value

    def submission(self, label: str | None = None) -> Submission:
        """Return the submission; `label` is its decision if it names none."""
        idea = Idea(
            idea_id=IdeaId((self.paper_id or self.id or "").strip()),
            title=self.title,
            text=f"# {self.title}\n\n{self.abstract}",
            cutoff_date=self.cutoff_date or CUTOFF,
        )
        decision = self.decision or label
        return Submission(idea, decision_of(decision) if decision is not None else None)

    @model_validator(mode="after")
    def _has_id(self) -> Self:
        if self.paper_id is None and self.id is None:
            raise ValueError("a submission has no paper_id")
        return self


class GroupRow(Row):
    """Submission with similar ones by decision."""

    query: PaperRow
    query_category: Annotated[str | None, OrNone] = None
    matches: dict[str, PaperRow]


class PairRow(Row):
    """Two submissions; `pair_type` names their decisions."""

    paper_a: PaperRow
    paper_b: PaperRow
    pair_type: Annotated[str | None, OrNone] = None


def read_points(path: Path) -> list[Submission]:
    """Return the submissions of `innoeval_points.jsonl`.

    Raises:
        ConfigurationError: the file is invalid; likewise for the other readers.
    """
    return [row.submission() for row in rows_of(path, PaperRow)]


def read_groups(path: Path) -> list[SubmissionGroup]:
    """Return the groups of `innoeval_groups.json`: the query and its matches."""
    groups, names = [], GroupNames()
    for row in rows_of(path, GroupRow):
        members = [row.query.submission(row.query_category)]
        members += [match.submission(label) for label, match in row.matches.items()]
        each_once = {member.idea.idea_id: member for member in members}
        name = names.unique(members[0].idea.idea_id)
        groups.append(SubmissionGroup(name, tuple(each_once.values())))
    return groups


def read_pairs(path: Path, difficulty: str) -> list[SubmissionPair]:
    pairs = []
    for number, row in enumerate(rows_of(path, PairRow), start=1):
        first, second = row.paper_a.submission(), row.paper_b.submission()
        pair_id = f"{difficulty}:{number}:{first.idea.idea_id}:{second.idea.idea_id}"
        kind = (row.pair_type or "").strip()
        pairs.append(SubmissionPair(pair_id, first, second, difficulty, kind))
    return pairs


def unique_ideas(submissions: Iterable[Submission]) -> list[Idea]:
    """Return the distinct ideas of submissions, in order of first appearance."""
    return list({submission.idea.idea_id: submission.idea for submission in submissions}.values())


def cluster_contests(contests: Mapping[str, Sequence[Submission]]) -> dict[str, str]:
    """Return a cluster for each contest: the connected components by shared submissions.

    Contests that share submissions are not independent, so intervals resample whole clusters.
    """
    disjoint_sets = DisjointSet()
    for members in contests.values():
        names = [str(one.idea.idea_id) for one in members]
        for name in names:
            disjoint_sets.add(name)
            disjoint_sets.merge(names[0], name)
    return {
        contest: disjoint_sets[str(members[0].idea.idea_id)]
        for contest, members in contests.items()
    }


def submission_clusters(folder: Path, submissions: Sequence[Submission]) -> dict[str, str]:
    """Return a cluster for each submission.

    Clusters are connected components by groups and pairs. Missing files in `folder` are ignored.
    """
    contests: dict[str, tuple[Submission, ...]] = {
        str(one.idea.idea_id): (one,) for one in submissions
    }
    if (path := folder / GROUPS_FILE).is_file():
        contests |= {f"group {group.name}": group.members for group in read_groups(path)}
    for difficulty, name in PAIR_FILES.items():
        if (path := folder / name).is_file():
            pairs = read_pairs(path, difficulty)
            contests |= {pair.pair_id: (pair.first, pair.second) for pair in pairs}
    clusters = cluster_contests(contests)
    return {str(one.idea.idea_id): clusters[str(one.idea.idea_id)] for one in submissions}


def submission_conditions(
    profile: Profile, parameters: BenchmarkParameters, data: Path | None
) -> tuple[str, ...]:
    """Return hashes of the profile's prior and of used full papers."""
    path = profile.ranking.prior
    prior = (f"prior {load_prior(path).sha256}",) if path is not None else ()
    if data is None or parameters.text is SubmissionText.ABSTRACT:
        return prior
    return (*prior, f"papers {papers_sha256(data)}")


def with_texts(data: SuiteData, all_submissions: Iterable[Submission]) -> dict[str, Submission]:
    """Return distinct submissions by id, with abstract or full text as requested.

    Raises:
        ConfigurationError: `--text full`, and a paper is missing or cannot be read.
    """
    submissions = {str(one.idea.idea_id): one for one in all_submissions}
    if data.parameters.text is SubmissionText.ABSTRACT:
        return submissions
    EVENTS.info("%s: reading %d full papers", data.unit.suite, len(submissions))
    coroutine = ideas_of_papers(
        [one.idea for one in submissions.values()], data.data, data.settings.documents
    )
    ideas = asyncio.run(coroutine)
    return {name: replace_fields(one, idea=ideas[name]) for name, one in submissions.items()}


def planned_ideas(data: SuiteData, submissions: Iterable[Submission]) -> list[Idea]:
    """Return the distinct ideas for an estimate, which reads no full paper.

    Ideas from full papers are padded to their maximum length.
    """
    ideas = unique_ideas(submissions)
    if data.parameters.text is SubmissionText.ABSTRACT:
        return ideas
    return [as_long_as_a_paper(idea) for idea in ideas]


# Full papers.

PAPERS_FOLDER = "papers"
SUFFIXES = (".pdf", ".tex", ".tar.gz", ".zip")
MOST_WORDS = 4_000
"""Limit of a paper's text: introduction, method and most of the experiments."""
CHARACTERS_PER_WORD = 7
_EXAMPLES = 3


def paper_paths(ideas: Iterable[Idea], folder: Path) -> dict[str, Path]:
    """Return the paper file of each idea by id.

    Files are `papers/<id>` with one of `SUFFIXES`.

    Raises:
        ConfigurationError: papers are missing.
    """
    paths: dict[str, Path] = {}
    missing_ids = []
    for idea in ideas:
        candidates = [folder / PAPERS_FOLDER / f"{idea.idea_id}{suffix}" for suffix in SUFFIXES]
        path = next((one for one in candidates if one.is_file()), None)
        if path is None:
            missing_ids.append(str(idea.idea_id))
        else:
            paths[str(idea.idea_id)] = path
    if missing_ids:
        raise ConfigurationError(
            f"--text full: {len(missing_ids)} papers are not in {folder / PAPERS_FOLDER} (such as"
            f" {', '.join(missing_ids[:_EXAMPLES])}): put each there as <id>.pdf, .tex, .tar.gz or .zip"
        )
    return paths


def papers_sha256(folder: Path) -> str:
    """Return a hash over the papers of a data set.

    They are read one at a time.
    """
    papers = sorted(path for path in (folder / PAPERS_FOLDER).glob("*") if path.is_file())
    return content_hash(
        *(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in papers)
    )


def as_long_as_a_paper(idea: Idea) -> Idea:
    """Return the idea with its text padded to full-paper length."""
    return replace(idea, text=idea.text.ljust(MOST_WORDS * CHARACTERS_PER_WORD, "."))


async def ideas_of_papers(
    ideas: Iterable[Idea], folder: Path, settings: DocumentSettings
) -> dict[str, Idea]:
    """Return ideas by id, with full papers instead of abstracts.

    Texts have no closing sections such as acknowledgements, and at most `MOST_WORDS` words.

    Raises:
        ConfigurationError: a paper is missing or cannot be read. Mixing full papers and abstracts
            would make ideas incomparable.
    """
    idea_by_id = {str(idea.idea_id): idea for idea in ideas}
    paths = paper_paths(idea_by_id.values(), folder)
    gate = asyncio.Semaphore(DOCUMENTS_AT_ONCE)

    async def read(name: str) -> ParsedDocument | SourceFailure:
        async with gate:
            path = paths[name]
            if path.suffix != ".pdf":
                return await read_latex(path.resolve(), settings)
            content = await asyncio.to_thread(path.read_bytes)
            return await read_pdf(content, path.name, settings)

    results = await side_by_side(read(name) for name in idea_by_id)
    documents = dict(zip(idea_by_id, results, strict=True))
    failures = {name: one for name, one in documents.items() if isinstance(one, SourceFailure)}
    if failures:
        examples = "; ".join(
            f"{paths[name].name}: {one.detail}" for name, one in list(failures.items())[:_EXAMPLES]
        )
        raise ConfigurationError(f"--text full: {len(failures)} papers cannot be read: {examples}")
    return {
        name: replace(idea_by_id[name], text=text_of_paper(idea_by_id[name], document))
        for name, document in documents.items()
        if isinstance(document, ParsedDocument)
    }


def text_of_paper(idea: Idea, document: ParsedDocument) -> str:
    """Return title and abstract, then the sections under their headings."""
    parts = [idea.text.strip()]
    for section in document.sections:
        closing = is_closing(section.heading) and kind_of(section.heading) is None
        if section.text.strip() and not closing:
            level = "#" * (2 + min(section.level, 3))
            parts.append(f"{level} {section.heading}\n\n{section.text.strip()}")
    return shorten_words("\n\n".join(parts), MOST_WORDS)[0]
