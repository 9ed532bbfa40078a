"""The faces: each translates, calls the service, and translates back."""
