"""What texts say: errors, instructions, boundaries, environments, personal data.

Every module stands alone and works in time linear in its input; import the one that is needed.
"""
