select 1 from sessions where secret_sha256 = :secret_sha256
