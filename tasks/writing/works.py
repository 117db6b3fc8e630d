"""Works that a draft cites: under which keys, and what of them is quoted, word for word."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schemas.identifiers import PaperId
from schemas.literature.naming import bib_keys
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.survey import Survey, heaviest
from schemas.works.draft import ClaimKind, DraftWork
from schemas.works.draft_run import StoredText
from tasks.literature.versions import Works
from tasks.text.quotations import LEAST_CHARACTERS, normal, stands_in
from tasks.text.words import rank_sentences, sentences
from tasks.writing.claims import Claims

MOST_WORKS = 24
MOST_QUOTES = 2
"""Of one work."""
LONGEST_QUOTE_WORDS = 60
MOST_PASSAGE_WORDS = 700
"""Of one work: a model reads all of it, so that no more is kept than fits many works."""


@dataclass(frozen=True, slots=True)
class Known:
    """A work with what is stored of it.

    Attributes:
        passage: a text out of which it may be quoted; empty: none is stored.
        group: what it belongs to.
        key: how its reader cites it already; empty: it has no key yet.
    """

    paper: Paper
    passage: str = ""
    group: str = ""
    key: str = ""


def known_of_survey(survey: Survey) -> list[Known]:
    """The kept papers of a survey, heaviest first, with their abstracts and all passages of theirs
    that it quotes.
    """
    clusters = {cluster.cluster_id: cluster.name for cluster in survey.clusters}
    said: dict[str, list[str]] = {}
    for quote in survey.quotes:
        said.setdefault(quote.said_in_paper_id, []).append(quote.quote)
    return [
        Known(
            paper.text,
            passage_of(paper.text, said.get(paper.paper_id, ()), survey.question),
            clusters.get(paper.cluster_id or "", ""),
        )
        for paper in heaviest(survey.papers)
    ]


def passage_of(paper: Paper, passages: Sequence[str], about: str) -> str:
    """The stored text of a paper: its abstract, and whole passages of it that say more, those
    nearest to `about` first, as far as there is room.
    """
    kept = [abstract] if (abstract := (paper.abstract or "").strip()) else []
    room = MOST_PASSAGE_WORDS - sum(len(each.split()) for each in kept)
    for _, passage in rank_sentences(about, list(dict.fromkeys(passages)), len(passages)):
        size = len(passage.split())
        if size <= room and not any(normal(passage) in normal(each) for each in kept):
            kept.append(passage)
            room -= size
    return "\n\n".join(kept)


def joined(groups: Iterable[Sequence[Known]]) -> list[Known]:
    """Works of several sources, each once; a key and a passage are taken wherever they are."""
    found: dict[str, Known] = {}
    works = Works()
    for each in (known for group in groups for known in group):
        name = works.first_of(each.paper)
        before = found.get(name)
        if before is None:
            found[name] = each
        else:
            paper = before.paper if before.passage or not each.passage else each.paper
            found[name] = Known(
                paper,
                before.passage or each.passage,
                before.group or each.group,
                before.key or each.key,
            )
    return list(found.values())


def keyed(works: Sequence[Known]) -> dict[str, Known]:
    """Works by the keys they are cited under."""
    taken = {work.key for work in works if work.key}
    made = iter(bib_keys([work.paper for work in works if not work.key], taken))
    return {work.key or next(made): work for work in works}


def add_works(claims: Claims, works: Mapping[str, Known], about: str) -> None:
    """Of each work its title, and sentences that lie near `about`, as they stand there."""
    for key, work in works.items():
        stem = claims.free_stem(key, "work.")
        claims.about_work(
            f"{stem}.title",
            ClaimKind.TEXT,
            "title of the work",
            work.paper.title or "Untitled",
            cited=key,
        )
        for number, quote in enumerate(nearest_quotes(work.passage, about), start=1):
            claims.about_work(
                f"{stem}.quote" if number == 1 else f"{stem}.quote-{number}",
                ClaimKind.QUOTE,
                f"what the work says, word for word{f' (on {work.group})' if work.group else ''}",
                f"“{quote}”",
                cited=key,
                passage=work.passage,
            )


def nearest_quotes(passage: str, about: str) -> list[str]:
    """Sentences of `passage` nearest to `about`, in the order in which they stand there; empty: it
    holds none fit to be quoted.
    """
    fit = [
        each
        for each in dict.fromkeys(sentences(passage))
        if len(each) >= LEAST_CHARACTERS
        and len(each.split()) <= LONGEST_QUOTE_WORDS
        and stands_in(each, passage)
    ]
    nearest = {sentence for _, sentence in rank_sentences(about, fit, MOST_QUOTES)}
    return [each for each in fit if each in nearest]


def draft_works(works: Mapping[str, Known]) -> tuple[DraftWork, ...]:
    """The bibliography, in the order of its keys."""
    columns = set(DraftWork.model_fields) - {"cite_key"}
    return tuple(
        DraftWork(cite_key=key, **work.paper.model_dump(include=columns))
        for key, work in sorted(works.items())
    )


def contexts_of(links: Iterable[CitationEdge]) -> list[tuple[PaperId, str]]:
    """Passages of citing papers."""
    return [(link.citing_paper_id, text) for link in links for text in link.contexts or ()]


def stored_texts(
    papers: Iterable[Paper], passages: Iterable[tuple[PaperId, str]]
) -> list[StoredText]:
    """What a draft must not repeat, with the titles of the papers: abstracts, and passages."""
    titles: dict[PaperId, str] = {}
    pairs: dict[tuple[str, str], None] = {}
    for paper in papers:
        titles[paper.paper_id] = paper.title
        pairs[paper.title, paper.abstract or ""] = None
    pairs |= dict.fromkeys((titles.get(paper_id, ""), text) for paper_id, text in passages)
    return [StoredText(title=title, text=text) for title, text in pairs if text.strip()]
