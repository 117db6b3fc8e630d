select account from accounts order by name
