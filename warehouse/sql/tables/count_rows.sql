select count(*) from "{table}"
