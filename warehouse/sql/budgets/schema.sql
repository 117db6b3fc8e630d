create table if not exists spent (
    run_id text, idea_id text, cost_usd double precision, tokens bigint, requests bigint,
    primary key (run_id, idea_id));
create table if not exists reserved (
    reservation_id text primary key, run_id text, idea_id text, cost_usd double precision,
    tokens bigint, owner text, at double precision);
create table if not exists charged (
    run_id text, batch text, idea_id text, cost_usd double precision, tokens bigint,
    primary key (run_id, batch, idea_id));
-- Calls of units that have not landed yet. in_flight_of: who waits for the answer; NULL: it came, or
-- never will. cost_usd and tokens are the estimate.
create table if not exists journal (
    call_id text primary key, unit text, run_id text, idea_id text, call text,
    cost_usd double precision, tokens bigint, in_flight_of text, at double precision);
create index if not exists journal_units on journal (unit);
create index if not exists journal_in_flight on journal (in_flight_of) where in_flight_of is not null;
