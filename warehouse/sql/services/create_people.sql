create table if not exists people (
    participant_id text primary key, -- a pseudonym: all that the lake and the ledger know
    key text unique, -- account or token they sign in with; null: neither
    participant text not null -- schemas/people/ledger.py as JSON
) strict
