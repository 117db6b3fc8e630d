insert into "{table}" ("run_id") values (null)
