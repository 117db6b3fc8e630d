"""The servers that stand for the providers, held against the providers' own clients and types."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any, TypeVar

import anthropic
import httpx
import ollama
import openai
import pytest
from anthropic.types import ErrorResponse, Message
from google import genai
from google.genai import errors as gemini_errors
from google.genai.types import GenerateContentResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from openai.types.shared import ErrorObject
from pydantic import BaseModel

from tasks.judging.structured_output import strict_schema
from tasks.steps import STEPS
from tests.support.providers.anthropic_messages import AnthropicServer
from tests.support.providers.azure_openai import AzureOpenAIServer
from tests.support.providers.base import ProviderServer
from tests.support.providers.gemini import GeminiServer
from tests.support.providers.ollama import OllamaServer
from tests.support.providers.openai_chat import OpenAIChatServer
from tests.support.providers.openai_responses import OpenAIResponsesServer
from tests.support.providers.openrouter import OpenRouterServer
from tests.support.providers.strict_schemas import openai_complaint
from tests.support.providers.vllm import VLLMServer

SCHEMA = {
    "type": "object",
    "properties": {"support": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["support", "score"],
    "additionalProperties": False,
}
FORMAT = {"name": "trial", "schema": SCHEMA, "strict": True}
CHAT = [{"role": "system", "content": "You judge."}, {"role": "user", "content": "An idea."}]
USER = [CHAT[1]]
AZURE = "/openai/deployments/{}/chat/completions?api-version=2025-04-01-preview"
KEY = "loopback-key"
ServerT = TypeVar("ServerT", bound=ProviderServer)
ENDINGS = ["good", "cut_off", "refusal", "content_filter", "empty"]


SERVERS = ExitStack()


@cache
def started(kind: type[ServerT]) -> ServerT:
    return SERVERS.enter_context(kind())


@pytest.fixture(scope="module", autouse=True)
def stopped_at_the_end() -> Iterator[None]:
    yield
    started.cache_clear()
    SERVERS.close()


@contextmanager
def lent(kind: type[ServerT], **told: Any) -> Iterator[ServerT]:
    """One server of each kind, as it was when it started: to stop one takes longer than a test."""
    server = started(kind).renew()
    for name, value in told.items():
        setattr(server, name, value)
    yield server


def openai_body(model: str, **fields: Any) -> dict[str, Any]:
    asked = {"type": "json_schema", "json_schema": FORMAT}
    return {"model": model, "messages": CHAT, "response_format": asked, **fields}


def responses_body(model: str, **fields: Any) -> dict[str, Any]:
    asked = {"format": {"type": "json_schema", **FORMAT}}
    return {"model": model, "input": "An idea.", "text": asked, **fields}


def claude_body(model: str, **fields: Any) -> dict[str, Any]:
    asked = {"format": {"type": "json_schema", "schema": SCHEMA}}
    given = {"model": model, "messages": USER, "max_tokens": 2000, "output_config": asked}
    return given | fields


def gemini_body(**config: Any) -> dict[str, Any]:
    asked = {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    contents = [{"role": "user", "parts": [{"text": "An idea."}]}]
    return {"contents": contents, "generationConfig": asked | config}


def ollama_body(model: str = "qwen3", **fields: Any) -> dict[str, Any]:
    return {"model": model, "messages": CHAT, "format": SCHEMA, "stream": False, **fields}


def gemini_path(model: str) -> str:
    return f"/v1beta/models/{model}:generateContent"


def post(server: ProviderServer, path: str, body: dict[str, Any], key: str = KEY) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}", "x-api-key": key, "api-key": key}
    headers |= {"x-goog-api-key": key, "anthropic-version": "2023-06-01"}
    address = f"http://127.0.0.1:{server.port}{path}"
    return httpx.post(address, json=body, headers=headers, timeout=30)


def google_client(server: GeminiServer) -> genai.Client:
    address = f"http://127.0.0.1:{server.port}"
    options = genai.types.HttpOptions(base_url=address, api_version="v1beta")
    return genai.Client(api_key=KEY, http_options=options)


def surplus(value: Any, where: str = "") -> Iterator[str]:
    """Fields that the client's types do not know."""
    if isinstance(value, BaseModel):
        yield from (f"{where}.{name}" for name in value.model_extra or {})
        for name in type(value).model_fields:
            yield from surplus(getattr(value, name), f"{where}.{name}")
    elif isinstance(value, list):
        for one in value:
            yield from surplus(one, where)


