"""One version of one idea: explore, expand, write or revise (OmniScientist, section 3.3)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from schemas.base import replace
from schemas.outcome import Unscored
from schemas.reasons import Reason
from schemas.works.ideation import FindingAnswer, IdeaVersion, KeywordRelation, Move
from schemas.works.ideation_run import IdeationParameters, Slot
from tasks.embeddings import Embedder
from tasks.embeddings.clusters import clusters_by_count
from tasks.ideation.network import Concept, ConceptNetwork, Link
from tasks.ideation.stacks import checked_answers
from tasks.ideation.steps import (
    IDEATE_KEYWORD,
    IDEATE_PROPOSAL,
    KeywordInput,
    KeywordReply,
    ProposalInput,
    ProposalReply,
    ShownCandidate,
    ShownFinding,
    ShownVersion,
)
from tasks.judging.step import Engine
from tasks.judging.verifying import verifies
from tasks.literature.snapshot.records import PaperRecord
from tasks.text.phrases import specific_stems
from tasks.text.words import nearest_sentences

MOST_BRIDGES = 3
_WORDS_OF_A_PAPER = 60
_LEAST_ROOT = 4  # characters


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept beside a keyword. `bridges` and papers that name one, where no paper names both."""

    link: Link
    bridges: tuple[Concept, ...]
    papers: tuple[PaperRecord, ...]

    @property
    def passages(self) -> tuple[str, ...]:
        """Of each paper its title, year and what of its abstract is nearest to both concepts."""
        names = (self.link.first, self.link.second, *self.bridges)
        asked = " ".join(concept.name for concept in names)
        return tuple(passage_of(paper, asked) for paper in self.papers)


def passage_of(paper: PaperRecord, asked: str) -> str:
    said, _ = nearest_sentences(asked, paper.abstract or "", _WORDS_OF_A_PAPER)
    return f"{paper.title} ({paper.year or 'no year'}). {said}".strip()


def links_of(
    network: ConceptNetwork,
    keywords: Sequence[Concept],
    parameters: IdeationParameters,
    without: Collection[str] = (),
) -> list[Link]:
    """Links of the keywords to other concepts, existing and missing ones in turn, each concept
    once. One that only adds to a keyword's words, or lacks some, leads nowhere; so does one of
    those named in `without`.
    """
    found: list[Iterable[Link]] = []
    for keyword in keywords:
        found.append(network.missing_links(keyword, parameters.missing_links_per_keyword))
        found.append(network.neighbours(keyword, parameters.neighbours_per_keyword))
    in_turn = (link for link in chain.from_iterable(zip_longest(*found)) if link is not None)
    known: dict[int, Link] = {}
    for link in in_turn:
        other = link.second
        if other.name not in without and not any(_same(other, keyword) for keyword in keywords):
            known.setdefault(other.concept_id, link)
    return list(known.values())


def _same(one: Concept, other: Concept) -> bool:
    """Return whether one says nothing that the other does not: `tactile sensor` and `tactile
    sensing`.
    """
    first, second = (specific_stems(each.name) for each in (one, other))
    return _within(first, second) or _within(second, first)


def _within(some: Collection[str], others: Collection[str]) -> bool:
    """Return whether each stem begins as one of the others does: the stems of a noun and of a verb
    differ at their ends.
    """
    return all(any(_one_root(stem, other) for other in others) for stem in some)


