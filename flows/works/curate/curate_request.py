"""The options of `assay curate`, resolved into a `CurationRequest`: every mistake named in one
line.
"""

from pathlib import Path

from flows.profiles import load_profile
from flows.works.evaluate.request import check_api_base, check_judging, check_warehouse
from schemas.options.commands import CurateOptions
from schemas.works.curation_run import CurationParameters, CurationRequest
from tasks.curation.collect import collect_papers


def resolve_curation(papers: str, reviews: Path | None, options: CurateOptions) -> CurationRequest:
    """Resolve the options of `assay curate`; papers and reviews as `collect_papers` takes them.

    Raises:
        ConfigurationError: an option that cannot be understood or met.
    """
    check_warehouse(options.warehouse)
    check_api_base(options.api_base, options.engine)
    profile = load_profile(options.profile)
    check_judging(profile, options.engine)
    return CurationRequest(
        sources=collect_papers(papers, reviews),
        warehouse=options.warehouse.resolve(),
        profile=profile,
        engine=options.engine,
        api_base=options.api_base,
        parameters=CurationParameters(
            fewest_reviews=options.reviews_at_least,
            most_rating_spread=options.rating_spread,
            discipline=" ".join(options.discipline.split()),
            licence=" ".join(options.licence.split()),
            cutoff_date=options.cutoff,
        ),
        workers=options.workers,
        scheduler_address=options.scheduler,
        budget=options.budget,
    )