CHAT_PATH = "/v1/chat/completions"
COMPLETIONS: list[tuple[type[ProviderServer], str, dict[str, Any], type[BaseModel]]] = [
    (OpenAIChatServer, CHAT_PATH, openai_body("gpt-4.1", temperature=0.0, seed=7), ChatCompletion),
    (OpenAIChatServer, CHAT_PATH, openai_body("gpt-5", reasoning_effort="low"), ChatCompletion),
    (OpenAIResponsesServer, "/v1/responses", responses_body("gpt-5-pro"), Response),
    (AnthropicServer, "/v1/messages", claude_body("claude-opus-4-7"), Message),
    (
        AnthropicServer,
        "/v1/messages",
        claude_body("claude-sonnet-4-5", thinking={"type": "enabled", "budget_tokens": 1024}),
        Message,
    ),
    (GeminiServer, gemini_path("gemini-2.5-pro"), gemini_body(), GenerateContentResponse),
    (OllamaServer, "/api/chat", ollama_body(), ollama.ChatResponse),
]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("kind", "path", "body", "type_"), COMPLETIONS)
def test_every_reply_is_what_the_providers_types_know_and_nothing_else(
    kind: type[ProviderServer], path: str, body: dict[str, Any], type_: type[BaseModel], ending: str
) -> None:
    with lent(kind, behaviour=ending) as server:
        answered = post(server, path, body)
    assert answered.status_code == 200, answered.text
    assert list(surplus(type_.model_validate_json(answered.text))) == []


OPENAI_REFUSES: list[tuple[dict[str, Any], str | None, str | None]] = [
    (openai_body("gpt-5", temperature=0.0), "unsupported_value", "temperature"),
    (openai_body("o4-mini", max_tokens=100), "unsupported_parameter", "max_tokens"),
    (openai_body("o3", stop=["x"]), "unsupported_parameter", "stop"),
    (openai_body("gpt-5", reasoning_effort="none"), "unsupported_value", "reasoning_effort"),
    (
        openai_body("gpt-5.1", reasoning_effort="low", temperature=0),
        "unsupported_value",
        "temperature",
    ),
    (openai_body("gpt-4.1", reasoning_effort="low"), None, None),
    (openai_body("gpt-4o-mini", max_tokens=20_000), "invalid_value", "max_tokens"),
    (openai_body("gpt-4.1", temperature="0"), "invalid_type", "temperature"),
    (openai_body("gpt-4.1", colour="blue"), None, None),
    (openai_body("gpt-4.1", messages=[CHAT[1] | {"content": "x" * 5_000_000}]), "context", None),
]


@pytest.mark.parametrize(("body", "code", "param"), OPENAI_REFUSES)
def test_openai_refuses_what_its_models_do_not_take(
    body: dict[str, Any], code: str | None, param: str | None
) -> None:
    with lent(OpenAIChatServer) as server:
        answered = post(server, CHAT_PATH, body)
    assert answered.status_code == 400
    error = ErrorObject.model_validate(answered.json()["error"])
    if code == "context":
        assert error.code == "context_length_exceeded"
    else:
        assert (error.code, error.param) == (code, param), error.message


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        (SCHEMA | {"additionalProperties": True}, "'additionalProperties' is required"),
        (SCHEMA | {"required": ["score"]}, "Missing 'support'"),
        (SCHEMA | {"properties": {"support": {"type": "string", "minLength": 1}}}, "'minLength'"),
        ({"type": "array", "items": SCHEMA}, "got 'type: \"array\"'"),
        (
            SCHEMA | {"properties": {"support": {"$ref": "#/$defs/S", "description": "why"}}},
            "$ref cannot have keywords {'description'}",
        ),
    ],
)
def test_openai_reads_the_schema_itself(schema: dict[str, Any], complaint: str) -> None:
    asked = {"type": "json_schema", "json_schema": FORMAT | {"schema": schema}}
    with lent(OpenAIChatServer) as server:
        answered = post(server, CHAT_PATH, openai_body("gpt-4.1", response_format=asked))
    assert answered.status_code == 400
    assert complaint in answered.json()["error"]["message"]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_the_schema_of_every_step_is_one_that_strict_mode_takes(step: Any) -> None:
    assert openai_complaint(strict_schema(step.output_model)) is None


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (responses_body("gpt-5-pro", temperature=0.0), "temperature"),
        (responses_body("gpt-5-pro", reasoning={"effort": "low"}), "reasoning.effort"),
        (responses_body("gpt-5-pro", seed=7), "seed"),
        (responses_body("gpt-5-pro", max_output_tokens=10), "max_output_tokens"),
    ],
)
def test_responses_refuses_what_its_models_do_not_take(body: dict[str, Any], param: str) -> None:
    with lent(OpenAIResponsesServer) as server:
        answered = post(server, "/v1/responses", body)
    assert answered.status_code == 400
    assert ErrorObject.model_validate(answered.json()["error"]).param == param


