delete from {table} where {condition}
