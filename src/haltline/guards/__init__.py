"""Guards for agent loops, without any framework: `haltline.adapters` wires them into one.

* `haltline.guards.exfil`: secrets in the arguments of a tool call.
"""
