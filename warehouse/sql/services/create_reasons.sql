create table if not exists reasons (
    reason_sha256 text primary key, -- as the ledger has it
    participant_id text not null,
    salt text not null, -- without it the hash of a short reason cannot be guessed
    reason text not null
) strict
