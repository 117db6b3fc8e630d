select {columns} from "{table}" where {condition}
