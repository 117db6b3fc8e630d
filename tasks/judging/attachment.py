"""A file that goes to the model beside the words of a prompt."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks.judging.prices import model_info
from tasks.judging.shortening import Message


@dataclass(frozen=True, slots=True)
class Attachment:
    """A PDF as it lies on disk.

    `estimated_tokens` is for budgets and rates until the provider says what it counted.
    """

    name: str
    sha256: str
    estimated_tokens: int
    content: bytes = field(repr=False)


def with_attachment(messages: Sequence[Message], attachment: Attachment) -> list[Mapping[str, Any]]:
    """The messages with the file in front of the first user message's text: LiteLLM's file content
    part.

    Source: https://docs.litellm.ai/docs/completion/document_understanding ("file_data", base64 with
        its media type).
    """
    encoded = base64.b64encode(attachment.content).decode("ascii")
    part = {
        "type": "file",
        "file": {
            "filename": attachment.name,
            "file_data": f"data:application/pdf;base64,{encoded}",
        },
    }
    place = next(index for index, message in enumerate(messages) if message["role"] == "user")
    asked: Mapping[str, Any] = {
        "role": "user",
        "content": [part, {"type": "text", "text": messages[place]["content"]}],
    }
    return [*messages[:place], asked, *messages[place + 1 :]]


def takes_pdf(model: str) -> bool:
    """Whether LiteLLM knows that the model reads attached PDFs; of a model it does not know: no."""
    return bool(model_info(model).get("supports_pdf_input"))
