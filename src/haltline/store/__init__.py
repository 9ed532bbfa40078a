"""The port to the database and its three bodies."""
