-- The process that holds the lock, and its machine.
select a.application_name as holder
from pg_locks as l
join pg_stat_activity as a using (pid)
where
    l.locktype = 'advisory'
    and l.granted
    and a.datname = current_database()
    and l.database = a.datid
    and (l.classid::bigint << 32) + l.objid::bigint = hashtextextended('assay publishes', 0)