def _one_root(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return one == other or (len(shorter) >= _LEAST_ROOT and longer.startswith(shorter))


async def clustered(links: Sequence[Link], count: int, embedder: Embedder) -> list[list[Link]]:
    """At most `count` clusters of links by what the new concepts are called,
    in the links' order.
    """
    if len(links) <= 1 or count <= 1:
        return [list(links)] if links else []
    vectors = await embedder.embed([link.second.name for link in links])
    labels = clusters_by_count(vectors, count, "average", "cosine")
    found: dict[int, list[Link]] = {}
    for link, label in zip(links, labels, strict=True):
        found.setdefault(label, []).append(link)
    return list(found.values())


def candidates(
    network: ConceptNetwork, links: Sequence[Link], parameters: IdeationParameters
) -> list[Candidate]:
    return [
        _candidate(network, link, parameters.papers_per_relation)
        for link in links[: parameters.candidates_shown]
    ]


def _candidate(network: ConceptNetwork, link: Link, paper_count: int) -> Candidate:
    if link.shared_count:
        papers = network.papers_of([link.first, link.second], paper_count)
        return Candidate(link, (), tuple(papers))
    bridges = network.bridges(link.first, link.second, MOST_BRIDGES)
    if not bridges:
        return Candidate(link, (), ())
    sides = [network.papers_of([bridges[0], end], 1) for end in (link.first, link.second)]
    papers = list({paper.paper_id: paper for side in sides for paper in side}.values())
    return Candidate(link, tuple(bridges), tuple(papers))


@dataclass(frozen=True, slots=True)
class Made:
    version: IdeaVersion
    relations: tuple[KeywordRelation, ...] = ()
    answers: tuple[FindingAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionTools:
    engine: Engine
    network: ConceptNetwork
    embedder: Embedder
    parameters: IdeationParameters


@dataclass(frozen=True, slots=True)
class _Choice:
    """A keyword that was chosen, or what stands in its place where none was asked for."""

    candidates: Sequence[Candidate]
    told: dict[str, str]
    chosen: Candidate | None
    replaced: str | None
    reason: str


async def make_version(slot: Slot, tools: VersionTools) -> Made:
    """The next version of an idea. What an engine does not answer is a version with a reason."""
    keywords = _keywords(slot, tools.network)
    if not keywords:
        detail = "it names no concept that papers of the snapshot name"
        return unmade(slot, Reason.NOTHING_TO_JUDGE, detail)
    names = tuple(concept.name for concept in keywords)
    cluster, found = await _candidates(slot, keywords, tools)
    if slot.move is not Move.REVISE and not found:
        detail = "papers name nothing beside its concepts"
        return Made(_unscored(slot, names, Reason.NO_EVIDENCE, detail))
    if not verifies(tools.engine):
        return _lead(slot, cluster, found)
    choice = _Choice(found, {}, None, None, "")
    if slot.move is not Move.REVISE:
        answer = await _chosen(slot, names, found, tools)
        if isinstance(answer, Unscored):
            return Made(_unscored(slot, names, answer.reason, answer.detail, answer))
        choice = answer
        if choice.chosen is None and slot.parent is not None:
            slot = replace(slot, move=Move.REVISE)
    made = await _written(slot, names, choice, tools)
    return Made(replace(made.version, cluster=cluster), made.relations, made.answers)


def unmade(slot: Slot, reason: Reason, detail: str) -> Made:
    return Made(_unscored(slot, (), reason, detail))


def _keywords(slot: Slot, network: ConceptNetwork) -> list[Concept]:
    if slot.parent is not None:
        found = (network.named_in(name) for name in slot.parent.keywords)
        return [concept for named in found for concept in named[:1]]
    named = network.named_in(f"{slot.seed.title}. {slot.seed.text}")
    once = list({concept.concept_id: concept for concept in named}.values())
    # The narrowest say most about what is meant.
    narrow = sorted(once, key=lambda concept: concept.paper_count)[:2]
    return [concept for concept in once if concept in narrow]


async def _candidates(
    slot: Slot, keywords: Sequence[Concept], tools: VersionTools
) -> tuple[int | None, list[Candidate]]:
    parameters = tools.parameters
    if slot.move is Move.REVISE:
        return None, []
    links = links_of(tools.network, keywords, parameters, slot.taken)
    if slot.parent is not None:
        return None, candidates(tools.network, links, parameters)
    clusters = await clustered(links, parameters.per_seed, tools.embedder)
    if not clusters:
        return None, []
    place = (slot.slot - 1) % len(clusters)
    return place + 1, candidates(tools.network, clusters[place], parameters)


async def _chosen(
    slot: Slot, names: tuple[str, ...], found: Sequence[Candidate], tools: VersionTools
) -> _Choice | Unscored:
    keys = {f"C{number}": each for number, each in enumerate(found, start=1)}
    replaces = slot.move is Move.REPLACE_KEYWORD
    outcome = await tools.engine.run(
        IDEATE_KEYWORD,
        KeywordInput(
            seed=slot.seed.text,
            keywords=names,
            replaced_count=int(replaces),
            findings=tuple(finding.text for finding in slot.findings),
            candidates=tuple(
                ShownCandidate(
                    key=key,
                    keyword=each.link.first.name,
                    neighbour=each.link.second.name,
                    shared_count=each.link.shared_count,
                    bridges=tuple(concept.name for concept in each.bridges),
                    papers=each.passages,
                )
                for key, each in keys.items()
            ),
        ),
    )
    if isinstance(outcome, Unscored):
        return outcome
    reply: KeywordReply = outcome.value
    told = {each.candidate: each.relation for each in reply.relations}
    if not reply.chosen.strip():
        return _Choice(found, told, None, None, reply.reason)
    if reply.chosen not in keys:
        detail = f"it chose {reply.chosen!r}, which it was not shown"
        return Unscored(Reason.REPLY_UNPARSABLE, detail, outcome.provenance)
    replaced = next((name for name in names if name.lower() == reply.replaced.lower()), None)
    if replaces and replaced is None:
        replaced = names[-1]
    return _Choice(
        candidates=found,
        told=told,
        chosen=keys[reply.chosen],
        replaced=replaced if replaces else None,
        reason=reply.reason,
    )


async def _written(
    slot: Slot, names: tuple[str, ...], choice: _Choice, tools: VersionTools
) -> Made:
    chosen = choice.chosen
    added = chosen.link.second.name if chosen is not None else None
    kept = tuple(name for name in names if name != choice.replaced)
    keywords = (*kept, added) if added is not None else kept
    relations = _relations(slot, choice)
    parent = slot.parent
    outcome = await tools.engine.run(
        IDEATE_PROPOSAL,
        ProposalInput(
            seed=slot.seed.text,
            keywords=keywords,
            added=added or "",
            relations=tuple(
                f"{each.keyword} and {each.neighbour}: {each.relation}"
                for each in relations
                if each.relation
            ),
            papers=chosen.passages if chosen is not None else (),
            stack=tuple(
                ShownVersion(title=version.title, keywords=version.keywords)
                for version in slot.stack
            ),
            revision=len(slot.stack),
            parent=(parent.text or "") if parent is not None else "",
            findings=tuple(
                ShownFinding(key=each.key, kind=each.kind.value.replace("_", " "), text=each.text)
                for each in slot.findings
            ),
        ),
    )
    about = {
        "added_keyword": added,
        "replaced_keyword": choice.replaced,
        "reason": choice.reason,
        "provenance": outcome.provenance,
    }
    if isinstance(outcome, Unscored):
        lost = _unscored(slot, keywords, outcome.reason, outcome.detail)
        return Made(replace(lost, **about), relations)
    text = text_of(outcome.value)
    version = _version(
        slot,
        keywords,
        text=text,
        title=outcome.value.title,
        problem=outcome.value.problem,
        method=outcome.value.method,
        experiment=outcome.value.experiment,
        falsifier=outcome.value.falsifier,
        **about,
    )
    if parent is None:
        return Made(version, relations)
    answers = checked_answers(
        slot.version_id, outcome.value.answers, slot.findings, text, parent.text or ""
    )
    if not any(answer.answered for answer in answers):
        said = "; ".join(f"{each.finding_key}: {each.detail}" for each in answers)
        version = replace(
            version,
            dropped_reason=Reason.FINDING_UNANSWERED,
            dropped_detail=said or "it names no finding",
        )
    return Made(version, relations, answers)


def text_of(reply: ProposalReply) -> str:
    parts = {
        "Background": reply.background,
        "Problem": reply.problem,
        "Method": reply.method,
        "Experiment": reply.experiment,
        "What would show it to be wrong": reply.falsifier,
    }
    sections = (f"## {heading}\n\n{body}" for heading, body in parts.items())
    return "\n\n".join((f"# {reply.title}", *sections))


def _relations(slot: Slot, choice: _Choice) -> tuple[KeywordRelation, ...]:
    return tuple(
        KeywordRelation(
            version_id=slot.version_id,
            keyword=each.link.first.name,
            neighbour=each.link.second.name,
            shared_count=each.link.shared_count,
            first_day=each.link.first_day,
            score_0_to_1=each.link.score,
            relation=choice.told.get(f"C{number}", ""),
            paper_ids=tuple(paper.paper_id for paper in each.papers),
            bridges=tuple(concept.name for concept in each.bridges),
            chosen=each is choice.chosen,
        )
        for number, each in enumerate(choice.candidates, start=1)
    )


def _lead(slot: Slot, cluster: int | None, found: Sequence[Candidate]) -> Made:
    """Return what the offline engine has: a pair of concepts that no paper names together, or few
    do, and what there is of papers about it.
    """
    missing = [each for each in found if not each.link.shared_count]
    chosen = (missing or list(found))[0]
    link, until = chosen.link, f" until {slot.cutoff_date}" if slot.cutoff_date else ""
    named = f"{link.shared_count:,} papers name" if link.shared_count else "No paper names"
    through = ", ".join(concept.name for concept in chosen.bridges)
    lines = [
        f"{named} {link.first.name} and {link.second.name} together{until}.",
        *([f"Papers name both with {through}."] if through else []),
        *(f"- {passage}" for passage in chosen.passages),
    ]
    choice = _Choice(found, {}, chosen, None, "")
    slot = replace(slot, move=Move.LEAD)
    version = _version(
        slot,
        (link.first.name, link.second.name),
        title=f"{link.first.name} and {link.second.name}",
        text="\n".join(lines),
        added_keyword=link.second.name,
        cluster=cluster,
    )
    return Made(version, _relations(slot, choice))


def _version(slot: Slot, keywords: Collection[str], **fields: object) -> IdeaVersion:
    parent = slot.parent
    known = {
        "version_id": slot.version_id,
        "seed_id": slot.seed.idea_id,
        "slot": slot.slot,
        "round": slot.round,
        "parent_id": parent.version_id if parent is not None else None,
        "move": slot.move,
        "keywords": tuple(keywords),
        "cutoff_date": slot.cutoff_date,
    }
    return IdeaVersion.model_validate(known | fields)


def _unscored(
    slot: Slot,
    keywords: Collection[str],
    reason: Reason,
    detail: str,
    answer: Unscored | None = None,
) -> IdeaVersion:
    return _version(
        slot,
        keywords,
        text=None,
        unscored_reason=reason,
        unscored_detail=detail,
        provenance=answer.provenance if answer is not None else None,
    )
