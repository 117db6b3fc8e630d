-- A row without number or hash is no head; verification names it. Without an order, since all rows
-- are read.
select max(sequence) as sequence, max_by(entry_sha256, sequence) as entry_sha256 from ledger
where sequence > 0 and entry_sha256 is not null
having count(*) > 0
