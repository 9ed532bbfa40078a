"""Lets the tests of this folder import `judging`, and run as coroutines."""
