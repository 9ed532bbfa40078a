"""The ways in: command line, MCP, HTTP, console, hook. Each translates, calls the service, translates back."""
