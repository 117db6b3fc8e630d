"""Ideas that wait for batches: which they are, and what they have spent so far."""

from pydantic import Field

from schemas.base import Noun
from schemas.calls import ApiCall
from schemas.identifiers import EvaluationKey
from tasks.accounting.ledger import Ledger
from tasks.shards.standstill import PutDown

_KEPT = ".json"


class SpentWaiting(Noun):
    """What an idea has used before it was put down; its next start finds all of it in caches."""

    counted_requests: int = Field(ge=0, description="Literature requests counted by the budget.")
    api_calls: tuple[ApiCall, ...]


class Waiting(PutDown):
    """The ideas of a run that were put down."""

    def put_down(self, key: EvaluationKey, ledger: Ledger) -> None:
        """The idea waits. Its requests that left are kept; its calls are in the journal."""
        self.folder.mkdir(parents=True, exist_ok=True)
        spent = SpentWaiting(
            counted_requests=ledger.counted_requests,
            api_calls=tuple(call for call in ledger.api_calls if not call.cache_hit),
        )
        kept = self.folder / f"{key}{_KEPT}"
        written = kept.with_suffix(".new")
        written.write_text(spent.model_dump_json())
        written.rename(kept)
        self.wait(key)

    def take_up(self, key: EvaluationKey, ledger: Ledger) -> None:
        """Book what the idea used before, and take it as counted."""
        try:
            kept = (self.folder / f"{key}{_KEPT}").read_bytes()
        except FileNotFoundError:
            return
        spent = SpentWaiting.model_validate_json(kept)
        ledger.api_calls.extend(spent.api_calls)
        ledger.requests_counted_before = spent.counted_requests

    def forget(self, key: EvaluationKey) -> None:
        """The idea has landed."""
        self.end(key)
        (self.folder / f"{key}{_KEPT}").unlink(missing_ok=True)
