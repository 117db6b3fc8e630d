select 1 from ledger
where entry_sha256 = $entry_sha256 and coalesce($sequence::bigint, sequence) = sequence
limit 1
