#!/usr/bin/env python3
"""Runs docs/ci/slurm on a real Slurm: two nodes on the loopback interface, one of whose tasks is killed on the way.

usage: slurm_test.py PROGRAM ROOT

The merged result has to name the gap. After the lost shard has run again, it has to be what a single run gives.
Daemons, their state and the results are in a temporary folder, and all of that ends with the test. Ends with exit code
77 where Slurm or MUNGE is not installed.
"""
import contextlib
import ctypes
import os
import pathlib
import re
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import merged_result

PROGRAM, ROOT = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute()
# Of the tasks 0 to 6, task 3 runs shard 4 of 7.
KILLED_TASK, KILLED_SHARD = "3", "4/7"
PATIENCE = 90  # seconds; the whole test takes less than 20 on an idle machine
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None, use_errno=True)

# Uses no plugin that needs cgroups, systemd or a database. Each node has one processor, so two tasks run at a time.
CONFIGURATION = """\
ClusterName=conformance
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1
NodeName=node2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def wait_until(condition, what, patience=PATIENCE):
    """The first true value that the condition gives."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {patience} s")
        time.sleep(0.1)


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def children():
    """The processes whose parent is this one, with what their own parents left behind."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # A process name may contain blanks and parentheses.
            _, parent = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:2]
            if parent == str(os.getpid()):
                yield int(folder.name)


class Cluster:
    """A controller and two nodes with an authentication service of their own, for as long as the context lasts."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = []
        self.environment = os.environ | {"PATH": merged_result.search_path(), "SLURM_CONF": str(folder / "slurm.conf")}
        for name in [name for name in self.environment if re.match(r"(SLURM|SBATCH)_(?!CONF)", name)]:
            del self.environment[name]

    def __enter__(self):
        # Orphans of the daemons become children of this process instead of init's.
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
        try:
            self.start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def start(self):
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        host = socket.gethostname().partition(".")[0]
        (self.folder / "state").mkdir()
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, user=user, folder=self.folder, ports=free_ports(3)), encoding="utf-8")
        # Debian 12 has Slurm 22.05, which does not know this setting and uses no cgroups unless a configured plugin
        # does.
        if self.version() >= (23, 11):
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n", encoding="utf-8")
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        self.daemon("munged", "--foreground", f"--socket={self.folder}/munge.socket", f"--key-file={key}",
                    f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                    f"--seed-file={self.folder}/munged.seed")
        wait_until((self.folder / "munge.socket").exists, "munged's socket")
        self.daemon("slurmctld", "-D")
        for node in ("node1", "node2"):
            (self.folder / node).mkdir()
            self.daemon("slurmd", "-D", "-N", node)
        wait_until(lambda: self.output("sinfo", "-h", "-N", "-o", "%T").split() == ["idle", "idle"], "idle nodes")

    def version(self):
        """(22, 5) of "slurm-wlm 22.05.8"."""
        return tuple(map(int, re.search(r"(\d+)\.(\d+)", self.output("sinfo", "--version")).groups()))

    def daemon(self, *command):
        with open(self.folder / f"{command[0]}.out", "ab") as output:
            # The kernel kills the daemon when this process dies for whatever reason.
            self.daemons.append(subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)))

    def __exit__(self, failure, *_):
        if failure:
            print(*self.logs(), sep="\n")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        # Running steps are orphans now, and ended ones are zombies that must be waited for.
        while list(children()):
            for child in children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, 0)

    def run(self, *command, **options):
        return subprocess.run(command, env=self.environment | options.pop("environment", {}), capture_output=True,
                              text=True, timeout=PATIENCE, check=False, **options)

    def output(self, *command, **options):
        done = self.run(*command, **options)
        return done.stdout if done.returncode == 0 else ""

    def jobs(self, job):
        """What Slurm says of a job, or of each task of an array, as dictionaries."""
        text = self.output("scontrol", "--oneliner", "show", "job", job)
        return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in text.splitlines()]

    def wait_for(self, job):
        """The job's tasks, once all of them have ended."""
        over = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"}

        def ended():
            tasks = self.jobs(job)
            return tasks if all(task["JobState"] in over for task in tasks) else None

        return wait_until(ended, f"the end of job {job}")

    def logs(self):
        """The ends of the daemons' logs, for a failure."""
        for path in sorted(self.folder.glob("*.out")):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
            yield from [f"--- {path.name}", *lines]


