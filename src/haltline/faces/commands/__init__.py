"""The commands of `haltline`, one module for each group; a module is imported when its command is called."""
