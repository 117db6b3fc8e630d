"""Questions and batches of one run, in one SQLite file.

Workers store questions and read answers; the command of the run submits batches and collects
results. Everything is stored before it is sent, so that a resumed run finds it.
"""

import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from schemas.errors import ConfigurationError, DiskFullError, full_disk
from schemas.identifiers import content_hash
from warehouse.catalogue.sqlite_file import connect, into_wal
from warehouse.scrubbing import known_secrets, mask_secrets
from warehouse.stores.budget_file import Spend

_BUSY_SECONDS = 60.0
_QUESTIONS = (
    "select question_id, asked_as, unit, step, model, api_base, endpoint, headers, body, tokens,"
    " cost_usd from questions where "
)
_BATCHES = "select name, model, api_base, endpoint, wave, remote_id, state from batches where "


class QuestionState(StrEnum):
    """State of a question.

    `open_again`: unanswered at the end of the run; the next start may submit it in another wave.
    """

    WRITTEN = "written"
    SUBMITTED = "submitted"
    ANSWERED = "answered"
    FAILED = "failed"
    OVER_BUDGET = "over_budget"
    OPEN_AGAIN = "open_again"


class BatchState(StrEnum):
    """State of a batch.

    `sending`: it may or may not have reached the provider.
    """

    SENDING = "sending"
    SUBMITTED = "submitted"
    ENDED = "ended"
    REFUSED = "refused"


class Lane(NamedTuple):
    """Properties that the questions of one batch share."""

    model: str
    api_base: str | None
    endpoint: str


@dataclass(frozen=True, slots=True)
class Question:
    """A request to the provider.

    Attributes:
        reply_key: its key in the reply cache; a repeated question has the same key.
        unit: the idea it is asked for.
        headers: of the request, such as switches for beta features.
        cost_usd: estimated at the price of a batch; None: no price is known.
    """

    reply_key: str
    unit: str
    step: str
    lane: Lane
    body: dict[str, Any]
    headers: dict[str, str]
    tokens: int
    cost_usd: float | None

    @property
    def question_id(self) -> str:
        """Return a hash of 40 letters and digits.

        Providers allow no longer identifiers.
        """
        request_json = json.dumps([self.lane, self.body], sort_keys=True)
        return content_hash(self.reply_key, request_json, length=40)

    @property
    def estimate(self) -> Spend:
        return Spend(cost_usd=self.cost_usd or 0.0, tokens=self.tokens)


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """State and answer of a stored question.

    Attributes:
        status: HTTP status of the answer.
        detail: why there is no answer.
        seconds: from submission to the end of its batch.
    """

    unit: str
    state: QuestionState
    status: int | None
    answer: dict[str, Any] | None
    detail: str
    batch: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Batch:
    """A stored batch. `remote_id`: the provider's; None: it may not have arrived."""

    name: str
    lane: Lane
    wave: int
    remote_id: str | None
    state: BatchState


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """Answer to one question with its HTTP status, or the failure."""

    status: int | None = None
    answer: dict[str, Any] | None = None
    detail: str = ""


