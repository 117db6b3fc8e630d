"""Valid replies kept on disk, so that no call is paid twice."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import ValidationError

from schemas.base import Reply
from schemas.identifiers import content_hash
from schemas.judging import Effort
from tasks.judging.parameters import Sampling
from tasks.judging.replies import reply_json
from tasks.judging.shortening import Message
from tasks.judging.step import Step
from warehouse.keyed_store import KeyedStore
from warehouse.scrubbing import without_secrets

OutputT = TypeVar("OutputT", bound=Reply)
_FORMAT = "reply-2"


@lru_cache(maxsize=128)
def _schema(output_model: type[Reply]) -> str:
    return json.dumps(output_model.model_json_schema(), sort_keys=True)


@dataclass(frozen=True, slots=True)
class ReplyCache:
    """The replies of one model at one place. Only replies that validated are kept.

    Keys say what was asked for, not what the model took of it: they outlast what is learnt of the model.
    """

    store: KeyedStore
    model: str
    api_base: str | None
    sampling: Sampling
    mode: str

    def key(self, step: Step[Any, Any], messages: Sequence[Message], effort: Effort) -> str:
        """Over everything that could change the reply, and no secret: a hash, of an API base without user and query."""
        return content_hash(
            _FORMAT,
            self.model,
            without_secrets(self.api_base) if self.api_base else "",
            step.prompt_sha256,
            json.dumps(list(messages), sort_keys=True),
            _schema(step.output_model),  # type: ignore[arg-type]  # mypy takes no class for hashable
            repr(self.sampling.temperature),
            repr(self.sampling.seed),
            self.mode,
            effort,
        )

    def recall(self, key: str, output_model: type[OutputT]) -> tuple[OutputT, str | None] | None:
        """(reply, model that answered), or None. An entry that no longer validates counts as absent."""
        entry = self.store.get_many([key]).get(key)
        if entry is None:
            return None
        try:
            kept = json.loads(entry)
            return output_model.model_validate(kept["reply"]), kept["model_answered"]
        except (ValueError, KeyError, TypeError, ValidationError):
            return None

    def remember(self, key: str, reply: Reply, model_answered: str | None) -> None:
        """Keep a reply that validated."""
        self.store.put_many(
            {
                key: json.dumps(
                    {"reply": json.loads(reply_json(reply)), "model_answered": model_answered}
                ).encode()
            }
        )
