pragma synchronous = full;
pragma secure_delete = on; -- who is forgotten leaves no bytes
create table if not exists tokens (
    token_id text primary key,
    secret_sha256 text not null,
    token text not null -- schemas/people/role.py as JSON
) strict;
create table if not exists submissions (
    job_id text primary key,
    token_id text not null,
    idempotency_key text not null,
    content_sha256 text not null,
    request text, -- schemas/people/job.py as JSON, until the job runner has it
    charge_usd real not null, -- the job's bound, and what it cost once that is known
    open integer not null default 1,
    unique (token_id, idempotency_key)
) strict;
create table if not exists accounts (
    name text primary key,
    account text not null, -- schemas/people/role.py as JSON
    password_hash text -- by Argon2; null: none, or the account was removed
) strict;
create table if not exists sessions (
    secret_sha256 text primary key,
    name text not null, -- of the account
    ends_at real not null -- seconds since 1970
) strict;
create table if not exists records (
    position integer primary key autoincrement,
    table_name text not null, -- of SERVICE_TABLES in schemas/tables.py
    record_id text not null, -- the table's key
    record text not null, -- the table's noun as JSON
    unique (table_name, record_id)
) strict;
create table if not exists offers (
    offer_id text primary key,
    voter text not null,
    contest text not null,
    pair text not null, -- names what was shown, whichever way round
    offer text not null, -- schemas/people/votes.py as JSON
    offered_at real not null, -- seconds since 1970
    closed text, -- voted or skipped; null: the voter still looks at it
    closed_at real,
    unique (voter, pair)
) strict;
create table if not exists contests (
    contest text primary key,
    document text not null, -- schemas/people/votes.py as JSON
    standing text -- schemas/people/votes.py as JSON; null: not counted yet
) strict;
create table if not exists questions (
    question_id text primary key,
    voter text not null,
    question text not null, -- schemas/people/live_question.py as JSON
    asked_at real not null, -- seconds since 1970
    ended text -- how; null: it is answered, or waits for the vote
) strict;
create table if not exists people (
    participant_id text primary key, -- a pseudonym: all that the lake and the ledger know
    key text unique, -- account or token they sign in with; null: neither
    participant text not null -- schemas/people/ledger.py as JSON
) strict;
create table if not exists reasons (
    reason_sha256 text primary key, -- as the ledger has it
    participant_id text not null,
    salt text not null, -- without it the hash of a short reason cannot be guessed
    reason text not null
) strict;
