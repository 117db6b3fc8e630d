"""LiteLLM, imported on first use (two seconds) and kept quiet and at home: no telemetry, no look-ups, no retries of its own."""

import logging
import os
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def library() -> Any:
    """The configured `litellm` module."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # without it the import asks the network for prices
    os.environ.setdefault("LITELLM_LOG", "ERROR")
    import litellm

    litellm.suppress_debug_info = True
    litellm.disable_hf_tokenizer_download = True
    litellm.num_retries = 0
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL if name.startswith("LiteLLM") else logging.WARNING)
    return litellm
