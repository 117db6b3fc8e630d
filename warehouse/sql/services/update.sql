update {table} set {columns} where {condition}
