"""The serial arm: wire protocol (sans-IO), transports, simulated arm, and the driver node."""
