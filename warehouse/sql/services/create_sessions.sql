create table if not exists sessions (
    secret_sha256 text primary key,
    name text not null, -- of the account
    ends_at real not null -- seconds since 1970
) strict
