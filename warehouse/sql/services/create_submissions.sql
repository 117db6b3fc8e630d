create table if not exists submissions (
    job_id text primary key,
    token_id text not null,
    idempotency_key text not null,
    content_sha256 text not null,
    request text, -- schemas/people/job.py as JSON, until the job runner has it
    charge_usd real not null, -- the job's bound, and what it cost once that is known
    open integer not null default 1,
    unique (token_id, idempotency_key)
) strict
