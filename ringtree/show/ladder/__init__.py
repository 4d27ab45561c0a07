"""A ladder for people: its table, its picture, its words."""
