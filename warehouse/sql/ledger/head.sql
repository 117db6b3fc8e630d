select sequence, entry_sha256 from ledger order by sequence desc limit 1
