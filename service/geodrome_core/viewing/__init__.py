"""What there is to see of a model about a point: along geodesics, and over the factors that can be drawn."""
