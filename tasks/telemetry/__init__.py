"""Traces and metrics for machines, over OTLP: off unless `telemetry.otlp_endpoint` is set; until
then OpenTelemetry is not imported.
"""
