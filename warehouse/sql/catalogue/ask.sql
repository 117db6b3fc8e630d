-- The first row of a query in the server's own SQL.
select * from postgres_query('catalogue', ?) limit 1
