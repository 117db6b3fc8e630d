-- Whether this transaction now holds the one lock that publishers take; it ends with it.
select pg_try_advisory_xact_lock(hashtextextended('assay publishes', 0)) as held