class Questions:
    """Store of questions and batches, safe for threads and processes.

    The file is opened on first use.

    Raises (every method):
        ConfigurationError: the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    def find(self, question_id: str) -> QuestionRecord | None:
        rows = self._rows(
            "select q.unit, q.state, q.status, q.answer, q.detail, q.batch,"
            " coalesce(b.ended_at - b.sent_at, 0) from questions q"
            " left join batches b on b.name = q.batch where q.question_id = ?",
            question_id,
        )
        for unit, state, status, answer, detail, batch, seconds in rows:
            return QuestionRecord(
                unit,
                QuestionState(state),
                status,
                _unpack(answer),
                detail,
                batch,
                max(seconds, 0.0),
            )
        return None

    def was_answered(self, reply_key: str, unit: str) -> bool:
        """Return whether the question with this key was answered for `unit`."""
        query = "select 1 from questions where asked_as = ? and unit = ? and state = ? limit 1"
        return bool(self._rows(query, reply_key, unit, QuestionState.ANSWERED))

    def has_failed(self, reply_key: str) -> bool:
        """Return whether a batch failed to answer the question."""
        query = "select 1 from questions where asked_as = ? and state = ? limit 1"
        return bool(self._rows(query, reply_key, QuestionState.FAILED))

    def wave_count(self, reply_key: str) -> int:
        """Return the number of waves with this question, in any wording."""
        query = "select coalesce(sum(waves), 0) from questions where asked_as = ?"
        ((count,),) = self._rows(query, reply_key)
        return int(count)

    def write(self, question: Question) -> None:
        """Store a question, unless it is stored and not open again."""
        row = (
            question.question_id,
            question.reply_key,
            question.unit,
            question.step,
            *question.lane,
            json.dumps(question.headers),
            _pack(question.body),
            question.cost_usd,
            question.tokens,
            QuestionState.WRITTEN,
            time.time(),
        )
        with self._transaction() as connection:
            connection.execute(
                "insert into questions (question_id, asked_as, unit, step, model,"
                " api_base, endpoint, headers, body, cost_usd, tokens, state, written_at)"
                " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " on conflict (question_id) do update set unit = excluded.unit,"
                " state = excluded.state, written_at = excluded.written_at where state = ?",
                (*row, QuestionState.OPEN_AGAIN),
            )

    def waiting(self) -> list[tuple[str, Question]]:
        """Return the questions to submit, with their identifiers, oldest first."""
        return self._questions("state = ? order by written_at, question_id", QuestionState.WRITTEN)

    def of_batch(self, name: str) -> list[tuple[str, Question]]:
        return self._questions("batch = ? order by question_id", name)

    def _questions(self, condition: str, *values: Any) -> list[tuple[str, Question]]:
        questions = []
        for row in self._rows(_QUESTIONS + condition, *values):
            question_id, reply_key, unit, step, *lane, headers, body, tokens, cost_usd = row
            question = Question(
                reply_key,
                unit,
                step,
                Lane(*lane),
                _unpack(body) or {},
                json.loads(headers),
                tokens,
                cost_usd,
            )
            questions.append((question_id, question))
        return questions

    def create_batch(self, lane: Lane, wave: int, question_ids: Sequence[str]) -> Batch:
        """Create a batch of these questions, to be sent next."""
        with self._transaction(lasting=True) as connection:
            (batch_count,) = connection.execute("select count(*) from batches").fetchone()
            stem = content_hash(str(self.path), str(batch_count), *question_ids, length=24)
            batch = Batch(f"assay-{stem}", lane, wave, None, BatchState.SENDING)
            connection.execute(
                "insert into batches (name, model, api_base, endpoint, wave, state, sent_at)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                (batch.name, *lane, wave, batch.state, time.time()),
            )
            self._mark(connection, question_ids, QuestionState.SUBMITTED, batch.name)
            count_wave = "update questions set waves = waves + 1 where batch = ?"
            connection.execute(count_wave, (batch.name,))
        return batch

    def store_remote_id(self, name: str, remote_id: str) -> None:
        """Store the provider's identifier of a batch."""
        with self._transaction(lasting=True) as connection:
            connection.execute(
                "update batches set remote_id = ?, state = ? where name = ?",
                (remote_id, BatchState.SUBMITTED, name),
            )

    def store_results(
        self, name: str, results: dict[str, QuestionResult], detail: str = ""
    ) -> None:
        """Store the results of a batch by question.

        A question without a result has failed.
        """
        secrets = known_secrets()
        with self._transaction() as connection:
            open_questions = "select question_id from questions where batch = ? and state = ?"
            values = (name, QuestionState.SUBMITTED)
            for (question_id,) in connection.execute(open_questions, values).fetchall():
                result = results.get(question_id) or QuestionResult(
                    detail=detail or _NOT_IN_THE_RESULTS
                )
                answer = None if result.answer is None else _pack(result.answer, secrets)
                state = QuestionState.FAILED if answer is None else QuestionState.ANSWERED
                connection.execute(
                    "update questions set state = ?, status = ?, answer = ?, detail = ?"
                    " where question_id = ?",
                    (state, result.status, answer, result.detail, question_id),
                )
            self._end(connection, name, BatchState.ENDED, detail)

    def store_refusal(self, name: str, detail: str) -> None:
        """Store that the provider rejected the batch.

        Its questions can be submitted again.
        """
        with self._transaction() as connection:
            connection.execute(
                "update questions set state = ?, batch = null, waves = waves - 1 where batch = ?",
                (QuestionState.WRITTEN, name),
            )
            self._end(connection, name, BatchState.REFUSED, detail)

    def mark_over_budget(self, question_ids: Sequence[str], detail: str) -> None:
        """Mark questions that the budget does not cover."""
        with self._transaction() as connection:
            self._mark(connection, question_ids, QuestionState.OVER_BUDGET, None, detail)

    def reopen(self, state: QuestionState) -> None:
        """Allow questions in this state to be asked again."""
        with self._transaction() as connection:
            connection.execute(
                "update questions set state = ? where state = ?", (QuestionState.OPEN_AGAIN, state)
            )

    def open_batches(self) -> list[Batch]:
        """Return the batches that have not ended."""
        return self._batches("state in (?, ?)", BatchState.SENDING, BatchState.SUBMITTED)

    def batches(self) -> list[Batch]:
        """Return all batches, oldest first."""
        return self._batches("true")

    def _batches(self, condition: str, *values: Any) -> list[Batch]:
        return [
            Batch(name, Lane(*lane), wave, remote_id, BatchState(state))
            for name, *lane, wave, remote_id, state in self._rows(
                f"{_BATCHES}{condition} order by rowid", *values
            )
        ]

    def sent_at(self, name: str) -> float:
        """Return the time at which sending started, in seconds since 1970."""
        ((sent_at,),) = self._rows("select sent_at from batches where name = ?", name)
        return float(sent_at)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _mark(
        self,
        connection: sqlite3.Connection,
        question_ids: Sequence[str],
        state: QuestionState,
        batch: str | None,
        detail: str = "",
    ) -> None:
        connection.executemany(
            "update questions set state = ?, batch = ?, detail = ? where question_id = ?",
            [(state, batch, detail, question_id) for question_id in question_ids],
        )

    def _end(
        self, connection: sqlite3.Connection, name: str, state: BatchState, detail: str
    ) -> None:
        connection.execute(
            "update batches set state = ?, detail = ?, ended_at = ? where name = ?",
            (state, detail, time.time(), name),
        )

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._connection_in_use() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self, *, lasting: bool = False) -> Iterator[sqlite3.Connection]:
        """Run a transaction.

        With `lasting` it survives a power failure, not only a killed process.
        """
        with self._connection_in_use() as connection:
            connection.execute(f"pragma synchronous = {'full' if lasting else 'normal'}")
            connection.execute("begin immediate")
            with connection:
                yield connection

    @contextmanager
    def _connection_in_use(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._connection = self._connection or _connect(self.path)
                yield self._connection
            except sqlite3.Error as error:
                if line := full_disk(error):
                    raise DiskFullError(line) from error
                raise ConfigurationError(
                    f"{self.path}, which stores the batches of the run, cannot be used ({error}):"
                    " make its folder writable"
                ) from error


_NOT_IN_THE_RESULTS = "the batch ended without a result for this question"


def _pack(body: dict[str, Any], secrets: tuple[str, ...] = ()) -> bytes:
    return zlib.compress(mask_secrets(json.dumps(body).encode(), secrets))


def _unpack(content: bytes | None) -> dict[str, Any] | None:
    return None if content is None else dict(json.loads(zlib.decompress(content)))


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        into_wal(connection)
        connection.execute("pragma synchronous = normal")
        statements = resources.files(__package__).joinpath("questions.sql").read_text()
        connection.executescript(statements)
    except sqlite3.Error:
        connection.close()
        raise
    return connection
