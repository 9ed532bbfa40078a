"""The named checks, one module per halt type, and the catalogue that names them all."""
