"""Builds the request of a kind of work from its options."""

from typing import TYPE_CHECKING, Any

from flows.profiles import load_profile
from flows.run.campaign_runs import campaign_type
from flows.works.evaluate.request import (
    check_api_base,
    check_judging,
    check_warehouse,
    resolve_evaluation,
    resolve_literature,
    wants_full_text,
)
from schemas.base import replace
from schemas.choices import LiteratureChoice
from schemas.options.commands import RunOptions
from schemas.settings import Settings

if TYPE_CHECKING:  # slow import
    from tasks.work.declaration import Work


def request_of(
    work: "Work[Any, Any, Any]", arguments: tuple[Any, ...], options: Any, settings: Settings
) -> Any:
    """Return the request of a command with these arguments and options.

    Raises:
        ConfigurationError: an argument or option is invalid or cannot be met.
    """
    check_warehouse(options.warehouse)
    arguments, options = campaign_type(work).complete_options(arguments, options, settings)
    check_api_base(options.api_base, options.engine)
    options = replace(options, warehouse=options.warehouse.resolve())
    literature = getattr(options, "literature", None)
    declared = work.options
    is_needed = "literature" in declared.model_fields and not declared.literature_is_optional
    if is_needed or literature is not None:
        literature = resolve_literature(literature, settings)
    profile = load_profile(options.profile)
    if isinstance(options, RunOptions):  # kinds that evaluate ideas too
        options = replace(options, literature=literature)
        options, profile = resolve_evaluation(options, profile, settings)
    common = {
        "warehouse": options.warehouse,
        "profile": profile,
        "engine": options.engine,
        "api_base": options.api_base,
        "literature": literature,
        "cutoff_date": getattr(options, "cutoff", None),
        "full_text": _reads_full_text(options, literature),
        "workers": options.workers,
        "scheduler_address": options.scheduler,
        "budget": options.budget,
    }
    request = work.resolve(arguments, options, common, settings)
    check_judging(request.profile, options.engine)
    return request


def _reads_full_text(options: Any, literature: LiteratureChoice | None) -> bool:
    if literature is None or "full_text" not in type(options).model_fields:
        return False
    if isinstance(options, RunOptions):
        return bool(options.full_text)
    reads_papers = getattr(options, "papers_read", None) != 0 and not options.engine.is_baseline
    return reads_papers and wants_full_text(options.full_text, literature)
