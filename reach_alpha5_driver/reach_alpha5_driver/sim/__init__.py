"""The simulated arm: bytes in and bytes out at the line's true pace.

It judges the driver, so it shares no code with it but the frame codec: ids, modes, units and
limits are written down here a second time, from the protocol and not from the driver.
"""
