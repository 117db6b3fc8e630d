"""Works that only a third one joins: neither cites the other, and the third speaks of both."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from schemas.identifiers import PaperId
from schemas.paper import CitationEdge
from schemas.survey_review import SurveyJoin
from tasks.survey.quoting import LONGEST_QUOTE

MOST_JOINS = 30
MOST_OF_A_PASSAGE = 8
"""Works of one passage that are paired, the heaviest first: a list of citations joins little."""


def joins_of(heaviest: Sequence[PaperId], links: Sequence[CitationEdge]) -> tuple[SurveyJoin, ...]:
    """The pairs among `heaviest` that only a third joins, the heaviest first, each once.

    A passage too long to be quoted whole joins nothing.
    """
    place = {paper_id: number for number, paper_id in enumerate(heaviest)}
    cited: dict[tuple[PaperId, str], set[PaperId]] = defaultdict(set)
    direct = {frozenset((link.citing_paper_id, link.cited_paper_id)) for link in links}
    for link in links:
        for context in link.contexts or ():
            if link.cited_paper_id in place and 0 < len(context.strip()) <= LONGEST_QUOTE:
                cited[link.citing_paper_id, context].add(link.cited_paper_id)
    found: dict[tuple[PaperId, PaperId], SurveyJoin] = {}
    for (third, passage), works in cited.items():
        ordered = sorted(works, key=place.__getitem__)[:MOST_OF_A_PASSAGE]
        for one, other in combinations(ordered, 2):
            if frozenset((one, other)) not in direct:
                join = SurveyJoin(
                    paper_id=one, other_paper_id=other, said_in_paper_id=third, passage=passage
                )
                found.setdefault((one, other), join)
    pairs = sorted(found, key=lambda pair: (place[pair[0]] + place[pair[1]], pair))
    return tuple(found[pair] for pair in pairs[:MOST_JOINS])
