"""Settings from environment variables, read once at the entry points.

Each section reads `ASSAY_<SECTION>__<FIELD>`; some settings also read other tools' variables.
"""

import os
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.place import Home, WarehouseFolder
from schemas.secrets import Key, Secret
from schemas.works.experiment import Container


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LiteratureSettings(Section):
    """Settings of Semantic Scholar and of the gateway."""

    upstream_url: str = Field(
        default="https://api.semanticscholar.org",
        pattern=r"^https?://[^\s@?#]+$",
        description=(
            "Root of the Semantic Scholar API or of a proxy: host and path, without password and"
            " query."
        ),
    )
    requests_per_second: float = Field(
        default=1.0, gt=0, le=1000, description="Rate limit of the key, over all endpoints."
    )
    timeout_seconds: float = Field(default=60.0, gt=0, description="Of one request.")
    restart_seconds: float = Field(
        default=60.0,
        gt=0,
        description="Maximum wait of a request for an unreachable gateway, which may restart.",
    )
    maximum_attempts: int = Field(default=6, ge=1, le=20)
    retry_base_seconds: float = Field(
        default=1.0,
        gt=0,
        description="Wait before the first retry; it doubles with each further one, with jitter.",
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description=('Additional host names of a gateway, as JSON: ["gateway"].'),
    )


class LanguageModelSettings(Section):
    """Limits per model, and prices of unknown models."""

    maximum_concurrency: int = Field(
        default=16, ge=1, description="Model calls in flight per worker."
    )
    requests_per_minute: float | None = Field(
        default=None, gt=0, description="Over all workers; None: no limit."
    )
    tokens_per_minute: float | None = Field(
        default=None, gt=0, description="Prompt and completion, over all workers."
    )
    timeout_seconds: float = Field(
        default=120.0,
        gt=0,
        description=(
            "For a reply of up to 4,096 tokens; proportionally longer for longer replies. A question"
            " with its retries may take five times as long."
        ),
    )
    maximum_attempts: int = Field(default=4, ge=1, le=20)
    thinking: str = Field(
        default="auto",
        pattern="^(auto|yes|no)$",
        description="Whether models accept an effort; auto: by LiteLLM's data, else no.",
    )
    images: str = Field(
        default="auto",
        pattern="^(auto|yes|no)$",
        description="Whether models accept pictures; auto: by LiteLLM's data, else no.",
    )
    context_tokens: int | None = Field(
        default=None, ge=1024, description="Context length; None: by LiteLLM's data."
    )
    structured_output: str = Field(
        default="auto",
        pattern="^(auto|json_schema|json_object|text)$",
        description="Output mode; auto: by LiteLLM's data; text: JSON in prose.",
    )
    keep_transcripts_days: float = Field(
        default=90.0,
        ge=0,
        description="Retention of prompts and replies; 0: not stored.",
    )
    prompt_price_usd_per_million_tokens: float | None = Field(
        default=None, ge=0, description="For models without a price in LiteLLM."
    )
    completion_price_usd_per_million_tokens: float | None = Field(default=None, ge=0)
    cached_price_usd_per_million_tokens: float | None = Field(default=None, ge=0)


class DocumentSettings(Section):
    """Limits on downloading and parsing full texts."""

    timeout_seconds: float = Field(
        default=60.0, gt=0, description="Of one download, and of one reply of GROBID."
    )
    resolve_names_at_proxy: bool = Field(
        default=False,
        description=(
            "Leave it to the proxy of the environment to resolve the hosts of files, where this"
            " machine cannot. Names that lead to private addresses here stay refused."
        ),
    )
    maximum_bytes: int = Field(default=40_000_000, ge=1000)
    maximum_pages: int = Field(default=120, ge=1)
    parse_seconds: float = Field(
        default=30.0, gt=0, description="Maximum CPU seconds per document."
    )
    parse_memory_bytes: int = Field(default=1_500_000_000, ge=100_000_000)


class EmbeddingSettings(Section):
    """Settings of sentence embeddings."""

    model: str = Field(
        default="all-MiniLM-L6-v2",
        description=(
            "The bundled model, any sentence-transformers model, or litellm:<embedding model>."
        ),
    )
    maximum_tokens: int = Field(
        default=128,
        ge=16,
        le=512,
        description="Of each text; the rest is ignored.",
    )


