"""What people type: the subcommands of sweetspot."""