SONNET, OPUS = "claude-sonnet-4-5", "claude-opus-4-7"
TOOL = {"name": "json_tool_call", "input_schema": SCHEMA}
FORCED = {"type": "tool", "name": "json_tool_call"}
MARKED = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}] * 5
THINKS = {"type": "enabled", "budget_tokens": 1024}
CLAUDE_REFUSES: list[tuple[dict[str, Any], str]] = [
    (claude_body(OPUS, temperature=0.0), "`temperature` is deprecated"),
    (claude_body(OPUS, thinking=THINKS), "thinking.type.adaptive"),
    (claude_body("claude-opus-5-5", thinking={"type": "disabled"}), "thinking.type.disabled"),
    (claude_body("claude-opus-5-5", tools=[TOOL], tool_choice=FORCED), "tool_choice forces"),
    (claude_body(SONNET, thinking={"type": "adaptive"}), "not supported on this model"),
    (claude_body(SONNET, output_config={"effort": "low"}), "does not support the effort"),
    (claude_body(SONNET, thinking=THINKS, temperature=0.0), "may only be set to 1"),
    (claude_body(SONNET, thinking=THINKS, max_tokens=1024), "must be greater than"),
    (claude_body(SONNET, thinking=THINKS | {"budget_tokens": 512}), "greater than or equal"),
    (
        claude_body(SONNET, thinking=THINKS, tools=[TOOL], tool_choice=FORCED),
        "Thinking may not be enabled when tool_choice forces",
    ),
    (claude_body(SONNET, seed=7), "seed: Extra inputs"),
    (claude_body(SONNET, max_tokens=64_001), "maximum allowed number of output tokens"),
    (claude_body(SONNET, max_tokens=None), "max_tokens: Field required"),
    (claude_body(SONNET, temperature=0.5, top_p=0.5), "cannot both be specified"),
    (claude_body("claude-3-5-haiku-20241022"), "does not support output format"),
    (claude_body(SONNET, messages=[{"role": "user", "content": MARKED}]), "Found 5"),
    (claude_body(SONNET, messages=[USER[0] | {"content": "x" * 900_000}]), "prompt is too long"),
    (
        claude_body(
            SONNET,
            output_config={
                "format": {
                    "schema": SCHEMA | {"properties": {"n": {"type": "integer", "minimum": 0}}}
                }
            },
        ),
        "For 'integer' type, property 'minimum' is not supported",
    ),
]


@pytest.mark.parametrize(("body", "said"), CLAUDE_REFUSES)
def test_anthropic_refuses_what_its_models_do_not_take(body: dict[str, Any], said: str) -> None:
    with lent(AnthropicServer) as server:
        answered = post(server, "/v1/messages", body)
    assert answered.status_code == 400
    error = ErrorResponse.model_validate(answered.json()).error
    assert error.type == "invalid_request_error"
    assert said in error.message


def test_anthropic_counts_what_its_cache_keeps() -> None:
    shared = {"type": "text", "text": "An idea. " * 1000, "cache_control": {"type": "ephemeral"}}
    with lent(AnthropicServer) as server:
        used = []
        for question in ("Is it new?", "Is it sound?"):
            content = [shared, {"type": "text", "text": question}]
            body = claude_body(SONNET, messages=[{"role": "user", "content": content}])
            message = Message.model_validate_json(post(server, "/v1/messages", body).text)
            used.append(message.usage)
    assert (used[0].cache_creation_input_tokens, used[0].cache_read_input_tokens) == (2250, 0)
    assert (used[1].cache_creation_input_tokens, used[1].cache_read_input_tokens) == (0, 2250)
    assert max(usage.input_tokens for usage in used) < 10


