"""Claims of a draft by key, with the SQL that reproduces each, and quoted works."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.choices import EngineChoice
from schemas.idea import Idea
from schemas.identifiers import PaperId, RunId
from schemas.judgement.soundness import Concern
from schemas.literature.naming import bib_keys, one_space
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.survey import Survey, heaviest
from schemas.text.patterns import bounded
from schemas.works.draft import DECLARATION_KEY, TITLE_KEY, ClaimKind, DraftClaim, DraftWork
from schemas.works.draft_run import StoredText
from schemas.works.experiment import Experiment, Finding, Role, Stage
from tasks.literature.versions import Works
from tasks.text.quotations import LEAST_CHARACTERS, normal, stands_in
from tasks.text.words import rank_sentences, sentences

_NOT_OF_A_KEY = bounded(r"[^a-z0-9_-]+")
_LONGEST_STEM = 60
FINDINGS = {
    Finding.SUPPORTED: "supported within this task",
    Finding.NOT_SUPPORTED: "not supported within this task",
    Finding.UNDECIDED: "undecided",
}
PROCEDURE = (
    "Every candidate runs on small data; the best of them run on full data, and the best of those,"
    " the parent and the baselines run on fresh data that chose nothing. Programs that are compared"
    " run on the same data with the same seeds, so a gain is a mean of differences of pairs, and"
    " its interval holds with 95 % confidence; where candidates are chosen among, it is corrected"
    " for their number. Programs run in a sandbox, and the metric is computed outside of it from what"
    " they leave."
)
"""Procedure of every experiment."""
TO_BE_SHOWN = "To be shown"


def number_shown(value: float) -> str:
    """Format a number with four significant digits; whole numbers in full."""
    if abs(value) >= 1000 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.4g}"


def stem_of(name: str) -> str:
    """Convert a name to the prefix of a key."""
    return _NOT_OF_A_KEY.sub("-", name.lower()).strip("-_")[:_LONGEST_STEM] or "x"


def literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def select(what: str, table: str, rows: Mapping[str, str], more: str = "") -> str:
    """Return SQL for readers to query the lake; values are quoted, all else is fixed."""
    condition = " and ".join(f"{name} = {literal(value)}" for name, value in rows.items())
    return f"select {what} from {table} where {condition}{more}"  # noqa: S608 -- nobody runs it here


@dataclass(slots=True)
class Claims:
    """Claims by key, in the order of collection."""

    by_key: dict[str, DraftClaim] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, float]:
        return {key: each.value for key, each in self.by_key.items() if each.value is not None}

    def number(self, key: str, means: str, value: float | None, query: str) -> None:
        """Add a figure; a missing value adds no claim."""
        if value is not None:
            self.add(key, ClaimKind.NUMBER, means, number_shown(value), value=value, query=query)

    def text(self, key: str, means: str, words: str | None, query: str = "") -> None:
        """Add words as stored in the lake; empty words add no claim."""
        if words and one_space(words):
            self.add(key, ClaimKind.TEXT, means, words, query=query)

    def gap(self, key: str, text: str) -> None:
        """Add a visible claim that something is unknown."""
        self.add(key, ClaimKind.GAP, "a gap", f"{TO_BE_SHOWN}: {text}")

    def add(self, key: str, kind: ClaimKind, means: str, text: str, **fields: Any) -> None:
        values = {"claim_key": key, "kind": kind, "means": means, "shown": one_space(text)}
        self.by_key[key] = DraftClaim.model_validate(values | fields)

    def free_stem(self, name: str, before: str = "") -> str:
        """Return a key prefix that no other claim has."""
        stem = base = f"{before}{stem_of(name)}"
        number = 1
        while any(key.startswith(f"{stem}.") for key in self.by_key):
            number += 1
            stem = f"{base}-{number}"
        return stem

    def under(self, stem: str) -> tuple[str, ...]:
        return tuple(key for key in self.by_key if key.startswith(f"{stem}."))


def add_idea(claims: Claims, idea: Idea, run_id: RunId | None) -> None:
    rows = {"run_id": run_id or "", "idea_id": idea.idea_id}
    parts = {"title": idea.title, "problem": idea.problem, "method": idea.method}
    parts["experiment"] = idea.experiment
    if not any((idea.problem, idea.method, idea.experiment)):
        parts["text"] = idea.text
    for name, text in parts.items():
        query = select(name, "ideas", rows) if run_id else ""
        claims.text(f"idea.{name}", f"the idea's {name}, as it was given", text, query)
    if TITLE_KEY not in claims.by_key:
        claims.text(TITLE_KEY, "the idea's identifier", idea.idea_id)


def add_concerns(claims: Claims, concerns: Iterable[Concern], idea: Idea, run_id: RunId) -> None:
    """Add objections to the plan: a reader's reasoning that a draft has to answer."""
    for concern in concerns:
        rows = {"run_id": run_id, "idea_id": idea.idea_id, "concern_id": concern.concern_id}
        claims.text(
            f"concern.{stem_of(concern.concern_id)}",
            "an objection that a machine reader raised to the plan",
            concern.point,
            select("point", "concerns", rows),
        )


