"""Checks one manuscript: read it, find problems, let judges vote where the authors' own reason is
known.
"""

from collections.abc import Sequence

from schemas.check_run import CheckRequest, ManuscriptSource
from schemas.failure import Failure
from schemas.manuscripts import Attempt, ManuscriptCheck, ManuscriptForm, Vote
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.judging.messages import Attachment
from tasks.manuscripts.check_tools import CheckTools
from tasks.manuscripts.collect import TEX_SUFFIXES
from tasks.manuscripts.find import find_problems, with_usage
from tasks.manuscripts.judge import judge_problems
from tasks.manuscripts.read import Manuscript, Unreadable, read_manuscript

_TOKENS_PER_PAGE = 1_500
"""An attached page as text and picture: between the 330 and 3,100 that Table 2 of the quality
checker comes to.
"""


async def check_manuscript(
    source: ManuscriptSource,
    request: CheckRequest,
    tools: CheckTools,
    settings: Settings,
    ledger: Ledger,
) -> ManuscriptCheck:
    """Everything one check of one manuscript gives; never raises for what the manuscript or an
    engine does.
    """
    read = await read_manuscript(
        source, request.form, settings.documents, settings.grobid_url, ledger, tools.takes_pdf
    )
    if isinstance(read, Unreadable):
        return unread(source, request, read, ledger)
    attachment = _attachment(read)
    attempts, problems = await find_problems(
        read,
        lambda attempt: tools.checker(ledger, attempt, attachment),
        maximum_problems=request.maximum_problems,
        attempt_count=request.attempt_count,
    )
    votes: tuple[Vote, ...] = ()
    if source.known_reason is not None and request.judges:
        judges = [(judge.engine.text, tools.judge(ledger, judge)) for judge in request.judges]
        votes = await judge_problems(
            problems, source.known_reason, judges, request.repetition_count
        )
    failures = [*_failures(attempts, source), *ledger.failures]
    return ManuscriptCheck(
        manuscript_id=source.manuscript_id,
        title=read.title,
        form=read.form,
        content_sha256=source.content_sha256,
        word_count=read.word_count,
        page_count=len(read.pages) or None,
        known_reason=source.known_reason,
        attempts=tuple(with_usage(attempt, ledger.llm_calls) for attempt in attempts),
        problems=problems,
        votes=votes,
        failures=tuple([read.passed_over, *failures] if read.passed_over else failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


def _attachment(manuscript: Manuscript) -> Attachment | None:
    if manuscript.attachment is None:
        return None
    return Attachment(
        manuscript.name,
        manuscript.content_sha256,
        _TOKENS_PER_PAGE * len(manuscript.pages),
        manuscript.attachment,
    )


def _failures(attempts: Sequence[Attempt], source: ManuscriptSource) -> list[Failure]:
    return [
        Failure(
            stage="find_problems",
            subject=f"{source.manuscript_id} attempt {attempt.attempt}",
            reason=attempt.unscored_reason,
            detail=attempt.unscored_detail,
        )
        for attempt in attempts
        if attempt.unscored_reason is not None
    ]


def unread(
    source: ManuscriptSource, request: CheckRequest, why: Unreadable, ledger: Ledger
) -> ManuscriptCheck:
    """Every attempt at it is unscored: a paper that could not be read is not one without problems."""
    attempts = tuple(
        Attempt(
            attempt=number,
            problem_count=None,
            unscored_reason=Reason.SOURCE_UNAVAILABLE,
            unscored_detail=why.detail,
        )
        for number in range(1, request.attempt_count + 1)
    )
    return ManuscriptCheck(
        manuscript_id=source.manuscript_id,
        title="",
        form=_form_of_name(source),
        content_sha256=source.content_sha256,
        word_count=0,
        known_reason=source.known_reason,
        unread_reason=why.reason,
        attempts=attempts,
        problems=(),
        llm_calls=tuple(ledger.llm_calls),
        failures=(
            Failure(
                stage="documents",
                subject=source.manuscript_id,
                reason=why.reason,
                detail=why.detail,
            ),
            *ledger.failures,
        ),
        api_calls=tuple(ledger.api_calls),
    )


def _form_of_name(source: ManuscriptSource) -> ManuscriptForm:
    suffix = source.path.suffix.lower()
    if suffix == ".pdf":
        return ManuscriptForm.PDF
    return (
        ManuscriptForm.LATEX
        if source.path.is_dir() or suffix in TEX_SUFFIXES
        else ManuscriptForm.TEXT
    )
