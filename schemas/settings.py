"""Settings: declared once, read once, at the entry points; everything below receives values.

Each section reads `ASSAY_<SECTION>__<FIELD>`; names other tools already use are read as well.
"""

from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from schemas.choices import LiteratureChoice
from schemas.place import Home, WarehouseFolder
from schemas.secrets import Key, Secret
from schemas.works.experiment import Container


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LiteratureSettings(Section):
    """Semantic Scholar and the gateway in front of it."""

    upstream_url: str = Field(
        default="https://api.semanticscholar.org",
        pattern=r"^https?://[^\s@?#]+$",
        description=(
            "Root of the Semantic Scholar API, or of a proxy for it: host and path, without a"
            " password or a query."
        ),
    )
    requests_per_second: float = Field(
        default=1.0, gt=0, le=1000, description="What the key allows, over all endpoints."
    )
    timeout_seconds: float = Field(default=60.0, gt=0)
    maximum_attempts: int = Field(default=6, ge=1, le=20)
    maximum_total_seconds: float = Field(
        default=300.0, gt=0, description="Bound on one look-up with all its retries."
    )
    retry_base_seconds: float = Field(
        default=1.0,
        gt=0,
        description="Wait before the first retry; it doubles with each further one, with jitter.",
    )
    restart_seconds: float = Field(
        default=60.0,
        gt=0,
        description="How long a request waits for a gateway that is not there: it may restart.",
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description=(
            "Names under which clients reach a gateway, beside its own address, as JSON:"
            ' ["gateway"].'
        ),
    )


class LanguageModelSettings(Section):
    """Limits per model, and what an unknown model costs."""

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
        description="For a reply of up to 4,096 tokens; one that may be longer has as much longer.",
    )
    maximum_attempts: int = Field(default=4, ge=1, le=20)
    maximum_total_seconds: float = Field(
        default=600.0,
        gt=0,
        description="For one question with its retries; grows like the timeout.",
    )
    maximum_completion_tokens: int | None = Field(
        default=None,
        ge=64,
        description=(
            "Most tokens of any answer, thinking apart; None: as the profile or the step says."
        ),
    )
    thinking: str = Field(
        default="auto",
        pattern="^(auto|yes|no)$",
        description=(
            "Whether models take an effort; auto: as LiteLLM knows, and not where it does not."
        ),
    )
    images: str = Field(
        default="auto",
        pattern="^(auto|yes|no)$",
        description=(
            "Whether models see pictures; auto: as LiteLLM knows, and not where it does not."
        ),
    )
    context_tokens: int | None = Field(
        default=None, ge=1024, description="Overrides what LiteLLM knows of the model."
    )
    structured_output: str = Field(
        default="auto",
        pattern="^(auto|json_schema|json_object|text)$",
        description="auto: as LiteLLM says the model can; text: JSON in prose.",
    )
    keep_transcripts_days: float = Field(
        default=90.0,
        ge=0,
        description="How long prompt and reply of every call are kept; 0: not at all.",
    )
    prompt_price_usd_per_million_tokens: float | None = Field(
        default=None, ge=0, description="For a model LiteLLM has no price for."
    )
    completion_price_usd_per_million_tokens: float | None = Field(default=None, ge=0)
    cached_price_usd_per_million_tokens: float | None = Field(default=None, ge=0)


class DocumentSettings(Section):
    """Full text: where it may come from and what it may cost."""

    grobid_timeout_seconds: float = Field(default=60.0, gt=0)
    download_timeout_seconds: float = Field(default=30.0, gt=0)
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
        default=30.0, gt=0, description="CPU seconds one document may take."
    )
    parse_memory_bytes: int = Field(default=1_500_000_000, ge=100_000_000)


class EmbeddingSettings(Section):
    """Sentence embeddings."""

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
        description="Of each text; the rest does not enter the embedding.",
    )


