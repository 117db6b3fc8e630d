select secret_sha256, token from tokens where token_id = :token_id
