delete from catalogue.{table}
