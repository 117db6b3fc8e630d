select count(*) from "{table}" where {condition}
