insert into catalogue."{table}" by name from source."{table}"