class Slurm(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="slurm-"))).resolve()
        # MUNGE requires that all users can reach its socket.
        self.folder.chmod(0o755)
        state, self.work = self.folder / "cluster", self.folder / "work"
        state.mkdir()
        self.work.mkdir()
        for script in ("shard.sbatch", "merge.sbatch"):
            shutil.copy(ROOT / "docs/ci/slurm" / script, self.work)
        self.held = self.folder / "hold"
        self.held.touch()
        worker = [sys.executable, "-B", ROOT / "tests/cluster/held_worker.py", ROOT / "docs/examples/worker.py",
                  KILLED_TASK, self.held]
        cases = [str(ROOT / "cases" / name) for name in ("gemm", "reduce", "slice1/examples.json")]
        self.arguments = [*cases, "--engine", "cpu", "--engine", "exec:" + shlex.join(map(str, worker))]
        self.cluster = Cluster(state)

    def submit(self, *words):
        done = self.cluster.run("sbatch", "--parsable", *words, cwd=self.work,
                                environment={"DMLCONFORM": str(PROGRAM), "RESULTS": "results"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def merge_after(self, job):
        """The exit code of the job that merges, and what it wrote."""
        merge, = self.cluster.wait_for(self.submit(f"--dependency=afterany:{job}", "merge.sbatch"))
        code, _, caught = merge["ExitCode"].partition(":")
        self.assertEqual(caught, "0")
        return int(code), (self.work / "merge.log").read_text(encoding="utf-8")

    def test_a_lost_task_is_reported_and_runs_again(self):
        with self.cluster:
            self.lose_a_task_and_run_it_again()

    def lose_a_task_and_run_it_again(self):
        single = self.folder / "single.json"
        alone = self.cluster.run(str(PROGRAM), "run", *self.arguments, "--quiet", "--json", str(single))
        self.assertEqual(alone.returncode, 0, alone.stdout + alone.stderr)

        shards = self.submit("shard.sbatch", *self.arguments)
        wait_until(pathlib.Path(f"{self.held}.held").exists, "the task that is killed")
        killed = self.cluster.run("scancel", "--full", "--signal=KILL", f"{shards}_{KILLED_TASK}")
        self.assertEqual(killed.returncode, 0, killed.stderr)
        tasks = self.cluster.wait_for(shards)
        self.assertEqual(len(tasks), 7)
        self.assertEqual([task["ArrayTaskId"] for task in tasks if task["JobState"] != "COMPLETED"], [KILLED_TASK])
        self.assertEqual({task["NodeList"] for task in tasks}, {"node1", "node2"})
        self.assertFalse((self.work / f"results/shard-{KILLED_TASK}.json").exists())
        code, log = self.merge_after(shards)
        self.assertEqual(code, 1, log)
        self.assertIn(f"shard {KILLED_SHARD} is missing", log)
        self.assertNotEqual(merged_result.differences(self.work / "results/result.json", single), [])

        self.held.unlink()
        again = self.submit(f"--array={KILLED_TASK}", "shard.sbatch", *self.arguments, "--shard", KILLED_SHARD)
        code, log = self.merge_after(again)
        self.assertEqual(code, 0, log)
        self.assertNotIn("missing", log)
        self.assertEqual(merged_result.differences(self.work / "results/result.json", single), [])


def main():
    merged_result.skip_without("slurmctld", "slurmd", "sbatch", "munged")
    # Exiting by exception also leaves the context managers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
