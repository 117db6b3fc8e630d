delete from catalogue."{table}"
