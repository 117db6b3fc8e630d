select count(*), coalesce(sum(hash(held)), 0) from (select {columns} from {source}) as held