class ClusterSettings(Section):
    """Workers on other machines, by way of a Dask scheduler."""

    host: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9.:_-]+$",
        description=(
            "Name or address under which workers reach this machine; None: the address from which"
            " it reaches the scheduler."
        ),
    )
    tls_authority: Path | None = Field(
        default=None,
        description="Certificate of the authority that signed those of all machines, as PEM.",
    )
    tls_certificate: Path | None = Field(
        default=None, description="This machine's certificate, as PEM."
    )
    tls_key: Path | None = Field(default=None, description="Its key, as PEM.")

    @property
    def certificates(self) -> tuple[Path, Path, Path] | None:
        """Authority, certificate and key; None unless all three are named."""
        if self.tls_authority and self.tls_certificate and self.tls_key:
            return self.tls_authority, self.tls_certificate, self.tls_key
        return None


class SourceSettings(Section):
    """Sources beside the literature gateway: arXiv, OpenAlex, Crossref, web and code search."""

    timeout_seconds: float = Field(
        default=30.0, gt=0, description="For one whole answer, however slowly it trickles."
    )
    maximum_attempts: int = Field(default=4, ge=1, le=20)
    maximum_total_seconds: float = Field(
        default=90.0, gt=0, description="Bound on one request with its retries, the turn apart."
    )
    retry_base_seconds: float = Field(
        default=1.0,
        gt=0,
        description="Wait before the first retry; it doubles with each, with jitter.",
    )
    maximum_bytes: int = Field(default=10_000_000, ge=1000, description="Of one answer, unpacked.")
    requests_per_minute: dict[str, float] = Field(
        default_factory=dict, description="By source name, for plans other than the default one."
    )
    base_urls: dict[str, str] = Field(
        default_factory=dict, description="By source name: a mirror or proxy to ask instead."
    )


