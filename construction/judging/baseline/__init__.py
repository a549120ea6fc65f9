"""What is judged where no model was asked: facts and structure; everything else is left open."""
