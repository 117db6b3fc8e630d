create table if not exists batches (
    name text primary key, model text not null, api_base text, endpoint text not null,
    wave integer not null, remote_id text, state text not null, detail text not null default '',
    sent_at real not null, ended_at real);
create table if not exists questions (
    question_id text primary key, asked_as text not null, unit text not null, step text not null,
    model text not null, api_base text, endpoint text not null, headers text not null, body blob not null,
    cost_usd real, tokens integer not null, batch text references batches (name), state text not null,
    status integer, answer blob, detail text not null default '', written_at real not null,
    waves integer not null default 0);
create index if not exists questions_by_state on questions (state);
create index if not exists questions_by_key on questions (asked_as);
create index if not exists questions_by_batch on questions (batch);
