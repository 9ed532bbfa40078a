"""How the engine judges each kind of thing: one room for each, as functions of the engine."""
