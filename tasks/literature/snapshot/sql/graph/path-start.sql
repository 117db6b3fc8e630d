create or replace temp table visited as select $first::bigint as paper, null::bigint as before, 0 as hop
