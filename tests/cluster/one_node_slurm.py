"""A real Slurm on this machine, two nodes by name, started without systemd and stopped without a trace."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import private_mounts
from patience import until

PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
CARDS = 4
NODES = ("sweetspot1", "sweetspot2")  # one slurmd each; small and large lie on the first, pair on both
HOSTS = Path("/etc/hosts")  # these are private_mounts' copies
SYSTEM = Path("/etc/slurm")  # jobs lose SLURM_CONF on their way to the node, so the configuration lies where all look

CONFIGURATION = """\
ClusterName=sweetspot
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmUser=root
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=2,bf_interval=2,sched_min_interval=0
GresTypes=gpu
MinJobAge=3600
KillWait=2
NodeName=DEFAULT CPUs=16 RealMemory=64000 Gres=gpu:{cards} State=UNKNOWN
NodeName=sweetspot1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[0]}
NodeName=sweetspot2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]}
PartitionName=small Nodes=sweetspot1 Default=YES MaxTime=INFINITE State=UP
PartitionName=large Nodes=sweetspot1 MaxTime=INFINITE State=UP
PartitionName=brief Nodes=sweetspot1 MaxTime=5 State=UP
PartitionName=pair Nodes=sweetspot[1-2] MaxTime=INFINITE State=UP
"""


def missing(programs: tuple[str, ...] = PROGRAMS, packages: str = "slurm-wlm, munge") -> str | None:
    """Why a Slurm cannot be started here, or None."""
    absent = [name for name in programs if shutil.which(name, path=_search_path()) is None]
    return f"not installed: {', '.join(absent)} (Debian: {packages})" if absent else private_mounts.missing()


def _search_path() -> str:
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class OneNodeSlurm:
    """munged, slurmctld and slurmd in `folder`; `environment` finds Slurm's commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "PATH": _search_path()}

    def run(self, *command: str, check: bool = True) -> str:
        """Standard output of one of Slurm's commands."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def start(self) -> None:
        """Write the configuration and start everything; ready when the node takes jobs."""
        self._start_munge()
        for name in ("state", "dev"):
            (self.folder / name).mkdir(parents=True)
        for card in range(CARDS):  # a card is a device file; a twin of /dev/null harms nobody
            os.mknod(self.folder / "dev" / f"gpu{card}", 0o020666, os.makedev(1, 3))
        SYSTEM.mkdir(exist_ok=True)
        (SYSTEM / "slurm.conf").write_text(self.configuration())
        with HOSTS.open("a") as known:  # TensorFlow's workers find each other by the names of their nodes
            known.writelines(f"127.0.0.1 {node}\n" for node in NODES)
        devices = f"{self.folder}/dev/gpu[0-{CARDS - 1}]"
        (SYSTEM / "gres.conf").write_text(f"AutoDetect=off\nNodeName=sweetspot[1-2] Name=gpu File={devices}\n")
        self.start_controller()
        for node in NODES:
            self.run("slurmd", "-N", node)
        idle = lambda: self.run("sinfo", "-h", "-N", "-p", "pair", "-o", "%T", check=False).split() == ["idle"] * 2  # noqa: E731
        until(idle, "two idle nodes")

    def configuration(self) -> str:
        """The text of slurm.conf."""
        return CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            folder=self.folder,
            cards=CARDS,
            ctld_port=free_port(),
            ports=[free_port() for _ in NODES],
        )

    def start_controller(self) -> None:
        """(Re)start slurmctld; jobs known to it live on."""
        self.run("slurmctld", "-i")
        until(lambda: "UP" in self.run("scontrol", "ping", check=False), "an answer of slurmctld")

    def crash_controller(self) -> None:
        """Kill slurmctld once it has saved what it knows (it does so soon after a job has changed)."""
        now = time.time()

        def saved() -> bool:
            try:
                return (self.folder / "state" / "job_state").stat().st_mtime > now
            except FileNotFoundError:  # it is away for a moment each time that Slurm replaces it
                return False

        until(saved, "a saved state")
        self.kill("slurmctld")

    def stop_controller(self) -> None:
        """End slurmctld as an administrator would: it saves what it knows first."""
        self.kill("slurmctld", signal.SIGTERM)

    def kill(self, daemon: str, sent: signal.Signals = signal.SIGKILL) -> None:
        """Kill a daemon, as a crash would, and wait until it is gone."""
        pid = int((self.folder / f"{daemon}.pid").read_text())
        os.kill(pid, sent)
        until(lambda: not Path(f"/proc/{pid}").exists(), f"the end of {daemon}")

    def stop(self) -> None:
        """Cancel all jobs and end the daemons."""
        self.run("scancel", "--user=root", check=False)
        until(lambda: not self.run("squeue", "-h", "-t", "R,PD,CG", check=False).strip(), "the end of all jobs")
        for daemon in (*NODES, "slurmctld"):
            if (self.folder / f"{daemon}.pid").exists():
                self.kill(daemon)
        os.kill(int(Path("/run/munge/munged.pid").read_text()), 15)

    def _start_munge(self) -> None:
        for folder in ("/run/munge", "/var/log/munge", "/var/lib/munge", "/etc/munge"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            shutil.chown(folder, "munge", "munge")
        Path("/run/munge").chmod(0o755)
        key = Path("/etc/munge/munge.key")
        if not key.exists():
            self.run("mungekey", "--create", "--keyfile", str(key))
        shutil.chown(key, "munge", "munge")
        key.chmod(0o600)
        self.run("setpriv", "--reuid", "munge", "--regid", "munge", "--clear-groups", "munged")
        answers = lambda: subprocess.run("munge -n | unmunge", shell=True, capture_output=True).returncode == 0  # noqa: E731
        until(answers, "an answer of munge")
