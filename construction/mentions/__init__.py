"""Files and URLs that a text names: where the names stand, and what the sentences want of them."""
