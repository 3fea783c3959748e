"""Slurm's accounting for the tests: slurmdbd on a MariaDB of its own, in the same private folders."""

import shutil
import signal
import subprocess
from pathlib import Path

from one_node_slurm import PROGRAMS, SYSTEM, OneNodeSlurm, free_port
from patience import until

NEEDED = (*PROGRAMS, "slurmdbd", "sacctmgr", "mariadbd", "mariadb-install-db", "mariadb")
PACKAGES = "slurm-wlm, munge, slurmdbd, mariadb-server"
CONFIGURATION = """\
AuthType=auth/munge
DbdHost=localhost
DbdPort={port}
SlurmUser=root
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
"""


class AccountedSlurm(OneNodeSlurm):
    """A Slurm that knows accounts and QOS, refuses what they do not allow, and remembers jobs."""

    def configuration(self) -> str:
        """The other's, with the accounting and its limits in force."""
        port = free_port()
        (SYSTEM / "slurmdbd.conf").write_text(CONFIGURATION.format(port=port, folder=self.folder))
        (SYSTEM / "slurmdbd.conf").chmod(0o600)
        lines = [
            "AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=localhost",
            f"AccountingStoragePort={port}", "AccountingStorageEnforce=associations,limits,qos",
            "AccountingStorageTRES=gres/gpu"
        ]  # fmt: skip
        text = super().configuration().replace("AccountingStorageType=accounting_storage/none", "\n".join(lines))
        return text.replace("MinJobAge=3600", "MinJobAge=2")  # the queue forgets what is over; the accounting does not

    def start(self) -> None:
        """The database first, then accounts for root, then the rest."""
        data = Path("/var/lib/mysql-sweetspot")
        data.mkdir()
        shutil.chown(data, "mysql", "mysql")
        Path("/run/mysqld").mkdir(exist_ok=True)
        shutil.chown("/run/mysqld", "mysql", "mysql")
        known = ["--no-defaults", f"--datadir={data}", "--user=mysql"]
        self.run("mariadb-install-db", *known, "--auth-root-authentication-method=socket", "--skip-test-db")
        own = ["--skip-networking", "--socket=/run/mysqld/mysqld.sock", "--innodb-buffer-pool-size=64M"]
        with (self.folder / "mariadb.log").open("w") as log:
            self._database = subprocess.Popen(["mariadbd", *known, *own], env=self.environment, stdout=log, stderr=log)
        until(lambda: self.run("mariadb", "--no-defaults", "-e", "select 1", check=False), "an answer of MariaDB")
        super().start()

    def start_controller(self) -> None:
        """slurmdbd and the accounts come before it."""
        if not (self.folder / "slurmdbd.pid").exists():
            self.start_accounting()
            for words in (
                "cluster sweetspot", "qos short set MaxWall=00:20:00 Flags=DenyOnLimit",
                "qos crowded set GrpTRES=cpu=1", "account test set QOS=normal,short,crowded",
                "user root Account=test DefaultAccount=test"
            ):  # fmt: skip
                self.run("sacctmgr", "--immediate", "add", *words.split())
        super().start_controller()

    def start_accounting(self) -> None:
        """(Re)start slurmdbd."""
        self.run("slurmdbd")
        until(lambda: self.run("sacctmgr", "-n", "show", "stats", check=False), "an answer of slurmdbd")

    def stop(self) -> None:
        """The other daemons, then these."""
        super().stop()
        if (self.folder / "slurmdbd.pid").exists():
            self.kill("slurmdbd", signal.SIGTERM)
        self._database.terminate()
        self._database.wait()
