update submissions set open = 0, charge_usd = :charge_usd where job_id = :job_id and open = 1
