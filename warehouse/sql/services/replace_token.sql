update tokens set token = :token where token_id = :token_id
