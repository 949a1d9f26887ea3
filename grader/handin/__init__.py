"""Other people's hand-in systems: what is uploaded there, and what runs there."""
