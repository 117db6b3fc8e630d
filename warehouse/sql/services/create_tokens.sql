create table if not exists tokens (
    token_id text primary key,
    secret_sha256 text not null,
    token text not null -- schemas/people/role.py as JSON
) strict
