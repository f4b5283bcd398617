"""How near is near enough, by name; each test takes the strictest that its arithmetic allows."""

# The same operations in the same order: the same bits, or it is another computation.
EXACT = 0

# The same formula in double precision in another order: rounding, times a well-conditioned matrix.
ALGEBRA = 1e-9

# The same formula in single precision (the students), or a slope by finite differences.
SINGLE = 1e-5

# Two optimisers at the same optimum: each stops where its own criterion is met.
OPTIMISED = 1e-3
