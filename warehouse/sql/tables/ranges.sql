-- The values of a table's columns by file; rows in the catalogue itself have no file of their own.
select filename as file, {ranges} from lake."{table}" group by filename
