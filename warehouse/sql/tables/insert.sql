insert into "{table}" by name select {columns} from {source}
