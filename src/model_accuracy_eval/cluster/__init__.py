"""Ray: replicas of an adapter, and sandboxes, as actors on the nodes of a cluster that runs already."""
