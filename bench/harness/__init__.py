"""What the benchmark scripts share. Their folders have a link to this one, so that they import it without a path."""
