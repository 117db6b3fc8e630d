"""Creation of one version of one idea (OmniScientist, section 3.3)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.outcome import Unscored
from schemas.reasons import Reason
from schemas.works.ideation import FindingAnswer, IdeaVersion, KeywordRelation, Move
from schemas.works.ideation_run import IdeationParameters, Slot
from tasks.embeddings import Embedder
from tasks.embeddings.clusters import clusters_by_count
from tasks.ideation.network import Concept, ConceptNetwork, Link
from tasks.ideation.stacks import check_answers
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
    """A concept linked to a keyword. Without common papers, `bridges` and papers about one."""

    link: Link
    bridges: tuple[Concept, ...]
    papers: tuple[PaperRecord, ...]

    @property
    def passages(self) -> tuple[str, ...]:
        """Return title, year and the sentences nearest to the concepts, for each paper."""
        names = (self.link.first, self.link.second, *self.bridges)
        query = " ".join(concept.name for concept in names)
        passages = []
        for paper in self.papers:
            text, _ = nearest_sentences(query, paper.abstract or "", _WORDS_OF_A_PAPER)
            passages.append(f"{paper.title} ({paper.year or 'no year'}). {text}".strip())
        return tuple(passages)


def links_of(
    network: ConceptNetwork,
    keywords: Sequence[Concept],
    parameters: IdeationParameters,
    without: Collection[str] = (),
) -> list[Link]:
    """Return links to other concepts, missing and existing ones in turn, without duplicates.

    Concepts that only add or drop words of a keyword are skipped, and so are those in `without`.
    """
    link_lists: list[Iterable[Link]] = []
    for keyword in keywords:
        link_lists.append(network.missing_links(keyword, parameters.missing_links_per_keyword))
        link_lists.append(network.neighbours(keyword, parameters.neighbours_per_keyword))
    in_turn = (link for link in chain.from_iterable(zip_longest(*link_lists)) if link is not None)
    link_of_concept: dict[int, Link] = {}
    for link in in_turn:
        other = link.second
        if other.name not in without and not any(_same(other, keyword) for keyword in keywords):
            link_of_concept.setdefault(other.concept_id, link)
    return list(link_of_concept.values())


def _same(one: Concept, other: Concept) -> bool:
    """Return whether all stems of one occur in the other: tactile sensor, tactile sensing."""

    def is_within(some: Collection[str], others: Collection[str]) -> bool:
        return all(any(has_one_root(stem, other) for other in others) for stem in some)

    def has_one_root(stem: str, other: str) -> bool:
        # Stems of related nouns and verbs differ at their ends.
        shorter_stem, longer_stem = sorted((stem, other), key=len)
        is_root = len(shorter_stem) >= _LEAST_ROOT and longer_stem.startswith(shorter_stem)
        return stem == other or is_root

    first, second = (specific_stems(each.name) for each in (one, other))
    return is_within(first, second) or is_within(second, first)


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
class VersionResult:
    version: IdeaVersion
    relations: tuple[KeywordRelation, ...] = ()
    answers: tuple[FindingAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionTools:
    engine: Engine
    network: ConceptNetwork
    embedder: Embedder
    parameters: IdeationParameters
    seeds: Mapping[IdeaId, Idea]


@dataclass(frozen=True, slots=True)
class _Choice:
    """The keyword chosen, if any, and the relations of the candidates."""

    candidates: Sequence[Candidate]
    relation_of: dict[str, str]
    chosen: Candidate | None
    replaced: str | None
    reason: str


async def make_version(slot: Slot, tools: VersionTools) -> VersionResult:
    """Make the next version of an idea; a failed call gives a version with a reason."""
    keywords = _keywords(slot, tools.seeds[slot.seed_id], tools.network)
    if not keywords:
        detail = "it names no concept that papers of the snapshot name"
        return failed_version(slot, Reason.NOTHING_TO_JUDGE, detail)
    names = tuple(concept.name for concept in keywords)
    cluster, candidate_list = await _candidates(slot, keywords, tools)
    if slot.move is not Move.REVISE and not candidate_list:
        detail = "papers name no concept next to its concepts"
        return VersionResult(_unscored(slot, names, Reason.NO_EVIDENCE, detail))
    if not verifies(tools.engine):
        return _lead(slot, cluster, candidate_list)
    choice = _Choice(candidate_list, {}, None, None, "")
    if slot.move is not Move.REVISE:
        answer = await _choose(slot, names, candidate_list, tools)
        if isinstance(answer, Unscored):
            version = _unscored(
                slot, names, answer.reason, answer.detail, provenance=answer.provenance
            )
            return VersionResult(version)
        choice = answer
        if choice.chosen is None and slot.parent is not None:
            slot = replace(slot, move=Move.REVISE)
    result = await _write(slot, names, choice, tools)
    return VersionResult(replace(result.version, cluster=cluster), result.relations, result.answers)


def failed_version(slot: Slot, reason: Reason, detail: str) -> VersionResult:
    return VersionResult(_unscored(slot, (), reason, detail))


def _keywords(slot: Slot, seed: Idea, network: ConceptNetwork) -> list[Concept]:
    if slot.parent is not None:
        concept_lists = (network.named_in(name) for name in slot.parent.keywords)
        return [concept for concepts in concept_lists for concept in concepts[:1]]
    concepts = network.named_in(f"{seed.title}. {seed.text}")
    distinct = list({concept.concept_id: concept for concept in concepts}.values())
    # The narrowest concepts are the most specific.
    narrow = sorted(distinct, key=lambda concept: concept.paper_count)[:2]
    return [concept for concept in distinct if concept in narrow]


async def _candidates(
    slot: Slot, keywords: Sequence[Concept], tools: VersionTools
) -> tuple[int | None, list[Candidate]]:
    parameters = tools.parameters
    if slot.move is Move.REVISE:
        return None, []
    links, cluster = links_of(tools.network, keywords, parameters, slot.taken), None
    if links and slot.parent is None:
        # The first versions of a seed's ideas take different clusters of new concepts.
        clusters = {0: links}
        if len(links) > 1 and parameters.per_seed > 1:
            vectors = await tools.embedder.embed([link.second.name for link in links])
            labels = clusters_by_count(vectors, parameters.per_seed, "average", "cosine")
            clusters = {}
            for link, label in zip(links, labels, strict=True):
                clusters.setdefault(label, []).append(link)
        place = (slot.slot - 1) % len(clusters)
        links, cluster = list(clusters.values())[place], place + 1
    return cluster, [
        _candidate(tools.network, link, parameters.papers_per_relation)
        for link in links[: parameters.candidates_shown]
    ]


async def _choose(
    slot: Slot, names: tuple[str, ...], candidate_list: Sequence[Candidate], tools: VersionTools
) -> _Choice | Unscored:
    keys = {f"C{number}": each for number, each in enumerate(candidate_list, start=1)}
    replaces = slot.move is Move.REPLACE_KEYWORD
    outcome = await tools.engine.run(
        IDEATE_KEYWORD,
        KeywordInput(
            seed=tools.seeds[slot.seed_id].text,
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
    relation_of = {each.candidate: each.relation for each in reply.relations}
    if not reply.chosen.strip():
        return _Choice(candidate_list, relation_of, None, None, reply.reason)
    if reply.chosen not in keys:
        detail = f"it chose {reply.chosen!r}, which is not in the prompt"
        return Unscored(Reason.REPLY_UNPARSABLE, detail, outcome.provenance)
    replaced_name = next((name for name in names if name.lower() == reply.replaced.lower()), None)
    if replaces and replaced_name is None:
        replaced_name = names[-1]
    return _Choice(
        candidates=candidate_list,
        relation_of=relation_of,
        chosen=keys[reply.chosen],
        replaced=replaced_name if replaces else None,
        reason=reply.reason,
    )


async def _write(
    slot: Slot, names: tuple[str, ...], choice: _Choice, tools: VersionTools
) -> VersionResult:
    candidate = choice.chosen
    added_keyword = candidate.link.second.name if candidate is not None else None
    kept_keywords = tuple(name for name in names if name != choice.replaced)
    keywords = (*kept_keywords, added_keyword) if added_keyword is not None else kept_keywords
    relations = _relations(slot, choice)
    parent = slot.parent
    outcome = await tools.engine.run(
        IDEATE_PROPOSAL,
        ProposalInput(
            seed=tools.seeds[slot.seed_id].text,
            keywords=keywords,
            added=added_keyword or "",
            relations=tuple(
                f"{each.keyword} and {each.neighbour}: {each.relation}"
                for each in relations
                if each.relation
            ),
            papers=candidate.passages if candidate is not None else (),
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
        "added_keyword": added_keyword,
        "replaced_keyword": choice.replaced,
        "reason": choice.reason,
        "provenance": outcome.provenance,
    }
    if isinstance(outcome, Unscored):
        version = _unscored(slot, keywords, outcome.reason, outcome.detail, **about)
        return VersionResult(version, relations)
    reply: ProposalReply = outcome.value
    headed_parts = {
        "Background": reply.background,
        "Problem": reply.problem,
        "Method": reply.method,
        "Experiment": reply.experiment,
        "What would show it to be wrong": reply.falsifier,
    }
    sections = (f"## {heading}\n\n{body}" for heading, body in headed_parts.items())
    text = "\n\n".join((f"# {reply.title}", *sections))
    columns = {"title", "problem", "method", "experiment", "falsifier"}
    version = _version(slot, keywords, text=text, **reply.model_dump(include=columns), **about)
    if parent is None:
        return VersionResult(version, relations)
    answers = check_answers(slot.version_id, reply.answers, slot.findings, text, parent.text or "")
    if not any(answer.answered for answer in answers):
        details = "; ".join(f"{each.finding_key}: {each.detail}" for each in answers)
        version = replace(
            version,
            dropped_reason=Reason.FINDING_UNANSWERED,
            dropped_detail=details or "it names no finding",
        )
    return VersionResult(version, relations, answers)


def _relations(slot: Slot, choice: _Choice) -> tuple[KeywordRelation, ...]:
    return tuple(
        KeywordRelation(
            version_id=slot.version_id,
            keyword=each.link.first.name,
            neighbour=each.link.second.name,
            shared_count=each.link.shared_count,
            first_day=each.link.first_day,
            score_0_to_1=each.link.score,
            relation=choice.relation_of.get(f"C{number}", ""),
            paper_ids=tuple(paper.paper_id for paper in each.papers),
            bridges=tuple(concept.name for concept in each.bridges),
            chosen=each is choice.chosen,
        )
        for number, each in enumerate(choice.candidates, start=1)
    )


def _lead(slot: Slot, cluster: int | None, candidate_list: Sequence[Candidate]) -> VersionResult:
    """Make a lead without a model: a pair of concepts that no or few papers name together."""
    missing = [each for each in candidate_list if not each.link.shared_count]
    candidate = (missing or list(candidate_list))[0]
    link, until = candidate.link, f" until {slot.cutoff_date}" if slot.cutoff_date else ""
    opening = f"{link.shared_count:,} papers name" if link.shared_count else "No paper names"
    bridges = ", ".join(concept.name for concept in candidate.bridges)
    lines = [
        f"{opening} {link.first.name} and {link.second.name} together{until}.",
        *([f"Papers name both with {bridges}."] if bridges else []),
        *(f"- {passage}" for passage in candidate.passages),
    ]
    choice = _Choice(candidate_list, {}, candidate, None, "")
    slot = replace(slot, move=Move.LEAD)
    version = _version(
        slot,
        (link.first.name, link.second.name),
        title=f"{link.first.name} and {link.second.name}",
        text="\n".join(lines),
        added_keyword=link.second.name,
        cluster=cluster,
    )
    return VersionResult(version, _relations(slot, choice))


def _version(slot: Slot, keywords: Collection[str], **fields: object) -> IdeaVersion:
    parent = slot.parent
    values = {
        "version_id": slot.version_id,
        "seed_id": slot.seed_id,
        "slot": slot.slot,
        "round": slot.round,
        "parent_id": parent.version_id if parent is not None else None,
        "move": slot.move,
        "keywords": tuple(keywords),
        "cutoff_date": slot.cutoff_date,
    }
    return IdeaVersion.model_validate(values | fields)


def _unscored(
    slot: Slot, keywords: Collection[str], reason: Reason, detail: str, **fields: object
) -> IdeaVersion:
    return _version(
        slot, keywords, text=None, unscored_reason=reason, unscored_detail=detail, **fields
    )
