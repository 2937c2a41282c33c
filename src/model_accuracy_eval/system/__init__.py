"""The machine: clock and signals, terminal, files and archives, containers, proxies; and the policies of retries."""
