"""Speed side by side in one run, and the texts rendered from stored runs; nothing here is asserted as a timed test."""
