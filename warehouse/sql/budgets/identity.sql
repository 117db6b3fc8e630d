-- The name of the database, ?1 if it has none yet, and its place: the oid alone may be equal in a
-- database restored on another server. Writing checks the permission.
insert into records values ('identity', ?1)
on conflict (name) do update set content = records.content
returning content, (
    select concat_ws(' ', system_identifier, pg_database.oid)
    from pg_control_system(), pg_database where datname = current_database()
) as place
