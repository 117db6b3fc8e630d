select * from ledger where run_id = $run_id order by sequence
