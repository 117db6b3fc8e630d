"""Environment variables that libraries read on import.

Set them before any heavy import.
"""

import logging
import os
from pathlib import Path

from flows.run.network import bypass_proxies, share_certificates
from schemas.errors import AssayError, ConfigurationError
from warehouse.permissions import check_locks, keep_private
from warehouse.scrubbing import strip_secrets

_DEFAULTS = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # otherwise LiteLLM downloads prices on import
    "LITELLM_LOG": "ERROR",
    "PREFECT_LOGGING_LEVEL": "ERROR",  # otherwise a lost server is logged once per event
    "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONSAFEPATH": "1",  # Dask's processes must not import from the working directory
}


def prepare_environment(home: Path) -> None:
    """Set quiet, offline defaults and private file permissions for a command.

    Variables that the user has set stay.

    Raises:
        ConfigurationError: `home` is not writable, its file system has no locks, or a certificate
            bundle is missing.
    """
    strip_secrets()
    bypass_proxies(os.environ.get("PREFECT_API_URL"), os.environ.get("GROBID_URL"))
    share_certificates()
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    prefect_home = Path(os.environ.get("PREFECT_HOME", home / "prefect")).expanduser().absolute()
    os.environ["PREFECT_HOME"] = str(prefect_home)
    # Otherwise a `prefect.toml` in the working directory could name a logging file, which can run
    # any function.
    os.environ.setdefault("PREFECT_LOGGING_CONFIG_PATH", str(prefect_home / "logging.yml"))
    silence_known_errors()
    for chatty in ("httpx", "great_expectations"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    try:
        keep_private(home)
        prefect_home.mkdir(parents=True, exist_ok=True)
        check_locks(home)
    except OSError as error:
        raise ConfigurationError(
            f"cannot write to {home}: {error.strerror}; name another folder in ASSAY_HOME"
        ) from error


class _WithoutKnownErrors(logging.Filter):
    """Drops log records of errors that the command line reports in one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        from tasks.web.client import ConnectionFailure  # late import: not every command needs it

        error = record.exc_info[1] if record.exc_info else None
        is_known = isinstance(error, (AssayError, ConnectionFailure))
        return not is_known and not record.getMessage().startswith("Crash detected!")


def silence_known_errors() -> None:
    """Stop Prefect from logging known errors of flows with tracebacks."""
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(name).addFilter(_WithoutKnownErrors())
