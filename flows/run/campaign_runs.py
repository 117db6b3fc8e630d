"""Campaigns, steps and estimates of all runs that one command starts."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from schemas.identifiers import RunId
from schemas.settings import Settings
from schemas.work import Request, Summary
from tasks.work.course import Follow
from tasks.works import work_named

if TYPE_CHECKING:
    from flows.run.campaign import Campaign
    from tasks.work.declaration import Expected, Work


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


def campaign_type(work: "Work[Any, Any, Any]") -> "type[Campaign[Any, Any]]":
    from flows.run.declared_campaign import DeclaredCampaign

    kind: type[Campaign[Any, Any]] = (
        resolve_name(work.campaign) if work.campaign else DeclaredCampaign
    )
    return kind


def campaign_of(work: "Work[Any, Any, Any]", request: Request[Any, Any]) -> "Campaign[Any, Any]":
    factory: Any = campaign_type(work)
    campaign: Campaign[Any, Any] = factory(request) if work.campaign else factory(work, request)
    return campaign


def follow_ups(
    work: "Work[Any, Any, Any]", request: Request[Any, Any], settings: Settings
) -> tuple[Follow, ...]:
    return () if work.course is None else tuple(work.course.follows(request, settings))


def expected_follow_up(follow: Follow, settings: Settings) -> "tuple[Request[Any, Any], Expected]":
    """Return the request of a follow-up run and its estimate, on a placeholder file."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = Path(folder) / "expected.md"
        path.write_text(follow.text, "utf-8")
        request = follow.request(path)
        return request, work_named(follow.name).expected(request, settings)
