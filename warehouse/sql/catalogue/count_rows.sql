select '{table}' as table_name, count(*) as row_count from {database}."{table}"
