select * from "{table}" limit 0
