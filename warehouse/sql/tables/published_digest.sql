select landing_sha256 from "{table}" where {condition}
