"""Where a model is reached and with which key. Keys come from the environment, as LiteLLM reads them."""

import os


def access(model: str, api_base: str | None) -> dict[str, str]:
    """LiteLLM's parameters for reaching `model`.

    A server of one's own often takes no key, but the OpenAI protocol needs one to be sent.
    """
    if api_base is None:
        return {}
    needs_key = model.startswith(("openai/", "text-completion-openai/")) or "/" not in model
    return {"api_base": api_base, **({"api_key": "none"} if needs_key and not os.environ.get("OPENAI_API_KEY") else {})}
