-- Wait until no other transaction holds the subject.
select pg_advisory_xact_lock(hashtextextended('assay keeps ' || cast(?1 as text), 0))
