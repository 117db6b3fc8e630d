"""Ten thousand short ideas on the smallest cluster of a deployment, while parts of it are killed.

python -m tests.benchmarks soak --ideas 10000 [--minutes 50] [--seed 7]

Prefect's server, a gateway, a Dask scheduler, two workers and a third that is ten times slower, the
catalogue in PostgreSQL where that is installed, the lake's files in object storage. Model and Semantic Scholar answer at once; 2 % of
the requests meet a refusal, an error, half an answer or a dropped connection. Workers are killed at
random moments and the command itself at fixed shares of the work, and given again. Then everything
is checked: each idea once, scored or with a reason; no question paid for again but those that were
on their way when something was killed.

Ideas are judged by novelty alone, one statement, one search and two model calls each, so that the
machinery is measured and not the method. A run that `--minutes` or Ctrl-C ends is reported as it
stands, also later: `--report --folder DIR`.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import psutil

from flows.works.evaluate.request import bundled_file
from tasks.text.words import sentences
from tests.benchmarks._soak_checks import Done, report, report_lake
from tests.benchmarks._soak_cluster import Cluster, Watch, cluster, kill, servers, slowed
from tests.support.assay_command import COMMAND, start_assay

OF_ECONOMY = {
    'name = "economy"': 'name = "soak"',
    "maximum_statements = 3": "maximum_statements = 1",
    "queries_per_statement = 2": "queries_per_statement = 1\nrerank_by_facet = false",
    "papers_per_query = 20\nrelated_works = 10": "papers_per_query = 5\nrelated_works = 3",
}
"""What is changed of the profile, for ideas that cost little."""
PLACE = "s3://lab/soak"
LOOK_SECONDS = 2.0


@dataclass
class Soak:
    """One run and what was done to it."""

    made: Cluster
    command: list[str]
    done: Done
    dice: random.Random
    kill_seconds: float
    killed_commands: int

    def through(self, deadline: float) -> None:
        """Start the command, strike, start it again, until it ends by itself or time is up."""
        shares = [(n + 0.5) / self.killed_commands for n in range(self.killed_commands)]
        try:
            while self.done.exit_code is None and time.time() < deadline:
                self._started(shares, deadline)
        except KeyboardInterrupt:
            print("interrupted: reporting what there is", flush=True)
        self._end_driver()

    def _started(self, shares: list[float], deadline: float) -> None:
        process = start_assay(*self.command, env=self.made.env, log=self.done.folder / "log")
        self.made.roles["driver"] = psutil.Process(process.pid)
        next_kill = time.time() + self._pause()
        told = 0.0
        while time.time() < deadline:
            if process.poll() is not None:
                self.done.exit_code = process.returncode
                self.done.keep()
                return
            time.sleep(LOOK_SECONDS)
            landed = landed_count_quickly(self.done.warehouse)
            if time.time() - told > 60:
                told = time.time()
                print(f"  {time.strftime('%H:%M:%S')} {landed:,} landed", flush=True)
            if shares and landed >= shares[0] * self.done.ideas:
                shares.pop(0)
                kill(self.made.roles["driver"])
                process.wait()
                self.done.driver_kills.append(time.time())
                self.done.keep()
                return
            if time.time() > next_kill and landed < self.done.ideas:
                self._strike()
                next_kill = time.time() + self._pause()

    def _pause(self) -> float:
        return 10 + self.dice.expovariate(1 / self.kill_seconds)

    def _strike(self) -> None:
        workers = self.made.workers()
        if workers:
            kill(workers[self.dice.choice(sorted(workers))])
            self.done.worker_kills.append(time.time())
            self.done.keep()

    def _end_driver(self) -> None:
        driver = self.made.roles["driver"]
        if self.done.exit_code is None and driver.is_running():
            driver.send_signal(signal.SIGTERM)
            _, alive = psutil.wait_procs([driver], timeout=60)
            if alive:
                kill(driver)


def ideas_file(path: Path, count: int, seed: int) -> Path:
    """Ideas of four sentences from the bundled papers, drawn at random: alike in words, and no two
    the same.
    """
    dice = random.Random(seed)
    papers = [json.loads(line) for line in bundled_file("papers.jsonl").read_text().splitlines()]
    pool = [each for paper in papers for each in sentences(paper["abstract"] or "")]
    pool = [each for each in pool if 10 <= len(each.split()) <= 30]
    with path.open("w") as stream:
        for number in range(count):
            text = " ".join(dice.sample(pool, 4))
            title = " ".join(dice.choice(pool).split()[:8])
            idea = {"idea_id": f"idea-{number:05d}", "title": title, "text": text}
            stream.write(json.dumps(idea) + "\n")
    return path


def profile(path: Path) -> None:
    text = resources.files("flows.profiles").joinpath("economy.toml").read_text("utf-8")
    for written, changed in OF_ECONOMY.items():
        assert text.count(written) == 1, written
        text = text.replace(written, changed)
    path.write_text(text)


def landed_count_quickly(warehouse: Path) -> int:
    """Ideas that have landed: a folder gets its name when it is whole."""
    runs = warehouse.glob("landing/run=*")
    return sum(entry.name.startswith("idea=") for run in runs for entry in os.scandir(run))


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="soak")
    parser.add_argument("--ideas", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=3, help="the slow one among them")
    parser.add_argument("--slow-times", type=float, default=10.0)
    parser.add_argument("--faults", type=float, default=0.02)
    parser.add_argument(
        "--kill-seconds", type=float, default=240.0, help="mean, between two of workers"
    )
    parser.add_argument("--killed-commands", type=int, default=2, help="how often")
    parser.add_argument("--minutes", type=float, default=600.0, help="after which it is ended")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=None, help="kept; else a temporary one")
    parser.add_argument("--report", action="store_true", help="of the run in --folder, and no more")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    if chosen.report:
        report(Done.of(chosen.folder))
        return
    with ExitStack() as stack:
        folder = chosen.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        server, addresses = servers(folder, chosen.faults, chosen.seed)
        stack.callback(server.kill)
        os.environ.update(addresses["storage"])
        profile(folder / "soak.toml")
        told = {
            **addresses["storage"],
            "OPENAI_API_KEY": "none",
            "ASSAY_LITERATURE__UPSTREAM_URL": addresses["literature"],
            "ASSAY_LITERATURE__REQUESTS_PER_SECOND": "1000",
            "ASSAY_LITERATURE__RETRY_BASE_SECONDS": "0.05",
        }
        made = stack.enter_context(cluster(folder, workers=chosen.workers, **told))
        ideas = ideas_file(folder / "ideas.jsonl", chosen.ideas, chosen.seed)
        warehouse = folder / "warehouse"
        move = ("warehouse", "move-data", PLACE, "--warehouse", str(warehouse), "--quiet")
        subprocess.run([*COMMAND, *move], env=made.env, check=True)
        command = [
            *("evaluate", str(ideas), "--warehouse", str(warehouse), "--modules", "novelty"),
            *("--profile", str(folder / "soak.toml"), "--literature", made.gateway),
            *("--engine", "litellm:openai/loopback", "--api-base", addresses["model"]),
            *("--scheduler", made.scheduler, "--no-full-text", "--json"),
        ]
        done = Done(folder, chosen.ideas, time.time())
        done.keep()
        dice = random.Random(chosen.seed)
        soak = Soak(made, command, done, dice, chosen.kill_seconds, chosen.killed_commands)
        with Watch(made), slowed(made, "slow worker", chosen.slow_times):
            soak.through(done.began_at + 60 * chosen.minutes)
        report(done)
        if done.exit_code in (0, 1):
            report_lake(warehouse, made.env)


if __name__ == "__main__":
    main()
