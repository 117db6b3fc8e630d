create table if not exists accounts (
    name text primary key,
    account text not null, -- schemas/people/role.py as JSON
    password_hash text -- by Argon2; null: none, or the account was removed
) strict
