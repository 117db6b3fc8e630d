"""Traces and metrics over OTLP; OpenTelemetry is imported only with `telemetry.otlp_endpoint`."""
