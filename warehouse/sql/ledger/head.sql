-- A row without number or hash is no head; verification reports it. No ORDER BY, because all rows
-- are read.
select max(sequence) as sequence, max_by(entry_sha256, sequence) as entry_sha256 from ledger
where sequence > 0 and entry_sha256 is not null
having count(*) > 0
