insert into accounts (name, account, password_hash) values (:name, :account, :password_hash)
on conflict (name) do update set account = excluded.account, password_hash = excluded.password_hash
