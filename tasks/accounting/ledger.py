"""The ledger of one idea's evaluation: every call made for it, in order."""

from dataclasses import dataclass, field

from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.identifiers import IdeaId


@dataclass(slots=True)
class Ledger:
    """Collects the calls and failures of one idea while its evaluation runs. Not shared between ideas."""

    idea_id: IdeaId
    llm_calls: list[LlmCall] = field(default_factory=list)
    api_calls: list[ApiCall] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
