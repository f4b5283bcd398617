"""The command `fwl`: it parses, calls and prints."""
