"""A comparison of two versions (`pipeline.review`) put into words, for a terminal and for a review's comment."""
