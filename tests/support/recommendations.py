"""Resources as they are recommended."""

from schemas.identifiers import PaperId
from schemas.literature.recommendation import Recommendation, ResourceKind, Use


def make_recommendation(kind: ResourceKind, name: str, quote: str = "We use it.") -> Recommendation:
    use = Use(
        paper_id=PaperId("p1"),
        title=f"A work on {name}",
        year=2021,
        url="",
        quote=quote,
        section="",
        nearness_0_to_1=0.5,
        through=None,
    )
    return Recommendation(
        rank=1,
        kind=kind,
        name=name,
        paper_id=None,
        url="http://example.org",
        score_0_to_1=0.5,
        reason=f"One work used {name}.",
        uses=(use,),
    )
