"""Azure OpenAI's chat completions: deployments with names of their own, `api-key`, content filters.

Sources: https://learn.microsoft.com/azure/ai-foundry/openai/reference (path, api-version, headers),
https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter (`innererror`,
`prompt_filter_results`), https://learn.microsoft.com/azure/ai-foundry/openai/how-to/quota.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from tests.support.providers import openai_models as api
from tests.support.providers.base import Body, Question, Recorded, Refusal, Reply
from tests.support.providers.openai_chat import OpenAIChatServer

_VERSION = re.compile(r"20\d\d-\d\d-\d\d(-preview)?")
_FIRST_WITH_SCHEMAS = "2024-08-01"
_SAFE = {"filtered": False, "severity": "safe"}
_CATEGORIES = ("hate", "self_harm", "sexual", "violence")


@dataclass
class AzureOpenAIServer(OpenAIChatServer):
    """`deployments`: the model behind each name; the names are the customer's."""

    paths: ClassVar[tuple[str, ...]] = ("/openai/deployments/{deployment}/chat/completions",)
    api_base_path: ClassVar[str] = ""
    deployments: ClassVar[dict[str, str]] = {
        "gpt-4.1": "gpt-4.1",
        "my-plain-deployment": "gpt-4.1",
        "my-reasoning-deployment": "gpt-5",
    }

    def authorise(self, recorded: Recorded) -> None:
        """Raises: Refusal."""
        if recorded.headers.get("api-key") != self.key:
            message = (
                "Access denied due to invalid subscription key or wrong API endpoint. Make sure to "
                "provide a valid key for an active subscription and use a correct regional API "
                "endpoint for your resource."
            )
            raise _refusal(401, "401", message)

    def model(self, recorded: Recorded) -> api.OpenAIModel:
        """Raises: Refusal: no such deployment or API version."""
        version = recorded.query.get("api-version", "")
        if not _VERSION.fullmatch(version):
            raise _refusal(404, "404", "Resource not found")
        deployment = recorded.path.split("/")[3]
        if deployment not in self.deployments:
            message = (
                "The API deployment for this resource does not exist. If you created the deployment"
                " within the last 5 minutes, please wait a moment and try again."
            )
            raise _refusal(404, "DeploymentNotFound", message)
        asked = (recorded.body.get("response_format") or {}).get("type")
        if asked == "json_schema" and version < _FIRST_WITH_SCHEMAS:
            message = (
                "response_format value as json_schema is enabled only for api versions"
                " 2024-08-01-preview and later"
            )
            raise _refusal(400, "BadRequest", message)
        return api.MODELS[self.deployments[deployment]]

    def completion(self, question: Question, reply: Reply, recorded: Recorded) -> Body:
        body = super().completion(question, reply, recorded)
        body["model"] = self.deployments[recorded.path.split("/")[3]]
        body["choices"][0]["content_filter_results"] = _verdicts(reply.ended)
        body["prompt_filter_results"] = [
            {"prompt_index": 0, "content_filter_results": _verdicts("stop")}
        ]
        return body

    def failure(self, name: str, argument: str, recorded: Recorded) -> Refusal | None:
        match name:
            case "rate_limited":
                wait = argument or "1"
                message = (
                    "Requests to the ChatCompletions_Create Operation under Azure OpenAI API "
                    f"version {recorded.query['api-version']} have exceeded token rate limit of "
                    "your current OpenAI S0 pricing tier. Please retry after "
                    f"{wait} seconds."
                )
                return _refusal(429, "429", message, {"retry-after": wait})
            case "no_quota":
                return _refusal(403, "403", "Out of call volume quota. Quota will be replenished.")
            case "content_filter":
                return _filtered()
            case "server_error":
                return _refusal(500, "InternalServerError", "Internal server error")
            case "overloaded":
                message = "The service is temporarily unable to process your request."
                return _refusal(503, "ServiceUnavailable", message)
        return None

    def headers(self) -> dict[str, str]:
        return {
            "x-ratelimit-remaining-requests": "499",
            "x-ratelimit-remaining-tokens": "9990000",
            "x-ms-region": "Loopback",
            "apim-request-id": "loopback",
        }


def _refusal(
    status: int, code: str, message: str, headers: dict[str, str] | None = None
) -> Refusal:
    return Refusal(status, {"error": {"code": code, "message": message}}, headers)


def _filtered() -> Refusal:
    """The prompt was stopped by the content filter."""
    message = (
        "The response was filtered due to the prompt triggering Azure OpenAI's content management "
        "policy. Please modify your prompt and retry. To learn more about our content filtering "
        "policies please read our documentation: https://go.microsoft.com/fwlink/?linkid=2198766"
    )
    verdicts = _verdicts("content_filter")
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": verdicts}
    error = {"message": message, "type": None, "param": "prompt", "code": "content_filter"}
    return Refusal(400, {"error": error | {"status": 400, "innererror": inner}})


def _verdicts(ended: str) -> dict[str, Body]:
    verdicts: dict[str, Body] = {category: dict(_SAFE) for category in _CATEGORIES}
    if ended == "content_filter":
        verdicts["violence"] = {"filtered": True, "severity": "medium"}
    return verdicts
