"""Environment variables of job processes: only the API keys that a job needs."""

from collections.abc import Mapping

from schemas.choices import remote_model
from schemas.options.commands import DeclaredOptions, RunOptions
from schemas.run import Module
from schemas.settings import Settings
from tasks.judging.model_keys import model_variables

_BASE = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
    "VIRTUAL_ENV", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "HF_HOME",
    "HF_HUB_CACHE", "HF_HUB_OFFLINE", "SENTENCE_TRANSFORMERS_HOME", "TOKENIZERS_PARALLELISM",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LITELLM_LOCAL_MODEL_COST_MAP",
    "LITELLM_LOG", "DO_NOT_TRACK", "GROBID_URL", "UNPAYWALL_EMAIL", "CROSSREF_MAILTO",
    "SEARXNG_URL",
})  # fmt: skip
_OBJECT_STORAGE = frozenset({
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION",
    "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE",
    "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_EC2_METADATA_DISABLED",
})  # fmt: skip
_PREFIXES = ("ASSAY_", "LC_", "PYTHON", "XDG_", "PREFECT_", "DASK_", "OTEL_")
_DASHBOARD_PREFIX = "ASSAY_DASHBOARD"
_SEMANTIC_SCHOLAR = frozenset({"SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY"})
SOURCE_VARIABLES = frozenset({
    "OPENALEX_API_KEY", "SERPER_API_KEY", "TAVILY_API_KEY", "BRAVE_API_KEY",
    "BRAVE_SEARCH_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "KAGGLE_USERNAME", "KAGGLE_KEY",
})  # fmt: skip


def environment_of(
    options: RunOptions | DeclaredOptions,
    settings: Settings,
    inherited_variables: Mapping[str, str],
    *,
    in_object_storage: bool = False,
) -> dict[str, str]:
    """Return the variables of `inherited_variables` that a job with these options needs.

    API keys are those of the model's provider; of Semantic Scholar if the literature may be live;
    of the other sources if a committee searches them; of object storage if it is used. Settings of
    the dashboard are left out.
    """
    models = (options.engine.model, remote_model(settings.embeddings.model))
    names = _BASE.union(*(model_variables(model) for model in models if model is not None))
    if _asks_upstream(options):
        names |= _SEMANTIC_SCHOLAR
    if isinstance(options, RunOptions) and Module.COMMITTEE in options.modules:
        names |= SOURCE_VARIABLES
    if in_object_storage:
        names |= _OBJECT_STORAGE
    needed_variables = {
        name: value
        for name, value in inherited_variables.items()
        if _is_needed(name.upper(), names)
    }
    return needed_variables | {"LITELLM_MODE": "PRODUCTION"}


def _asks_upstream(options: RunOptions | DeclaredOptions) -> bool:
    literature = getattr(options, "literature", None)
    if literature is None:  # the configured literature, unless the kind needs none by default
        optional = isinstance(options, DeclaredOptions) and options.literature_is_optional
        return "literature" in type(options).model_fields and not optional
    return bool(literature.asks_upstream)


def without_keys(inherited_variables: Mapping[str, str]) -> dict[str, str]:
    """Return `inherited_variables` without API keys of models and sources.

    Cloud credentials are included, because the lake may be in object storage.
    """
    return {
        name: value
        for name, value in inherited_variables.items()
        if not name.upper().endswith("_API_KEY") and name.upper() not in SOURCE_VARIABLES
    }


def _is_needed(name: str, names: frozenset[str]) -> bool:
    return (name in names or name.startswith(_PREFIXES)) and not name.startswith(_DASHBOARD_PREFIX)
