"""The local cluster: its processes alone may speak with each other, and nobody elsewhere reaches
them.
"""

import ipaddress
import subprocess
import sys

import dask
import pytest
from distributed import Client, LocalCluster, Security
from distributed.scheduler import NoWorkerError

from flows.run import cluster as module
from flows.run.cluster import dask_runner

PROGRAM = """
import sys, psutil
from flows.run.cluster import dask_runner

def main():
    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, **{k: v for k, v in dask_runner(2, None).cluster_kwargs.items() if k != "n_workers"}) as cluster:
        with Client(cluster) as client:
            assert client.gather(client.map(abs, [-1, -2])) == [1, 2]
            for names in client.run(lambda dask_worker: list(dask_worker.periodic_callbacks)).values():
                print("calls", *names)
        for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
            for found in process.net_connections("inet"):
                if found.status == psutil.CONN_LISTEN:
                    print("listens", found.laddr.ip, flush=True)
        print("scheduler", cluster.scheduler_address, flush=True)
        sys.stdin.readline()

if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    path = tmp_path_factory.mktemp("cluster") / "cluster.py"
    path.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        said = []
        for line in process.stdout:
            said.append(line.split())
            if line.startswith("scheduler"):
                break
        yield said
        process.communicate("\n", timeout=120)
    assert process.returncode == 0


def test_a_local_cluster_listens_on_loopback_only_and_takes_no_stranger(
    cluster: list[list[str]],
) -> None:
    places = [told[1] for told in cluster if told[0] == "listens"]
    assert len(places) >= 6
    assert [ip for ip in places if not ipaddress.ip_address(ip).is_loopback] == []
    scheduler = cluster[-1][1]
    for address, security in (
        (scheduler.replace("tls:", "tcp:"), None),
        (scheduler, Security.temporary()),
    ):
        with pytest.raises(OSError):  # no answer in time, or none at all
            Client(address, security=security, timeout=1)


def test_no_worker_looks_at_its_threads_which_could_stop_it_for_good(
    cluster: list[list[str]],
) -> None:
    workers = [names for kind, *names in cluster if kind == "calls"]
    assert len(workers) == 2
    for names in workers:
        assert "heartbeat" in names
        assert not [name for name in names if "profile" in name]


def test_work_that_no_worker_is_left_for_fails_instead_of_waiting_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "NO_WORKERS_TIMEOUT", "1 second")
    with dask.config.set(
        {
            "distributed.scheduler.no-workers-timeout": None,
            "distributed.scheduler.allowed-failures": None,
            "distributed.deploy.lost-worker-timeout": None,
        }
    ):
        dask_runner(1, None)
        with (
            LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster,
            Client(cluster) as client,
            pytest.raises(NoWorkerError),
        ):
            client.submit(abs, -1).result(timeout=120)
