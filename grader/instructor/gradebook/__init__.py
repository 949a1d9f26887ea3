"""A class's marks: kept in a database, adjusted by people, exported to other systems. No torch."""