class ClusterSettings(Section):
    """Settings of workers on other machines, with a Dask scheduler."""

    host: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9.:_-]+$",
        description=(
            "Name or address of this machine for workers; None: its address towards the scheduler."
        ),
    )
    tls_authority: Path | None = Field(
        default=None,
        description="Certificate of the authority for all machines, as PEM.",
    )
    tls_certificate: Path | None = Field(
        default=None, description="This machine's certificate, as PEM."
    )
    tls_key: Path | None = Field(default=None, description="Its key, as PEM.")

    @property
    def certificates(self) -> tuple[Path, Path, Path] | None:
        """Authority, certificate and key; None unless all three are set."""
        if self.tls_authority and self.tls_certificate and self.tls_key:
            return self.tls_authority, self.tls_certificate, self.tls_key
        return None


class SourceSettings(Section):
    """Settings of other sources: arXiv, OpenAlex, Crossref, web and code search."""

    requests_per_minute: dict[str, float] = Field(
        default_factory=dict, description="Rate limits by source name, if not the default."
    )
    base_urls: dict[str, str] = Field(
        default_factory=dict, description="Mirrors or proxies by source name."
    )


class ModelChoice(Section):
    """Model offered on the dashboard, with its server."""

    model: str = Field(
        pattern=r"^[a-z0-9_-]+/\S+$",
        description="LiteLLM's name with the provider: openai/gpt-4.1-mini.",
    )
    api_base: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s@]+$",
        description=(
            "An OpenAI-compatible server, without a password in its address; None: the provider's"
            " own."
        ),
    )


class ProviderSettings(Section):
    """OpenID Connect provider for signing in to the dashboard."""

    client_id: str = Field(min_length=1, description="Identifier of the dashboard.")
    client_secret: Secret = Field(min_length=1)
    server_metadata_url: str = Field(
        pattern=r"^https?://[^\s@]+$",
        description="https://PROVIDER/.well-known/openid-configuration.",
    )
    redirect_uri: str = Field(
        pattern=r"^https?://[^\s@]+/oauth2callback$",
        description="The dashboard's own address, https://assay.example.org/oauth2callback.",
    )


class DashboardSettings(Section):
    """Settings of the dashboard.

    Readers can use only the models, literatures and projects listed here by name, because another
    server or path would receive the API keys.
    """

    warehouse: WarehouseFolder = Field(
        default=Path("assay-warehouse"), description="Folder or address of the warehouse."
    )
    password: Secret | None = Field(
        default=None,
        min_length=1,
        description="Common password of all readers; None: no password. Unused with accounts.",
    )
    provider: ProviderSettings | None = Field(
        default=None, description="Sign-in for holders of accounts; None: passwords only."
    )
    models: dict[str, ModelChoice] = Field(
        default_factory=dict,
        description=(
            'Models offered in addition to the extractive engine, by name, as JSON: {"Small":'
            ' {"model": "openai/gpt-4.1-mini"}}.'
        ),
    )
    literatures: dict[str, LiteratureChoice] = Field(
        default_factory=dict,
        description=(
            'Literatures offered in addition to the default, by name, as JSON: {"2025":'
            ' "snapshot:/data/papers.parquet"}.'
        ),
    )
    projects: dict[str, Path] = Field(
        default_factory=dict,
        description=(
            'Project files for decisions of people, by name, as JSON: {"night":'
            ' "/data/project.toml"}.'
        ),
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description=(
            'Additional host names of the dashboard and the API, as JSON: ["assay.example.org"].'
        ),
    )
    prices: Path | None = Field(
        default=None,
        description="Prices of models, a JSON file as LiteLLM ships it; None: LiteLLM's own.",
    )


class RunSettings(Section):
    """Settings of every run of ideas."""

    allowed_unscored_share: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description=(
            "Share of the entries of an idea file that may be unscored, end early or be rejected;"
            " above it the run is not in order and the command exits 1."
        ),
    )
    idea_timeout_seconds: float = Field(default=3600, gt=0, description="Maximum time of one idea.")


class ExperimentSettings(Section):
    """Settings of experiments: the sandbox, and limits on submitted tasks."""

    container_runtime: str | None = Field(
        default=None,
        pattern="^(podman|docker)$",
        description="Container runtime of the sandbox; None: bubblewrap.",
    )
    container_image: str = Field(
        default="assay-sandbox",
        pattern=r"^[A-Za-z0-9]\S*$",
        description=(
            "With a container runtime: the image whose python3 runs programs, with the libraries of"
            " the tasks and without Assay (infra/sandbox.Dockerfile)."
        ),
    )

    sent_seconds: float = Field(
        default=600.0, gt=0, description="Maximum `limits.seconds` of a submitted task."
    )
    sent_memory_bytes: int = Field(
        default=4 << 30,
        ge=64 << 20,
        description="Maximum `limits.memory_bytes` of a submitted task.",
    )

    @property
    def container(self) -> Container | None:
        """Container of the sandbox; None: bubblewrap."""
        if self.container_runtime is None:
            return None
        return Container(runtime=self.container_runtime, image=self.container_image)


