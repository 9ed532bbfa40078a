"""The revisions, one module each, with the DDL that they run beside them."""
