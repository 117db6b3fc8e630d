"""What everything but the model costs: 20 real ideas judged by a server on loopback that answers at
once.

The server is outside the measured process tree. Run twice: with a cold embedding cache, and with
the cache of the first run (`--label` evaluates anew, the reply cache is set aside).
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from flows.run.prefect_server import free_port
from tests.benchmarks._assay import (
    IDEAS,
    PAPERS,
    command,
    data_is_here,
    environment,
    evaluate,
    first,
)
from tests.benchmarks.evaluation import report
from tests.support.process_tree import measure

IDEA_COUNT = 20


def main() -> None:
    if not data_is_here():
        return
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        env = environment(folder / "home", OPENAI_API_KEY="none")
        measure(
            command("literature", "build", str(PAPERS), str(folder / "index")),
            env,
            folder / "build.log",
        )
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.openai_server", "--port", str(port)]
        )
        try:
            _await(port)
            ideas = first(IDEAS, folder / "twenty.jsonl", IDEA_COUNT)
            engine = [
                "--engine",
                "litellm:openai/judge",
                "--api-base",
                f"http://127.0.0.1:{port}/v1",
            ]
            for label in ("cold embeddings", "warm embeddings"):
                run = evaluate(
                    ideas, folder / "warehouse", folder / "index", *engine, "--label", label
                )
                used = measure(run, env, folder / "run.log")
                report(
                    f"{IDEA_COUNT} ideas, model answers at once, {label}",
                    IDEA_COUNT,
                    used,
                    folder / "run.log",
                )
                for path in (folder / "warehouse" / "cache").glob("replies.sqlite*"):
                    path.unlink()
        finally:
            server.terminate()
            shutil.rmtree(folder / "warehouse", ignore_errors=True)


def _await(port: int) -> None:
    for _ in range(200):
        try:
            httpx.get(f"http://127.0.0.1:{port}/v1/models", timeout=1)
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the model server did not start")


if __name__ == "__main__":
    main()
