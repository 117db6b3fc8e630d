"""Options of commands: names, meanings, defaults and bounds, each declared once."""
