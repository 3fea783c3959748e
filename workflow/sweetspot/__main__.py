"""`python -m sweetspot`, the same as the console script `sweetspot`."""

from sweetspot.commands.command_line import program

program()
