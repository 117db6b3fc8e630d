-- The name of the database, ?1 where it has none yet, and where it is: on a new server the number
-- alone is often that of the database it was dumped from. Writing shows that this user may.
insert into records values ('identity', ?1)
on conflict (name) do update set content = records.content
returning content, (
    select concat_ws(' ', system_identifier, pg_database.oid)
    from pg_control_system(), pg_database where datname = current_database()
) as place
