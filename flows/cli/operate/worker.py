"""`assay worker`: a Dask worker for shards of any work."""

import os
import platform
from typing import Annotated

import typer

from flows.run.cluster_access import LOOPBACK_HOSTS, scheduler_place, use_certificates
from flows.run.network import check_free
from schemas.errors import ConfigurationError
from schemas.interpreter import module_command
from schemas.settings import Settings

_CONNECT_SECONDS = 5.0


def worker(
    address: Annotated[
        str,
        typer.Argument(metavar="SCHEDULER", help="Of the Dask scheduler, tls://host:8786."),
    ],
    workers: Annotated[
        int, typer.Option("--workers", min=1, metavar="N", help="Processes of one thread each.")
    ] = 1,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="What it is called; this machine's name."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="ADDRESS:PORT",
            help="Where Prometheus finds its /metrics; only with one process.",
        ),
    ] = None,
) -> int:
    """Evaluate shards from a Dask scheduler.

    Needs the same version of Assay, the same settings, the keys of the models, and the warehouse's
    folder or bucket; on another machine also the catalogue in PostgreSQL. Anything missing is
    reported in one line. Certificates: ASSAY_CLUSTER__TLS_AUTHORITY, …__TLS_CERTIFICATE,
    …__TLS_KEY.
    """
    settings = Settings()
    scheduler_place(address)
    if metrics is not None:
        _check_metrics(metrics, workers)
    use_certificates(settings)
    from flows.run.dask_scheduler import check_admission

    check_admission(address, _CONNECT_SECONDS)
    settings.home.mkdir(parents=True, exist_ok=True)
    command = _command(address, workers, name or platform.node(), metrics, settings)
    os.execv(command[0], command)  # noqa: S606 -- our own: who supervises this has Dask's nanny


def _check_metrics(place: str, workers: int) -> None:
    if workers > 1:
        raise ConfigurationError("--metrics is of one process: start `assay worker` for each")
    host, _, port = place.rpartition(":")
    # Dask cannot parse further colons, and binds to every network without a host.
    if not host or ":" in host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ConfigurationError(
            f"--metrics {place!r} is no address with a port; write it as 127.0.0.1:8790"
        )
    check_free(host, int(port), "--metrics")


def _command(
    address: str, workers: int, name: str, metrics: str | None, settings: Settings
) -> list[str]:
    options = ["--nthreads", "1", "--nworkers", str(workers), "--name", name]
    options += [
        "--preload",
        "flows.run.worker_start",
        "--local-directory",
        str(settings.home / "dask"),
    ]
    # Even without its dashboard, Dask serves metrics over HTTP, by default on every network.
    options += ["--dashboard-address", metrics or f"{LOOPBACK_HOSTS[0]}:0"]
    options += ["--no-dashboard"] if metrics is None else []
    if scheduler_place(address)[0] in LOOPBACK_HOSTS:  # no other machine needs to connect
        options += ["--host", LOOPBACK_HOSTS[0]]
    if settings.cluster.certificates is not None:
        flags = ("--tls-ca-file", "--tls-cert", "--tls-key")
        for flag, path in zip(flags, settings.cluster.certificates, strict=True):
            options += [flag, str(path)]
    return module_command("distributed.cli.dask_worker", address, *options)
