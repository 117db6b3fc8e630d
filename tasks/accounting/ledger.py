"""The ledger of one idea's evaluation: every call made for it, in order."""

from dataclasses import dataclass, field

from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.identifiers import IdeaId
from schemas.judging import JudgeVote
from tasks.telemetry.reporting import model_calls, source_calls


@dataclass(slots=True)
class Ledger:
    """Collects the calls and failures of one idea while its evaluation runs.

    Not shared between ideas.
    """

    idea_id: IdeaId
    llm_calls: list[LlmCall] = field(default_factory=model_calls)
    api_calls: list[ApiCall] = field(default_factory=source_calls)
    failures: list[Failure] = field(default_factory=list)
    judge_votes: list[JudgeVote] = field(default_factory=list)
    counted_requests: int = 0
    requests_counted_before: int = 0

    def is_new_request(self) -> bool:
        """Whether the next literature request is one that no earlier start of the idea made."""
        self.counted_requests += 1
        return self.counted_requests > self.requests_counted_before
