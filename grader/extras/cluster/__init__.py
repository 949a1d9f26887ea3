"""`kata grade --scheduler`: grade on the workers of a Dask cluster."""

ADDS = {"grade --scheduler": "grader.extras.cluster.slots:cluster_slots"}
