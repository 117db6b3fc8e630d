"""Prometheus metrics of a worker, added to Dask's own on `/metrics`."""

from prometheus_client import Counter

from schemas.calls import LlmCall

SHARDS = Counter("assay_worker_shards", "Shards that ended.", ("work", "outcome"))
UNITS = Counter("assay_worker_units", "Units of shards that have a receipt.", ("work",))
REFUSALS = Counter("assay_worker_refusals", "Work that this worker cannot do.")
_CALLS = Counter("assay_worker_model_calls", "Calls of models.", ("model", "status", "cache_hit"))
_TOKENS = Counter("assay_worker_tokens", "Prompt and completion, paid for.", ("model",))
_DOLLARS = Counter(
    "assay_worker_cost_usd", "What calls cost, as far as prices are known.", ("model",)
)


def model_call(call: LlmCall) -> None:
    """Count a finished call."""
    model = call.model_requested
    _CALLS.labels(model, call.status.value, str(call.cache_hit).lower()).inc()
    if not call.cache_hit:
        _TOKENS.labels(model).inc(call.prompt_tokens + call.completion_tokens)
        _DOLLARS.labels(model).inc(call.cost_usd or 0.0)