class JobSettings(Section):
    """Settings of the job runner."""

    at_once: int = Field(
        default=1, ge=1, description="Concurrent jobs of one warehouse, without estimates."
    )


class ApiSettings(Section):
    """Settings of `assay api`, which includes MCP over HTTP."""

    maximum_body_bytes: int = Field(
        default=20_000_000, ge=1000, description="Of one request; larger ones are refused."
    )
    timeout_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Maximum time to receive the head of a request, and as long for its body.",
    )


class VotingSettings(Section):
    """Settings of blind votes."""

    check_share: float = Field(
        default=0.1,
        ge=0,
        le=0.5,
        description="Share of attention checks, in which one side is scrambled.",
    )
    questions_per_day: int = Field(
        default=10,
        ge=0,
        description="Maximum questions of one voter per day; 0: none.",
    )
    question_cost_usd: float = Field(
        default=0.5, ge=0, description="Maximum cost of each answer to such a question."
    )


class CacheSettings(Section):
    """Bound of each cache (replies, look-ups, documents, vectors) for `warehouse compact`."""

    maximum_megabytes: int = Field(
        default=10_000, ge=1, description="In a larger cache, the oldest entries are dropped."
    )


class BatchSettings(Section):
    """Settings of providers' batches."""

    poll_seconds: float = Field(
        default=60.0, gt=0, description="Interval of checks whether a batch has ended."
    )


class TelemetrySettings(Section):
    """Settings of traces and metrics; headers are in `OTEL_EXPORTER_OTLP_HEADERS`."""

    otlp_endpoint: str | None = Field(
        default=None,
        pattern="^https?://.",
        description="Root of an OTLP/HTTP collector, such as http://localhost:4318; None: off.",
    )


class NightlySettings(Section):
    """Settings of the nightly flow."""

    notification_block: str | None = Field(
        default=None,
        pattern="^[a-z0-9-]+/[a-z0-9-]+$",
        description="Prefect block that posts the summary, such as slack-webhook/assay.",
    )


def _with_aliases(*variables: str) -> Any:
    """Return a field with other tools' variables as aliases, its own name last."""
    return Field(default=None, validation_alias=AliasChoices(*variables))


_CONSTANT = "is a constant now"
RETIRED = {
    "ALARMS": f"{_CONSTANT}, in dashboards/views/alarms.py",
    "API__ALLOWED_HOSTS": "is ASSAY_DASHBOARD__ALLOWED_HOSTS",
    "API__BODY_SECONDS": "is ASSAY_API__TIMEOUT_SECONDS",
    "API__IDLE_SECONDS": "is ASSAY_API__TIMEOUT_SECONDS",
    "API__REQUESTS_AT_ONCE": f"{_CONSTANT}: 32",
    "BATCHES__MAXIMUM_HOURS": f"{_CONSTANT}: 50",
    "CACHES__MAXIMUM_DAYS": f"{_CONSTANT}: 365",
    "DASHBOARD__SESSION_HOURS": f"{_CONSTANT}: 12",
    "DOCUMENTS__DOWNLOAD_TIMEOUT_SECONDS": "is ASSAY_DOCUMENTS__TIMEOUT_SECONDS",
    "DOCUMENTS__GROBID_TIMEOUT_SECONDS": "is ASSAY_DOCUMENTS__TIMEOUT_SECONDS",
    "EXPERIMENTS__SENT_ANSWER_BYTES": f"{_CONSTANT}: 64 MiB",
    "EXPERIMENTS__SENT_PROCESSES": f"{_CONSTANT}: 64",
    "EXPERIMENTS__SENT_RUNS": f"{_CONSTANT}: 2,000",
    "EXPERIMENTS__SENT_SCRATCH_BYTES": f"{_CONSTANT}: 1 GiB",
    "LANGUAGE_MODEL__MAXIMUM_COMPLETION_TOKENS": "is `answer_tokens` in the profile",
    "LANGUAGE_MODEL__MAXIMUM_TOTAL_SECONDS": "is five times ASSAY_LANGUAGE_MODEL__TIMEOUT_SECONDS",
    "LITERATURE__MAXIMUM_TOTAL_SECONDS": f"{_CONSTANT}: 300",
    "SOURCES__MAXIMUM_ATTEMPTS": f"{_CONSTANT}: 4",
    "SOURCES__MAXIMUM_BYTES": f"{_CONSTANT}: 10,000,000",
    "SOURCES__MAXIMUM_TOTAL_SECONDS": f"{_CONSTANT}: 90",
    "SOURCES__RETRY_BASE_SECONDS": f"{_CONSTANT}: 1",
    "SOURCES__TIMEOUT_SECONDS": f"{_CONSTANT}: 30",
    "VOTING__MOST_PER_DAY": f"{_CONSTANT}: 500",
    "VOTING__MOST_PER_MINUTE": f"{_CONSTANT}: 20",
}
"""Settings of earlier versions, and what each became."""


