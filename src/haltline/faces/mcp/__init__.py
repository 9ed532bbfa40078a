"""The MCP server: the operations as tools over stdio, for a caller that is an agent.

`main` is what `haltline mcp` runs. Needs the extra `haltline[mcp]`.
"""

from haltline.faces.mcp.server import build_server, main, serve

__all__ = ["build_server", "main", "serve"]