@pytest.mark.parametrize(
    ("model", "config", "said"),
    [
        ("gemini-2.5-pro", {"thinkingConfig": {"thinkingBudget": 0}}, "only works in thinking"),
        ("gemini-2.5-pro", {"colour": "blue"}, 'Unknown name "colour"'),
        ("gemini-2.5-pro", {"maxOutputTokens": 70_000}, "must be in the range"),
        ("gemini-2.5-pro", {"responseSchema": SCHEMA}, "Only one of"),
        (
            "gemini-2.5-flash",
            {"responseJsonSchema": None, "responseSchema": SCHEMA},
            'Unknown name "additionalProperties"',
        ),
    ],
)
def test_gemini_refuses_what_its_models_do_not_take(
    model: str, config: dict[str, Any], said: str
) -> None:
    with lent(GeminiServer) as server:
        answered = post(server, gemini_path(model), gemini_body(**config))
    assert answered.status_code == 400
    assert answered.json()["error"]["status"] == "INVALID_ARGUMENT"
    assert said in answered.json()["error"]["message"]


def test_ollama_loses_the_beginning_of_a_long_prompt_and_says_nothing() -> None:
    long = [CHAT[0], {"role": "user", "content": "start " + "word " * 20_000 + "end"}]
    seen: list[str] = []
    with lent(
        OllamaServer, answer=lambda messages, _: seen.append(messages[1]["content"])
    ) as server:
        answered = post(server, "/api/chat", ollama_body(messages=long)).json()
    assert answered["done_reason"] == "stop"
    assert answered["prompt_eval_count"] <= 4096
    assert seen[0].endswith("end")
    assert not seen[0].startswith("start")


def test_ollama_does_not_think_with_a_model_that_cannot() -> None:
    with lent(OllamaServer) as server:
        answered = post(server, "/api/chat", ollama_body("llama3.2", think=True))
    assert (answered.status_code, "does not support thinking" in answered.text) == (400, True)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (openai_body("Qwen/Qwen3-8B", max_tokens=40_960), "is too large: 40960"),
        (
            openai_body("Qwen/Qwen3-8B", messages=[CHAT[1] | {"content": "x" * 200_000}]),
            "input tokens",
        ),
        (openai_body("Qwen/Qwen3-8B", reasoning_effort="minimal"), "reasoning_effort='minimal'"),
    ],
)
def test_vllm_refuses_what_does_not_fit(body: dict[str, Any], said: str) -> None:
    with lent(VLLMServer) as server:
        answered = post(server, CHAT_PATH, body)
    error = answered.json()["error"]
    assert (answered.status_code, error["type"], error["code"]) == (400, "BadRequestError", 400)
    assert said in error["message"]


@pytest.mark.parametrize("behaviour", ["upstream_failed", "upstream_rate_limited"])
def test_openrouter_says_with_a_200_that_it_failed_upstream(behaviour: str) -> None:
    with lent(OpenRouterServer, behaviour=behaviour) as server:
        path, body = "/api/v1/chat/completions", openai_body("openai/gpt-5")
        answered = post(server, path, body)
    assert answered.status_code == 200
    assert answered.json()["error"]["code"] in (502, 429)


FAILURES = [
    ("rate_limited:0.1", openai.RateLimitError, anthropic.RateLimitError, 429),
    ("server_error", openai.InternalServerError, anthropic.InternalServerError, 500),
    ("overloaded", openai.InternalServerError, anthropic.InternalServerError, 503),
]


@pytest.mark.parametrize(("behaviour", "of_openai", "of_anthropic", "status"), FAILURES)
def test_the_providers_clients_raise_what_they_raise_in_reality(
    behaviour: str,
    of_openai: type[openai.APIStatusError],
    of_anthropic: type[anthropic.APIStatusError],
    status: int,
) -> None:
    with lent(OpenAIChatServer, behaviour=behaviour) as server:
        client = openai.OpenAI(base_url=server.api_base, api_key=KEY, max_retries=0)
        with pytest.raises(of_openai):
            client.chat.completions.create(model="gpt-4.1", messages=[])
    with lent(AnthropicServer, behaviour=behaviour) as server:
        of_claude = anthropic.Anthropic(base_url=server.api_base, api_key=KEY, max_retries=0)
        with pytest.raises(of_anthropic) as caught:
            of_claude.messages.create(model=SONNET, max_tokens=9, messages=[_user()])
        ErrorResponse.model_validate(caught.value.body)
    with lent(GeminiServer, behaviour=behaviour) as server:
        of_google = google_client(server)
        with pytest.raises(gemini_errors.APIError) as failed:
            of_google.models.generate_content(model="gemini-2.5-pro", contents="An idea.")
        assert failed.value.code == status


