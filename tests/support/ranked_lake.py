"""The report lake with its ideas ranked by matches."""

from schemas.identifiers import IdeaId
from tests.support.evaluations import make_idea
from tests.support.rankings import land_group, make_head, make_ranked_group
from tests.support.report_lake import HOSTILE, HOSTILE_TEXT, UNSCORED
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

SOUND: tuple[IdeaId, ...] = tuple(make_idea(number).idea_id for number in (0, 3, 4))


def publish_ranking_of_report_lake(warehouse: Warehouse) -> None:
    """One group of three, and one hostile group in which one match was refused."""
    groups = [
        make_ranked_group(SOUND, group="sound"),
        make_ranked_group([HOSTILE, UNSCORED], group="hostile", rationale=HOSTILE_TEXT, refused=1),
    ]
    for group in groups:
        land_group(warehouse, group)
    head = make_head(warehouse, groups)
    write_head(warehouse, RANKINGS, head)
    assert publish(warehouse, RANKINGS, head).published
