"""The adapter: deploy.sh as a process of this machine, or in a container of its own."""
