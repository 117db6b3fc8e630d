select reason_sha256, salt, reason from reasons
