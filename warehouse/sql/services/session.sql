select account from sessions join accounts using (name)
where secret_sha256 = :secret_sha256 and ends_at > :now
