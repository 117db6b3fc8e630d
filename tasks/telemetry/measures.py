"""The instruments: what is counted and timed, under which names and units. Labels hold names and outcomes only."""

from opentelemetry.metrics import Histogram, Meter

from schemas.calls import ApiCall, LlmCall

_SECONDS = (0.005, 0.02, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)


class Measures:
    """One set per process. Counters add up over processes; each process counts from its start."""

    def __init__(self, meter: Meter) -> None:
        self._calls = meter.create_counter(
            "assay.model.calls", "{call}", "Attempts at model calls, and answers from the cache."
        )
        self._tokens = meter.create_counter(
            "assay.model.tokens",
            "{token}",
            "By kind: prompt, completion; cached ones are prompt tokens too.",
        )
        self._cost = meter.create_counter(
            "assay.model.cost", "{USD}", "Of calls whose price is known."
        )
        self._unpriced = meter.create_counter(
            "assay.model.unpriced_calls",
            "{call}",
            "Calls missing from the cost: their price is unknown.",
        )
        self._model_seconds = _timed(
            meter, "assay.model.latency", "From sending to the answer, of calls that were sent."
        )
        self._queue_seconds = _timed(meter, "assay.model.queue", "Waiting for Assay's own limits.")
        self._requests = meter.create_counter(
            "assay.source.requests", "{request}", "Look-ups at literature and full-text sources."
        )
        self._upstream = meter.create_counter(
            "assay.source.upstream_requests", "{request}", "Requests that left for a source."
        )
        self._source_seconds = _timed(
            meter, "assay.source.latency", "Until the answer, of look-ups no cache answered."
        )
        self._wait_seconds = _timed(meter, "assay.source.wait", "Waiting for a source's allowance.")
        self._ideas = meter.create_counter(
            "assay.ideas", "{idea}", "Ideas landed, by outcome: complete, or why they ended early."
        )
        self._idea_seconds = _timed(meter, "assay.idea.duration", "From beginning to landing.")
        self._gateway = meter.create_counter(
            "assay.gateway.requests", "{request}", "Requests of the gateway's clients."
        )
        self._gateway_seconds = _timed(
            meter, "assay.gateway.latency", "Until the gateway answered."
        )
        self._sent = meter.create_counter(
            "assay.gateway.upstream_requests", "{request}", "Requests the gateway sent, by outcome."
        )
        self._sent_seconds = _timed(
            meter, "assay.gateway.upstream_latency", "Until the upstream answered."
        )
        self._turn_seconds = _timed(
            meter, "assay.gateway.wait", "Waiting for a turn at the limiter."
        )

    def model_call(self, call: LlmCall) -> None:
        """One attempt at a model call ended."""
        labels = {"step": call.step, "model": call.model_requested}
        self._calls.add(1, {**labels, "status": call.status.value})
        if call.cache_hit:
            return
        for kind, count in (
            ("prompt", call.prompt_tokens),
            ("completion", call.completion_tokens),
            ("cached", call.cached_tokens),
        ):
            self._tokens.add(count, {**labels, "kind": kind})
        if call.cost_usd is None:
            self._unpriced.add(1, labels)
        else:
            self._cost.add(call.cost_usd, labels)
        self._model_seconds.record(call.latency_seconds, {**labels, "status": call.status.value})
        self._queue_seconds.record(call.queue_seconds, labels)

    def source_call(self, call: ApiCall) -> None:
        """One request to a source ended. Its endpoint is no label: of a download it is an address."""
        labels = {"source": call.source}
        self._requests.add(
            1, {**labels, "outcome": call.failure_reason or "answered", "cache_hit": call.cache_hit}
        )
        self._upstream.add(call.upstream_requests, labels)
        if not call.cache_hit:
            self._source_seconds.record(call.latency_seconds, labels)
            self._wait_seconds.record(call.wait_seconds, labels)

    def idea(self, outcome: str, seconds: float) -> None:
        """An idea landed."""
        self._ideas.add(1, {"outcome": outcome})
        self._idea_seconds.record(seconds, {"outcome": outcome})

    def gateway_answered(self, endpoint: str, status: int, cache: str, seconds: float) -> None:
        """A client of the gateway got its answer."""
        self._gateway.add(1, {"endpoint": endpoint, "status": str(status), "cache": cache})
        self._gateway_seconds.record(seconds, {"endpoint": endpoint})

    def upstream_answered(
        self, endpoint: str, outcome: str, latency_seconds: float, wait_seconds: float
    ) -> None:
        """A request of the gateway came to its end."""
        self._sent.add(1, {"endpoint": endpoint, "outcome": outcome})
        self._sent_seconds.record(latency_seconds, {"endpoint": endpoint})
        self._turn_seconds.record(wait_seconds, {"endpoint": endpoint})


def _timed(meter: Meter, name: str, meaning: str) -> Histogram:
    return meter.create_histogram(name, "s", meaning, explicit_bucket_boundaries_advisory=_SECONDS)
