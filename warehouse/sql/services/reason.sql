select reason from reasons where reason_sha256 = :reason_sha256
