"""What the benchmark scripts share. Each folder of scripts has a link to this one, so that they import it without a path."""
