"""Code inside command lines: each module looks into one language and reports what it would do."""
