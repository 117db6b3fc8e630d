-- The values of a table's columns by file; inlined rows have no file.
select filename as file, {ranges} from lake."{table}" group by filename
