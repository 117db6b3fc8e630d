select {columns} from {table} where {condition} order by {order}
