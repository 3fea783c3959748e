"""What a team has really used: records of jobs and devices, read to months with ranges."""
