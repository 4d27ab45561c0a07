"""Whether published numbers can be believed: arithmetic on what others measured, and what it shows."""
