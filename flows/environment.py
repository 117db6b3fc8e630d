"""Environment that libraries read when they are imported. Called before anything heavy is."""

import os
from pathlib import Path

from schemas.errors import ConfigurationError

_DEFAULTS = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # without it, importing LiteLLM asks the network for prices
    "LITELLM_LOG": "ERROR",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def prepare_environment(home: Path) -> None:
    """Set quiet, offline defaults; what the user has set stays as it is.

    Raises:
        ConfigurationError: `home` cannot be written to.
    """
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("PREFECT_HOME", str(home / "prefect"))
    try:
        Path(os.environ["PREFECT_HOME"]).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"cannot write to {home}: {error.strerror}; name another folder in ASSAY_HOME") from error
