"""`kata pack bundle colab`: a notebook for each kata that needs nothing but a notebook server."""

ADDS = {"pack bundle colab": "grader.extras.colab.hosted_notebooks:COLAB"}
