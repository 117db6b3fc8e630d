"""The options of `assay survey`, resolved into a `SurveyRequest`:
every mistake named in one line.
"""

from collections.abc import Sequence

from flows.profiles import load_profile
from flows.request import (
    check_api_base,
    check_judging,
    check_warehouse,
    resolve_literature,
    wants_full_text,
)
from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.options import SurveyOptions
from schemas.settings import Settings
from schemas.survey import SurveyParameters
from schemas.survey_run import SurveyQuestion, SurveyRequest

LONGEST_QUESTION = 4_000
"""Characters; a longer text is no question but a paper."""


def resolve_survey(
    questions: Sequence[str], options: SurveyOptions, settings: Settings
) -> SurveyRequest:
    """Resolve the options of `assay survey`; a question asked twice is surveyed once.

    Raises:
        ConfigurationError: an option that cannot be understood or met.
    """
    check_warehouse(options.warehouse)
    check_api_base(options.api_base, options.engine)
    profile = load_profile(options.profile)
    check_judging(profile, options.engine)
    literature = resolve_literature(options.literature, settings)
    return SurveyRequest(
        questions=tuple(
            _question(number, text)
            for number, text in enumerate(dict.fromkeys(map(_plain, questions)), start=1)
        ),
        warehouse=options.warehouse.resolve(),
        profile=profile,
        engine=options.engine,
        api_base=options.api_base,
        literature=literature,
        parameters=SurveyParameters(
            depth=options.depth,
            maximum_papers=options.max_papers,
            maximum_judged=options.max_judged,
            papers_read=options.papers_read,
        ),
        full_text=_reads(options) and wants_full_text(options.full_text, literature),
        cutoff_date=options.cutoff,
        workers=options.workers,
        scheduler_address=options.scheduler,
        budget=options.budget,
    )


def _reads(options: SurveyOptions) -> bool:
    return options.papers_read > 0 and not options.engine.is_baseline


def _plain(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _question(number: int, text: str) -> SurveyQuestion:
    """Its name keeps the order in which questions were asked."""
    if not text:
        raise ConfigurationError('ask a question, as in `assay survey "how do bats find moths?"`')
    if len(text) > LONGEST_QUESTION:
        raise ConfigurationError(
            f"the question has {len(text):,} characters; {LONGEST_QUESTION:,} are the most"
        )
    question_id = f"q{number:03d}-{content_hash(text, length=12)}"
    return SurveyQuestion(question_id=question_id, question=text)