class ModelChoice(Section):
    """A model that readers of the dashboard may have asked, and where."""

    model: str = Field(
        pattern=r"^[a-z0-9_-]+/\S+$",
        description="As LiteLLM names it, the provider first: openai/gpt-4.1-mini.",
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
    """An OpenID Connect provider that says who signs in to the dashboard."""

    client_id: str = Field(min_length=1, description="What the provider knows the dashboard as.")
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
    """The dashboard, as `assay dashboard` starts it.

    What its readers may have evaluated is chosen here, by name: a server or path of a reader's own
    would get the keys of whoever runs it.
    """

    warehouse: WarehouseFolder = Field(
        default=Path("assay-warehouse"), description="Folder or address of the warehouse it shows."
    )
    password: Secret | None = Field(
        default=None,
        min_length=1,
        description=(
            "Asked of every reader; None: nothing is asked. With accounts these are asked instead."
        ),
    )
    provider: ProviderSettings | None = Field(
        default=None, description="Signs in holders of accounts; None: their passwords do alone."
    )
    session_hours: float = Field(
        default=12.0, gt=0, le=8760, description="After which a sign-in ends."
    )
    models: dict[str, ModelChoice] = Field(
        default_factory=dict,
        description=(
            'Offered beside the extractive engine, by name, as JSON: {"Small": {"model":'
            ' "openai/gpt-4.1-mini"}}.'
        ),
    )
    literatures: dict[str, LiteratureChoice] = Field(
        default_factory=dict,
        description=(
            'Offered beside the configured one, by name, as JSON: {"2025":'
            ' "snapshot:/data/papers.parquet"}.'
        ),
    )
    projects: dict[str, Path] = Field(
        default_factory=dict,
        description=(
            'Project files by whose rules jobs may wait for people, by name, as JSON: {"night":'
            ' "/data/project.toml"}.'
        ),
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description=(
            "Names under which browsers reach it, beside its own address, as JSON:"
            ' ["assay.example.org"].'
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
    idea_timeout_seconds: float = Field(
        default=3600, gt=0, description="What one idea may take before it ends early."
    )


class ExperimentSettings(Section):
    """Settings of experiments: where programs run, and what a task that is sent as a job may ask
    for.
    """

    container_runtime: str | None = Field(
        default=None,
        pattern="^(podman|docker)$",
        description="Makes the sandboxes in place of bubblewrap; None: bubblewrap does.",
    )
    container_image: str = Field(
        default="assay-sandbox",
        pattern=r"^[A-Za-z0-9]\S*$",
        description=(
            "With a container runtime: the image whose python3 runs programs. It holds the"
            " libraries that tasks need, and not Assay: infra/sandbox.Dockerfile makes one."
        ),
    )

    sent_seconds: float = Field(
        default=600.0, gt=0, description="Most `limits.seconds` of a task that a program sends."
    )
    sent_memory_bytes: int = Field(
        default=4 << 30, ge=64 << 20, description="Most `limits.memory_bytes` of such a task."
    )
    sent_scratch_bytes: int = Field(
        default=1 << 30, ge=1 << 20, description="Most `limits.scratch_bytes` of such a task."
    )
    sent_answer_bytes: int = Field(
        default=64 << 20, ge=1_000, description="Most `limits.answer_bytes` of such a task."
    )
    sent_processes: int = Field(
        default=64, ge=4, description="Most `limits.processes` of such a task."
    )
    sent_runs: int = Field(
        default=2_000, ge=11, description="Most runs that `trials` of such a task add up to."
    )

    @property
    def container(self) -> Container | None:
        """The sandbox where it is a container; None: bubblewrap."""
        if self.container_runtime is None:
            return None
        return Container(runtime=self.container_runtime, image=self.container_image)


class AlarmSettings(Section):
    """From where on a page or the summary of a night raises an alarm."""

    unscored_share: float = Field(
        default=0.2, ge=0, le=1, description="Of all judgements of a run, those without a score."
    )
    unscored_rise: float = Field(
        default=0.1, ge=0, le=1, description="Of that share, over the comparable run before."
    )
    dearer_times: float = Field(
        default=2.0, gt=1, description="What an idea costs, over the comparable run before."
    )
    collapsed_share: float = Field(
        default=0.9, gt=0, le=1, description="Of the judgements of a kind, those of one label."
    )
    position_bias: float = Field(
        default=0.2, gt=0, le=1, description="Share of matches that a place wins over the other."
    )
    order_agreement: float = Field(
        default=0.6, ge=0, le=1, description="Share of pairs judged alike in both orders; below it."
    )
    enough: int = Field(
        default=20, ge=1, description="Judgements or matches below which a judge is not doubted."
    )


class JobSettings(Section):
    """The job runner, which does what pages and programs ask for."""

    at_once: int = Field(
        default=1, ge=1, description="Jobs of one warehouse done at the same time; plans go beside."
    )


class ApiSettings(Section):
    """The services for programs: `assay api`, and MCP over HTTP, which comes with it."""

    maximum_body_bytes: int = Field(
        default=20_000_000, ge=1000, description="Of one request; more is refused."
    )
    body_seconds: float = Field(
        default=30.0, gt=0, description="What the body of a request may take to arrive."
    )
    idle_seconds: float = Field(
        default=30.0,
        gt=0,
        description="How long a connection may stay without a whole head of a request.",
    )
    requests_at_once: int = Field(
        default=32, ge=1, description="Of one token, watched jobs among them; more are refused."
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description=(
            "Names under which programs reach it, beside its own address, as JSON:"
            ' ["assay.example.org"].'
        ),
    )


class VotingSettings(Section):
    """Blind votes of people."""

    check_share: float = Field(
        default=0.1,
        ge=0,
        le=0.5,
        description="Share of pairs in which one side is scrambled, to see whether voters read.",
    )
    most_per_minute: int = Field(
        default=20, ge=1, description="Pairs that one voter may answer within a minute."
    )
    most_per_day: int = Field(
        default=500, ge=1, description="Pairs that one voter may answer within a day."
    )
    questions_per_day: int = Field(
        default=10,
        ge=0,
        description=(
            "Questions of their own that one voter may have answered within a day; 0: none."
        ),
    )
    question_cost_usd: float = Field(
        default=0.5, ge=0, description="Most that either answer to such a question may cost."
    )


class CacheSettings(Section):
    """Bounds that `assay warehouse compact` leaves each cache: replies, look-ups, documents,
    vectors.
    """

    maximum_days: float = Field(default=365.0, gt=0, description="Older entries are dropped.")
    maximum_megabytes: int = Field(
        default=10_000, ge=1, description="Beyond it the oldest entries are dropped."
    )


class BatchSettings(Section):
    """Questions that travel in providers' batches."""

    poll_seconds: float = Field(
        default=60.0, gt=0, description="Between two looks at whether a batch has ended."
    )
    maximum_hours: float = Field(
        default=50.0,
        gt=0,
        description="A run gives up waiting for a wave; providers end a batch after 24 to 48.",
    )


class TelemetrySettings(Section):
    """Traces and metrics for machines.

    Headers the collector asks for: `OTEL_EXPORTER_OTLP_HEADERS`.
    """

    otlp_endpoint: str | None = Field(
        default=None,
        pattern="^https?://.",
        description="Root of an OTLP/HTTP collector, such as http://localhost:4318; None: off.",
    )


class NightlySettings(Section):
    """The nightly flow."""

    notification_block: str | None = Field(
        default=None,
        pattern="^[a-z0-9-]+/[a-z0-9-]+$",
        description="Prefect block the summary is posted through, as slack-webhook/assay.",
    )


def _named(*variables: str) -> Any:
    """A field that is read under names which other tools already use, its own the last."""
    return Field(default=None, validation_alias=AliasChoices(*variables))


class Settings(Home):
    """All of it. Read once by the command line, the flows and the gateway's entry point."""

    semantic_scholar_api_key: Key | None = _named(
        "SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY", "semantic_scholar_api_key"
    )
    unpaywall_email: str | None = _named("UNPAYWALL_EMAIL", "unpaywall_email")
    crossref_mailto: str | None = _named("CROSSREF_MAILTO", "crossref_mailto")
    openalex_api_key: Key | None = _named("OPENALEX_API_KEY", "openalex_api_key")
    openreview_token: Key | None = _named("OPENREVIEW_TOKEN", "openreview_token")
    serper_api_key: Key | None = _named("SERPER_API_KEY", "serper_api_key")
    tavily_api_key: Key | None = _named("TAVILY_API_KEY", "tavily_api_key")
    brave_api_key: Key | None = _named("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY", "brave_api_key")
    searxng_url: str | None = _named("SEARXNG_URL", "searxng_url")
    github_token: Key | None = _named("GITHUB_TOKEN", "GH_TOKEN", "github_token")
    kaggle_username: str | None = _named("KAGGLE_USERNAME", "kaggle_username")
    kaggle_key: Key | None = _named("KAGGLE_KEY", "kaggle_key")
    grobid_url: str | None = _named("GROBID_URL", "grobid_url")
    prefect_api_url: str | None = _named("PREFECT_API_URL", "prefect_api_url")
    data: Path | None = Field(
        default=None, description="Folder of the data sets that the benchmarks read."
    )
    catalogue_url: Secret | None = Field(
        default=None,
        description=(
            "A PostgreSQL catalogue: postgresql://user:password@host:port/database. None: an SQLite"
            " file, beside a warehouse in a folder."
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
    alarms: AlarmSettings = AlarmSettings()
    experiments: ExperimentSettings = ExperimentSettings()
    jobs: JobSettings = JobSettings()
    voting: VotingSettings = VotingSettings()
    api: ApiSettings = ApiSettings()
    batches: BatchSettings = BatchSettings()
    caches: CacheSettings = CacheSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    nightly: NightlySettings = NightlySettings()

    @property
    def catalogue(self) -> str | None:
        """The catalogue's connection string in the clear, for the one call that opens it; None: an
        SQLite file.
        """
        return self.catalogue_url.get_secret_value() if self.catalogue_url else None
