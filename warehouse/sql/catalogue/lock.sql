-- Try to take the publishers' lock, which ends with the transaction.
select pg_try_advisory_xact_lock(hashtextextended('assay publishes', 0)) as held
