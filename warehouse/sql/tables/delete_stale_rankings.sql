delete from rankings where run_id = $run_id and basis_sha256 <> $basis_sha256
