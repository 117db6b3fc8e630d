create table if not exists pseudonyms (
    name text primary key, -- of the account
    pseudonym text not null unique -- all that votes and the lake hold of it
) strict
