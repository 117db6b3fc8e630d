"""Campaigns of all runs that one command starts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from schemas.identifiers import RunId
from schemas.work import Request, Summary
from tasks.works import work_named

if TYPE_CHECKING:  # slow imports
    from flows.run.campaign import Campaign
    from tasks.work.declaration import Work


@dataclass(frozen=True, slots=True)
class CampaignRuns:
    """Implements `Runs` by a function that runs campaigns.

    Attributes:
        before: called before each run; checks once what the command needs.
        run_ids: ids of the runs, in order.
    """

    run: "Callable[[Campaign[Any, Any]], Summary[Any]]"
    before: Callable[[], None] = lambda: None
    run_ids: list[RunId] = field(default_factory=list)

    def __call__(self, name: str, request: Request[Any, Any]) -> Summary[Any]:
        self.before()
        summary = self.run(campaign_of(work_named(name), request))
        self.run_ids.append(RunId(summary.head.run_id))
        return summary

    def run_id(self, name: str, request: Request[Any, Any]) -> RunId:
        self.before()
        campaign = campaign_of(work_named(name), request)
        with campaign.open():
            return RunId(campaign.run_id)


def campaign_type(work: "Work[Any, Any, Any]") -> Any:
    """Return the subclass of `Campaign` of a kind."""
    declared = "flows.run.declared_campaign:DeclaredCampaign"
    return resolve_name(work.do if isinstance(work.do, str) else declared)


def campaign_of(work: "Work[Any, Any, Any]", request: Request[Any, Any]) -> "Campaign[Any, Any]":
    factory = campaign_type(work)
    campaign: Campaign[Any, Any] = (
        factory(request) if isinstance(work.do, str) else factory(work, request)
    )
    return campaign
