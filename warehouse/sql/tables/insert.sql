insert into "{table}" by name select * from {source}
