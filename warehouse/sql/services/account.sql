select account, password_hash from accounts where name = :name
