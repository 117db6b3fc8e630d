"""Environment that libraries read when they are imported. Called before anything heavy is."""

import logging
import os
from pathlib import Path

from schemas.errors import AssayError, ConfigurationError

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
    """Set quiet, offline defaults for a command; what the user has set stays as it is.

    Raises:
        ConfigurationError: `home` cannot be written to.
    """
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("PREFECT_HOME", str(home / "prefect"))
    _keep_known_errors_short()
    for chatty in ("httpx", "great_expectations"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    try:
        Path(os.environ["PREFECT_HOME"]).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"cannot write to {home}: {error.strerror}; name another folder in ASSAY_HOME") from error


class _WithoutKnownErrors(logging.Filter):
    """Leaves out what the command line says in one line of its own."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, AssayError)


def _keep_known_errors_short() -> None:
    """Prefect logs every error of a flow with its traceback; a wrong setting or file needs none."""
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(name).addFilter(_WithoutKnownErrors())
