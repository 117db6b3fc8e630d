"""What of a request could change the scores of a suite on submissions, beside its data files."""

from schemas.benchmark import BenchmarkRequest, SubmissionText
from tasks.benchmarks.full_papers import papers_sha256


def submission_conditions(request: BenchmarkRequest) -> tuple[str, ...]:
    """The papers, where ideas are made from them."""
    if request.text is SubmissionText.ABSTRACT:
        return ()
    return (f"papers {papers_sha256(request.data)}",)
