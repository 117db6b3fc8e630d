select coalesce(sum(open), 0), coalesce(sum(charge_usd), 0.0) from submissions
where token_id = :token_id
