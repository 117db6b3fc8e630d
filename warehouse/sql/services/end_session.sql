delete from sessions where secret_sha256 = :secret_sha256
