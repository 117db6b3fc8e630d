"""Session of a command: orderly interruption and one Prefect server."""

from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from flows.cli.terminal import print_note
from flows.run.campaign_runs import CampaignRuns
from flows.run.interruption import interruptible
from schemas.base import replace
from schemas.settings import Settings
from schemas.work import HeadT, Request, Summary

if TYPE_CHECKING:
    from flows.run.campaign import Campaign, PlanT
    from flows.run.prefect_server import PrefectServer
    from tasks.work.declaration import Work


class Session(ExitStack):
    """Runs campaigns one after the other, with one Prefect server.

    Prefect's client would not find a second server within one process.
    """

    def __init__(self) -> None:
        super().__init__()
        self._settings = Settings()
        self._server: PrefectServer | None = None

    def __enter__(self) -> Self:
        super().__enter__()
        self.enter_context(interruptible())
        return self

    def run(self, work: "Work[Any, Any, Any]", request: Request[Any, Any]) -> "Summary[Any]":
        """Run work of a declared kind and its follow-up runs, after the preflight checks.

        Nothing is checked for work that is done already or waits for people.
        """
        if not request.in_this_process(0):  # start it early: it takes seconds
            self._prefect_server()
        from flows.run.campaign import run_campaign
        from flows.run.preflight import check_before

        @cache
        def check_once() -> None:
            for contact in check_before(work, request, self._settings):
                print_note(f"{contact.model} {contact.line}")

        runs = CampaignRuns(lambda each: run_campaign(each, self._on_cluster), before=check_once)
        if work.run is None:
            return runs(work.name, request)
        summary = work.run(request, self._settings, runs)
        other_run_ids = dict.fromkeys(each for each in runs.run_ids if each != summary.head.run_id)
        return replace(summary, other_run_ids=tuple(other_run_ids))

    def _on_cluster(self, campaign: "Campaign[PlanT, HeadT]", plan: "PlanT") -> "Summary[HeadT]":
        server = self._prefect_server()
        from flows.run.cluster import carry_out_on_cluster

        server.wait()
        return carry_out_on_cluster(campaign, plan)

    def _prefect_server(self) -> "PrefectServer":
        if self._server is None:
            from flows.run.prefect_server import PrefectServer

            self._server = self.enter_context(PrefectServer(self._settings.prefect_api_url))
        return self._server