def declare(claims: Claims, engine: EngineChoice) -> None:
    claims.text(
        DECLARATION_KEY,
        "what machines wrote",
        "This text was put together by Assay from stored rows, without a language model: its"
        " sentences are fixed, and numbers, quotations and texts of the idea are filled in."
        if engine.is_baseline
        else f"This text was written by a language model, {engine.text}, out of claims that Assay"
        " collected from stored rows. No person has confirmed it.",
    )


_OF_EXPERIMENT: Mapping[str, str] = {
    "proposed_count": "candidates proposed",
    "tried_count": "candidates that were run",
    "failed_count": "candidates that gave no score",
    "least_difference": "smallest difference worth having",
    "selected_gain": "gain of the best candidate over the parent, on the data it was chosen by",
    "selected_low": "lower end of that gain's interval, corrected for all tried",
    "selected_high": "upper end of that gain's interval, corrected for all tried",
    "baseline_gain": "gain of the best candidate over the strongest baseline, on fresh data",
    "baseline_low": "lower end of that gain's interval",
    "baseline_high": "upper end of that gain's interval",
    "permuted_mean": "its mean where the labels are permuted",
}
_OF_PROGRAM: Mapping[str, str] = {
    "mean": "mean of the metric on fresh data",
    "run_count": "runs of it",
    "gain": "gain over the parent",
    "gain_low": "lower end of the gain's interval",
    "gain_high": "upper end of the gain's interval",
}
_TEXTS: Mapping[str, str] = {
    "question": "what the experiment asks",
    "metric": "what is measured",
    "explanation": "what that is relative to, and what programs are given",
    "direction": "which way the metric is better",
    "because": "why this is found and no other",
    "environment": "interpreter and libraries",
    "baseline_id": "the strongest baseline",
    "best_program_id": "the candidate that was confirmed",
    "unscored_detail": "why nothing was measured",
}


