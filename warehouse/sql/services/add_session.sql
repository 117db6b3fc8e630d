insert into sessions (secret_sha256, name, ends_at) values (:secret_sha256, :name, :ends_at)
on conflict do nothing
