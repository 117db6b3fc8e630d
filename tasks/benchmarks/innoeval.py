"""InnoEval's sets: submissions with their decisions, groups of similar submissions, and pairs with
different decisions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from scipy.cluster.hierarchy import DisjointSet

from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from tasks.benchmarks.records import Record, json_lines, json_list, text_of
from tasks.ideas.groups import GroupNames
from tasks.metrics.labelled import decision_of

POINTS_FILE = "innoeval_points.jsonl"
GROUPS_FILE = "innoeval_groups.json"
PAIR_FILES = {"easy": "innoeval_pairs_easy.json", "hard": "innoeval_pairs_hard.json"}
CUTOFF = date(2024, 10, 1)
"""Deadline of ICLR 2025, the earlier of the two conferences: no submission of either can be found
as its own evidence.
"""

DECIDED = date(2025, 1, 22)
"""Decisions of ICLR 2025; those of NeurIPS 2025 came in September."""


@dataclass(frozen=True, slots=True)
class Submission:
    """An idea as a system may see it, and apart from it what was decided: None where the file does
    not say.
    """

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

    `difficulty` is easy or hard, `kind` the two decisions as the file names them.
    """

    pair_id: str
    first: Submission
    second: Submission
    difficulty: str
    kind: str


def read_points(path: Path) -> list[Submission]:
    """Submissions of `innoeval_points.jsonl`.

    Raises ConfigurationError for a file that is not what its name says.
    """
    return [_submission(record, None, path) for record in json_lines(path)]


def read_groups(path: Path) -> list[SubmissionGroup]:
    """Groups of `innoeval_groups.json`: the query and its matches.

    Raises ConfigurationError as `read_points`.
    """
    groups, names = [], GroupNames()
    for record in json_list(path):
        query, matches = record.get("query"), record.get("matches")
        if not isinstance(query, Mapping) or not isinstance(matches, Mapping):
            raise ConfigurationError(
                f"{path}: an entry has no query with matches: is it the file its name says?"
            )
        members = [_submission(query, _word(record.get("query_category")), path)]
        members += [
            _submission(_inner(match, path), label, path) for label, match in matches.items()
        ]
        groups.append(SubmissionGroup(names.unique(members[0].idea.idea_id), _each_once(members)))
    return groups


def read_pairs(path: Path, difficulty: str) -> list[SubmissionPair]:
    """Pairs of one file. Raises ConfigurationError as `read_points`."""
    return [
        _pair(record, number, difficulty, path)
        for number, record in enumerate(json_list(path), start=1)
    ]


def unique_ideas(submissions: Iterable[Submission]) -> list[Idea]:
    """Every idea once, in order of first appearance: one submission stands in several groups and
    pairs.
    """
    return list({submission.idea.idea_id: submission.idea for submission in submissions}.values())


def connected(contests: Mapping[str, Sequence[Submission]]) -> dict[str, str]:
    """By contest the cluster it is in: contests that share a submission, directly or through
    others, are one cluster. They are not independent, so intervals draw whole clusters.
    """
    joined = DisjointSet()
    for members in contests.values():
        names = [str(one.idea.idea_id) for one in members]
        for name in names:
            joined.add(name)
            joined.merge(names[0], name)
    return {contest: joined[str(members[0].idea.idea_id)] for contest, members in contests.items()}


def linked_submissions(folder: Path, submissions: Sequence[Submission]) -> dict[str, str]:
    """By submission the cluster it is in: those that stand in one group or pair of the files in
    `folder`, directly or through others. A file that is not there links nothing.
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
    found = connected(contests)
    return {str(one.idea.idea_id): found[str(one.idea.idea_id)] for one in submissions}


def _pair(record: Record, number: int, difficulty: str, path: Path) -> SubmissionPair:
    sides = [record.get("paper_a"), record.get("paper_b")]
    first, second = (_submission(_inner(side, path), None, path) for side in sides)
    kind = _word(record.get("pair_type")) or ""
    return SubmissionPair(
        f"{difficulty}:{number}:{first.idea.idea_id}:{second.idea.idea_id}",
        first,
        second,
        difficulty,
        kind,
    )


def _submission(record: Record, label: str | None, path: Path) -> Submission:
    paper_id = _word(record.get("paper_id")) or _word(record.get("id"))
    if paper_id is None:
        raise ConfigurationError(
            f"{path}: a submission has no paper_id: is it the file its name says?"
        )
    title, abstract = text_of(record, "title", path), text_of(record, "abstract", path)
    idea = Idea(
        idea_id=IdeaId(paper_id), title=title, text=f"# {title}\n\n{abstract}", cutoff_date=CUTOFF
    )
    said = _word(record.get("decision")) or label
    return Submission(idea, decision_of(said) if said is not None else None)


def _inner(value: object, path: Path) -> Record:
    paper = value.get("paper", value) if isinstance(value, Mapping) else None
    if not isinstance(paper, Mapping):
        raise ConfigurationError(
            f"{path}: an entry holds no submission: is it the file its name says?"
        )
    return paper


def _each_once(members: list[Submission]) -> tuple[Submission, ...]:
    return tuple({member.idea.idea_id: member for member in members}.values())


def _word(value: object) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None
