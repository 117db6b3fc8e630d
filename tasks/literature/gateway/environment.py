"""Settings for a child process: by environment, so that a key never shows among its arguments."""

import os

import orjson

from schemas.settings import Settings

_KEY_NAMES = ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY")


def environment_of(settings: Settings) -> dict[str, str]:
    """This process's environment with exactly these settings of the sections a gateway reads."""
    environment = {name: value for name, value in os.environ.items() if name not in _KEY_NAMES}
    for section_name, section in (
        ("LITERATURE", settings.literature),
        ("EMBEDDINGS", settings.embeddings),
        ("TELEMETRY", settings.telemetry),
    ):
        for name, value in section.model_dump().items():
            variable = f"ASSAY_{section_name}__{name.upper()}"
            environment.pop(variable, None)
            if value is not None:
                environment[variable] = (
                    value if isinstance(value, str) else orjson.dumps(value).decode()
                )
    environment["ASSAY_HOME"] = str(settings.home)
    if settings.semantic_scholar_api_key is not None:
        environment[_KEY_NAMES[0]] = settings.semantic_scholar_api_key.get_secret_value()
    return environment
