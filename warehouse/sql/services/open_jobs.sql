select job_id, charge_usd from submissions where token_id = :token_id and open = 1