def add_experiment(claims: Claims, run_id: RunId, experiment: Experiment) -> str:
    """Add every figure of an experiment; return the prefix of its keys."""
    stem = claims.free_stem(experiment.task_id)
    rows = {"run_id": run_id, "task_id": experiment.task_id}
    claims.text(f"{stem}.task", "the task", experiment.task_id)
    claims.text(f"{stem}.run", "the run of the experiment", run_id)
    for name, means in _TEXTS.items():
        text = getattr(experiment, name)
        query = select(name, "experiments", rows)
        claims.text(f"{stem}.{name}", means, str(text) if text else None, query)
    if experiment.finding is not None:
        claims.text(f"{stem}.finding", "what is found", FINDINGS[experiment.finding])
    for name, means in _OF_EXPERIMENT.items():
        query = select(name, "experiments", rows)
        claims.number(f"{stem}.{name}", means, getattr(experiment, name), query)
    for program in experiment.side_by_side:
        key_prefix = f"{stem}.{stem_of(program.program_id)}"
        row = rows | {"program_id": program.program_id}
        claims.text(f"{key_prefix}.name", "a program", program.program_id)
        means = "what who proposed it says that it does"
        query = select("rationale", "programs", row)
        claims.text(f"{key_prefix}.rationale", means, program.rationale, query)
        if program.role is not Role.CANDIDATE:  # those come with the task, so they can be parsed
            text = ast.get_docstring(ast.parse(program.source)) or ""
            claims.text(f"{key_prefix}.docstring", "what the program says of itself", text)
        values = ", ".join(f"{name} = {value}" for name, value in program.settings.items())
        claims.text(f"{key_prefix}.settings", "values that it was given", values or None)
        for name, means in _OF_PROGRAM.items():
            query = select(name, "programs", row)
            claims.number(f"{key_prefix}.{name}", means, getattr(program, name), query)
    fresh = [each for each in experiment.executions if each.stage is Stage.CONFIRMATION]
    query = select("count(*)", "executions", rows)
    claims.number(f"{stem}.executions", "executions", len(experiment.executions), query)
    query = select("count(*)", "executions", rows | {"stage": Stage.CONFIRMATION})
    claims.number(f"{stem}.fresh_executions", "executions on fresh data", len(fresh), query)
    claims.text(f"{stem}.procedure", "how candidates were tried and judged", PROCEDURE)
    low, high = experiment.baseline_low, experiment.baseline_high
    if low is not None and high is not None and low <= 0 <= high:
        claims.gap(
            f"{stem}.baseline_gap",
            f"that the candidate is better than what was known, {experiment.baseline_id}; the"
            " experiment does not tell them apart.",
        )
    worth = experiment.least_difference
    if low is not None and low > 0 and (experiment.baseline_gain or 0) < worth:
        claims.gap(
            f"{stem}.worth_gap",
            f"that the candidate's gain over {experiment.baseline_id} is worth having; it is less"
            " than the smallest difference that was called so beforehand.",
        )
    if experiment.finding is None:
        claims.gap(f"{stem}.gap", f"what the experiment asks; {experiment.unscored_detail}.")
    elif experiment.finding is Finding.UNDECIDED:
        claims.gap(f"{stem}.gap", "which way it goes; the experiment does not decide it.")
    return stem


def add_contradictions(claims: Claims, experiments: Iterable[tuple[str, Experiment]]) -> None:
    """Add a gap for experiments, with the prefixes of their keys, that contradict each other."""
    first: dict[str, tuple[str, Experiment]] = {}
    for stem, experiment in experiments:
        other, earlier_experiment = first.setdefault(experiment.task_id, (stem, experiment))
        new_finding, earlier_finding = experiment.finding, earlier_experiment.finding
        if new_finding is None or earlier_finding is None or new_finding is earlier_finding:
            continue
        claims.gap(
            f"{stem}.contradiction",
            f"which holds for {experiment.task_id}: one run finds it {FINDINGS[earlier_finding]}"
            f" ({claims.by_key[f'{other}.run'].shown}), another {FINDINGS[new_finding]}"
            f" ({claims.by_key[f'{stem}.run'].shown}).",
        )


MOST_WORKS = 24
MOST_QUOTES = 2
"""Quotes of one work."""
LONGEST_QUOTE_WORDS = 60
MOST_PASSAGE_WORDS = 700
"""Words of one work: a model reads them all, so many works must fit."""


@dataclass(frozen=True, slots=True)
class StoredWork:
    """A work with its stored text.

    Attributes:
        passage: text that may be quoted; empty if none is stored.
        group: its cluster.
        key: citation key of the user's bibliography; empty if it has none.
    """

    paper: Paper
    passage: str = ""
    group: str = ""
    key: str = ""


def works_of_survey(survey: Survey) -> list[StoredWork]:
    """Return the kept papers of a survey, heaviest first, with abstracts and quoted passages."""
    clusters = {cluster.cluster_id: cluster.name for cluster in survey.clusters}
    passages_of_paper: dict[str, list[str]] = {}
    for quote in survey.quotes:
        passages_of_paper.setdefault(quote.said_in_paper_id, []).append(quote.quote)
    return [
        StoredWork(
            paper.text,
            passage_of(paper.text, passages_of_paper.get(paper.paper_id, ()), survey.question),
            clusters.get(paper.cluster_id or "", ""),
        )
        for paper in heaviest(survey.papers)
    ]


