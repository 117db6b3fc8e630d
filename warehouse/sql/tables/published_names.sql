select {columns} from "{table}"