class Settings(Home):
    """All settings, read once by the command line, the flows and the gateway.

    Raises:
        ConfigurationError: a variable names a section or a setting that does not exist.
    """

    semantic_scholar_api_key: Key | None = _with_aliases(
        "SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY", "semantic_scholar_api_key"
    )
    unpaywall_email: str | None = _with_aliases("UNPAYWALL_EMAIL", "unpaywall_email")
    crossref_mailto: str | None = _with_aliases("CROSSREF_MAILTO", "crossref_mailto")
    openalex_api_key: Key | None = _with_aliases("OPENALEX_API_KEY", "openalex_api_key")
    openreview_token: Key | None = _with_aliases("OPENREVIEW_TOKEN", "openreview_token")
    serper_api_key: Key | None = _with_aliases("SERPER_API_KEY", "serper_api_key")
    tavily_api_key: Key | None = _with_aliases("TAVILY_API_KEY", "tavily_api_key")
    brave_api_key: Key | None = _with_aliases(
        "BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY", "brave_api_key"
    )
    searxng_url: str | None = _with_aliases("SEARXNG_URL", "searxng_url")
    github_token: Key | None = _with_aliases("GITHUB_TOKEN", "GH_TOKEN", "github_token")
    kaggle_username: str | None = _with_aliases("KAGGLE_USERNAME", "kaggle_username")
    kaggle_key: Key | None = _with_aliases("KAGGLE_KEY", "kaggle_key")
    grobid_url: str | None = _with_aliases("GROBID_URL", "grobid_url")
    prefect_api_url: str | None = _with_aliases("PREFECT_API_URL", "prefect_api_url")
    data: Path | None = Field(default=None, description="Folder of the benchmarks' data sets.")
    catalogue_url: Secret | None = Field(
        default=None,
        description=(
            "A PostgreSQL catalogue: postgresql://user:password@host:port/database. None: an SQLite"
            " file next to the warehouse's folder."
        ),
    )
    literature: LiteratureSettings = LiteratureSettings()
    language_model: LanguageModelSettings = LanguageModelSettings()
    documents: DocumentSettings = DocumentSettings()
    embeddings: EmbeddingSettings = EmbeddingSettings()
    cluster: ClusterSettings = ClusterSettings()
    sources: SourceSettings = SourceSettings()
    dashboard: DashboardSettings = DashboardSettings()
    runs: RunSettings = RunSettings()
    experiments: ExperimentSettings = ExperimentSettings()
    jobs: JobSettings = JobSettings()
    voting: VotingSettings = VotingSettings()
    api: ApiSettings = ApiSettings()
    batches: BatchSettings = BatchSettings()
    caches: CacheSettings = CacheSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    nightly: NightlySettings = NightlySettings()

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_variables(cls, values: Any) -> Any:
        prefix, delimiter = cls.model_config["env_prefix"], cls.model_config["env_nested_delimiter"]
        for variable in os.environ:
            section, nested, rest = variable.upper().removeprefix(prefix).partition(delimiter or "")
            if not variable.upper().startswith(prefix) or not nested:
                continue
            field = cls.model_fields.get(section.lower())
            fields = getattr(field.annotation, "model_fields", {}) if field else {}
            name = rest.partition(nested)[0]
            if name.lower() not in fields:
                became = RETIRED.get(f"{section}__{name}") or RETIRED.get(section)
                raise ConfigurationError(
                    f"setting {variable[:100]} {became or 'does not exist'}: unset it"
                )
        return values

    @property
    def catalogue(self) -> str | None:
        """Connection string of the catalogue in plain text; None: an SQLite file."""
        return self.catalogue_url.get_secret_value() if self.catalogue_url else None
