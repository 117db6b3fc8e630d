select * from ledger order by sequence nulls last
