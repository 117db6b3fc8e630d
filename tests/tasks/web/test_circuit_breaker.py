"""The circuit breaker over a clock that is set."""

from pathlib import Path

from tasks.web.shared_limits import CircuitBreaker


def test_a_clock_that_is_set_back_keeps_no_circuit_open_for_longer(tmp_path: Path) -> None:
    now = [1_000_000.0]
    circuit = CircuitBreaker(
        tmp_path / "source.breaker",
        minimum_failures=2,
        minimum_seconds=0.0,
        clock=lambda: now[0],
    )
    for _ in range(2):
        circuit.failed()
    assert not circuit.allows()
    now[0] -= 100_000.0
    assert circuit.allows()
    assert not circuit.allows()
