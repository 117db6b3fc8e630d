-- The server's clock in seconds.
select cast(extract(epoch from clock_timestamp()) as double precision)
