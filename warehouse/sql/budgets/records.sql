-- Records of rates, of workers that died with an idea, and the name of the database.
create table if not exists records (name text primary key, content bytea)
