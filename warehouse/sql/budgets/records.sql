-- States of rates, and the name of the database.
create table if not exists records (name text primary key, content bytea)
