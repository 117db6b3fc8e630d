-- The content under a name, and the server's clock in seconds.
select
    (select content from records where name = ?1) as content,
    cast(extract(epoch from clock_timestamp()) as double precision) as clock