def _user() -> anthropic.types.MessageParam:
    return {"role": "user", "content": "An idea."}


def test_the_providers_clients_read_the_replies() -> None:
    with lent(OpenAIChatServer) as server:
        client = openai.OpenAI(base_url=server.api_base, api_key=KEY, max_retries=0)
        answered = client.chat.completions.create(**openai_body("gpt-5-mini"))
        assert set(json.loads(answered.choices[0].message.content)) == {"support", "score"}
        assert answered.usage.completion_tokens_details.reasoning_tokens == 600
    with lent(GeminiServer) as server:
        of_google = google_client(server)
        config = genai.types.GenerateContentConfig(
            response_mime_type="application/json", response_json_schema=SCHEMA
        )
        said = of_google.models.generate_content(
            model="gemini-2.5-pro", contents="An idea.", config=config
        )
        assert set(json.loads(said.text or "")) == {"support", "score"}
    with lent(OllamaServer) as server:
        chat = ollama.Client(host=server.api_base).chat("qwen3", messages=CHAT, format=SCHEMA)
        assert set(json.loads(chat.message.content or "")) == {"support", "score"}
        with pytest.raises(ollama.ResponseError, match="not found"):
            ollama.Client(host=server.api_base).chat("nothing", messages=CHAT)


WRONG: list[tuple[type[ProviderServer], str, str, dict[str, Any], int, int | None]] = [
    (OpenAIChatServer, CHAT_PATH, CHAT_PATH, openai_body("gpt-99"), 404, 401),
    (OpenAIResponsesServer, "/v1/responses", "/v1/responses", responses_body("gpt-99"), 404, 401),
    (
        AzureOpenAIServer,
        AZURE.format("nothing"),
        AZURE.format("gpt-4.1"),
        openai_body("gpt-4.1"),
        404,
        401,
    ),
    (AnthropicServer, "/v1/messages", "/v1/messages", claude_body("claude-99"), 404, 401),
    (
        GeminiServer,
        gemini_path("gemini-99"),
        gemini_path("gemini-2.5-pro"),
        gemini_body(),
        404,
        400,
    ),
    (OllamaServer, "/api/chat", "/api/chat", ollama_body("nothing"), 404, None),
    (VLLMServer, CHAT_PATH, CHAT_PATH, openai_body("nothing"), 404, 401),
    (
        OpenRouterServer,
        "/api/v1/chat/completions",
        "/api/v1/chat/completions",
        openai_body("nobody/nothing"),
        400,
        401,
    ),
]


@pytest.mark.parametrize(("kind", "wrong_path", "path", "body", "unknown", "unauthorised"), WRONG)
def test_a_wrong_model_and_a_wrong_key_are_refused(
    kind: type[ProviderServer],
    wrong_path: str,
    path: str,
    body: dict[str, Any],
    unknown: int,
    unauthorised: int | None,
) -> None:
    with lent(kind) as server:
        assert post(server, wrong_path, body).status_code == unknown
        if unauthorised is not None:
            assert post(server, path, body, key="another").status_code == unauthorised


def test_azure_needs_its_api_version_and_says_what_its_filter_found() -> None:
    with lent(AzureOpenAIServer, behaviour="content_filter") as server:
        path = AZURE.format("gpt-4.1")
        assert post(server, path.partition("?")[0], openai_body("gpt-4.1")).status_code == 404
        error = post(server, path, openai_body("gpt-4.1")).json()["error"]
        assert error["innererror"]["code"] == "ResponsibleAIPolicyViolation"
        old = path.replace("2025-04-01-preview", "2024-02-01")
        assert "json_schema is enabled only" in post(server, old, openai_body("gpt-4.1")).text


def test_a_cap_that_thinking_eats_leaves_an_empty_reply() -> None:
    with lent(OpenAIChatServer) as server:
        body = openai_body("gpt-5", max_completion_tokens=300)
        answered = ChatCompletion.model_validate_json(post(server, CHAT_PATH, body).text)
    assert answered.usage is not None
    assert answered.usage.completion_tokens == 300
    assert (answered.choices[0].finish_reason, answered.choices[0].message.content) == (
        "length",
        "",
    )
