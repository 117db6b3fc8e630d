-- A row without number or hash is no head; verification names it.
select sequence, entry_sha256 from ledger
where sequence > 0 and entry_sha256 is not null
order by sequence desc
limit 1
