insert into tokens (token_id, secret_sha256, token) values (:token_id, :secret_sha256, :token)
