"""Tables, figures and progress of a search for settings."""
