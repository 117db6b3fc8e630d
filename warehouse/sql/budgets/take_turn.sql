-- Wait until no other transaction is over the same subject.
select pg_advisory_xact_lock(hashtextextended('assay keeps ' || cast(?1 as text), 0))
