select '{table}' as table_name, count(*) from "{table}" where {condition}
