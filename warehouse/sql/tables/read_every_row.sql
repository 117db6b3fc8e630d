select count(*) from (select hash(t) as row_hash from "{table}" as t) where row_hash is not null
