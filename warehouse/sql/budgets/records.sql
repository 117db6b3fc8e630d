-- States of rates, workers that died with an idea in hand, and the name of the database.
create table if not exists records (name text primary key, content bytea)