def passage_of(paper: Paper, passages: Sequence[str], about: str) -> str:
    """Return the stored text of a paper: its abstract, and further passages nearest to `about`."""
    texts = [abstract] if (abstract := (paper.abstract or "").strip()) else []
    room = MOST_PASSAGE_WORDS - sum(len(each.split()) for each in texts)
    for _, passage in rank_sentences(about, list(dict.fromkeys(passages)), len(passages)):
        size = len(passage.split())
        if size <= room and not any(normal(passage) in normal(each) for each in texts):
            texts.append(passage)
            room -= size
    return "\n\n".join(texts)


def merge_works(groups: Iterable[Sequence[StoredWork]]) -> list[StoredWork]:
    """Merge works of several sources; the first key and passage of a work count."""
    merged_works: dict[str, StoredWork] = {}
    works = Works()
    for each in (work for group in groups for work in group):
        name = works.first_of(each.paper)
        earlier_work = merged_works.get(name)
        if earlier_work is None:
            merged_works[name] = each
        else:
            paper = earlier_work.paper if earlier_work.passage or not each.passage else each.paper
            merged_works[name] = StoredWork(
                paper,
                earlier_work.passage or each.passage,
                earlier_work.group or each.group,
                earlier_work.key or each.key,
            )
    return list(merged_works.values())


def works_by_key(works: Sequence[StoredWork]) -> dict[str, StoredWork]:
    used_keys = {work.key for work in works if work.key}
    new_keys = iter(bib_keys([work.paper for work in works if not work.key], used_keys))
    return {work.key or next(new_keys): work for work in works}


def add_works(claims: Claims, works: Mapping[str, StoredWork], about: str) -> None:
    """Add title and quotes near `about` for each work."""
    for key, work in works.items():
        stem, title = claims.free_stem(key, "work."), work.paper.title or "Untitled"
        claims.add(f"{stem}.title", ClaimKind.TEXT, "title of the work", title, cited_keys=(key,))
        means = f"what the work says, word for word{f' (on {work.group})' if work.group else ''}"
        for number, quote in enumerate(nearest_quotes(work.passage, about), start=1):
            claims.add(
                f"{stem}.quote" if number == 1 else f"{stem}.quote-{number}",
                ClaimKind.QUOTE,
                means,
                f"“{quote}”",
                cited_keys=(key,),
                passage=work.passage,
            )


def nearest_quotes(passage: str, about: str) -> list[str]:
    """Return sentences of `passage` nearest to `about`, in order; empty if none can be quoted."""
    quotable_sentences = [
        each
        for each in dict.fromkeys(sentences(passage))
        if len(each) >= LEAST_CHARACTERS
        and len(each.split()) <= LONGEST_QUOTE_WORDS
        and stands_in(each, passage)
    ]
    nearest_sentences = {
        sentence for _, sentence in rank_sentences(about, quotable_sentences, MOST_QUOTES)
    }
    return [each for each in quotable_sentences if each in nearest_sentences]


def draft_works(works: Mapping[str, StoredWork]) -> tuple[DraftWork, ...]:
    columns = set(DraftWork.model_fields) - {"cite_key"}
    return tuple(
        DraftWork(cite_key=key, **work.paper.model_dump(include=columns))
        for key, work in sorted(works.items())
    )


def contexts_of(links: Iterable[CitationEdge]) -> list[tuple[PaperId, str]]:
    return [(link.citing_paper_id, text) for link in links for text in link.contexts or ()]


def stored_texts(
    papers: Iterable[Paper], passages: Iterable[tuple[PaperId, str]]
) -> list[StoredText]:
    """Return abstracts and passages that a draft must not repeat, with titles."""
    titles: dict[PaperId, str] = {}
    pairs: dict[tuple[str, str], None] = {}
    for paper in papers:
        titles[paper.paper_id] = paper.title
        pairs[paper.title, paper.abstract or ""] = None
    pairs |= dict.fromkeys((titles.get(paper_id, ""), text) for paper_id, text in passages)
    return [StoredText(title=title, text=text) for title, text in pairs if text.strip()]
