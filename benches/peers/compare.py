"""Measures engram and its peers on the same vectors and questions, and writes benches/RESULTS.md.

Each is measured in processes of its own on two cores at most, one question at a time, with a limit on
time. What was measured is kept in the working directory, so that a run goes on where the last one
stopped; ``--only`` measures again what it names, ``--search-only`` keeps what was built, and
``--build-only`` builds it in advance.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import report
import stores
from dataset import HERE, Dataset, prepare
from vectors import K, Truth, read_fvecs, write_vecs

CORES = 2
THREAD_VARIABLES = (
    "OMP_NUM_THREADS RAYON_NUM_THREADS TOKIO_WORKER_THREADS LANCE_CPU_THREADS LANCE_IO_THREADS "
    "OPENBLAS_NUM_THREADS MKL_NUM_THREADS"
).split()
ENGRAM, SOCKET, EMEM, GROWTH = "engram", "engram-socket", "emem", "engram-growth"
NAMES = [ENGRAM, SOCKET, EMEM, *stores.NAMES]
"""In the order of a run: what the goals are about comes first."""
LAST_WORDS = 300

Result = dict[str, object]


class Failed(Exception):
    """Why a stage gave no figures, for the report."""


def two_cores() -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])


def run(command: list[object], limit: float, own_threads: bool = False) -> Result:
    """The JSON at the end of a command's output."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    if not own_threads:
        environment |= dict.fromkeys(THREAD_VARIABLES, str(CORES))
    child = subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=two_cores,
        start_new_session=True,
    )
    try:
        out, errors = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.communicate()
        raise Failed(f"did not end within {limit:.0f} s") from None
    if child.returncode != 0:
        last = errors.strip().splitlines() or [f"ended with {child.returncode} without a word"]
        raise Failed(last[-1][:LAST_WORDS])
    start = 0 if out.lstrip().startswith("{\n") else out.rstrip().rfind("\n") + 1
    return json.loads(out[start:])


def two_stages(
    build: list[object], search: list[object], folder: Path, args: argparse.Namespace, result: Result
) -> None:
    """Builds a peer's store, unless it is there and asked to be kept, and searches it."""
    if not (args.search_only and "build" in result and folder.exists()):
        result.pop("build", None)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        load = os.getloadavg()[0]
        result["build"] = {**run(build, args.build_limit), "load": load}
    if args.build_only:
        return
    result["search"] = run(search, args.search_limit)


def store_result(name: str, data: Dataset, folder: Path, args: argparse.Namespace, result: Result) -> None:
    worker = [sys.executable, HERE / "worker.py"]
    common = [name, "--base", data.base, "--records", data.records, "--folder", folder]
    build = [*worker, "build", *common]
    two_stages(build, [*worker, "search", *common, "--queries", data.queries], folder, args, result)


def emem_result(data: Dataset, folder: Path, args: argparse.Namespace, result: Result) -> None:
    worker = [sys.executable, HERE / "emem_worker.py"]
    common = ["--records", data.records, "--folder", folder]
    build = [*worker, "build", "--captions", data.captions, "--base", data.base, *common]
    search = [*worker, "search", "--captions", data.questions, "--base", data.queries, *common]
    two_stages(build, search, folder, args, result)


def engram_result(data: Dataset, folder: Path, args: argparse.Namespace, result: Result) -> None:
    """``engram bench ann`` on the same vectors, with the true neighbours given."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = folder / "truth.ivecs"
    exact = Truth.kept(data.base, read_fvecs(data.base, data.records), read_fvecs(data.queries))
    write_vecs(truth, exact.ids)
    command = [args.engram, "bench", "ann", "--base", data.base, "--queries", data.queries]
    command += ["--truth", truth, "--k", K, "--windows", "--json"]
    result["ann"] = run(command, args.build_limit, own_threads=True)


def filled(args: argparse.Namespace) -> Path:
    """Where engram's own filled stores are kept."""
    return args.dir / "stores" / ENGRAM


def socket_result(data: Dataset, args: argparse.Namespace, result: Result) -> None:
    command = [args.engram, "bench", "recall", "--captions", data.captions, "--ask", data.questions]
    command += ["--records", data.records, "--questions", args.questions, "--clients", CORES, "--json"]
    command += ["--stores", filled(args)]
    result["recall"] = run(command, args.growth_limit, own_threads=True)


def growth_result(args: argparse.Namespace, result: Result) -> None:
    command = [args.engram, "bench", "recall", "--records", args.growth]
    command += ["--questions", args.questions, "--json", "--stores", filled(args)]
    result["recall"] = run(command, args.growth_limit, own_threads=True)


def measure(name: str, data: Dataset, args: argparse.Namespace, old: Result) -> Result:
    folder = args.dir / "stores" / f"{data.records}x{data.dimension}" / name
    started = time.time()
    result: Result = {"name": name, "started": started, "load": os.getloadavg()[0]}
    if args.search_only and "build" in old:
        result["build"] = old["build"]
    try:
        if name == ENGRAM:
            engram_result(data, folder, args, result)
        elif name == SOCKET:
            socket_result(data, args, result)
        elif name == GROWTH:
            growth_result(args, result)
        elif name == EMEM:
            emem_result(data, folder, args, result)
        else:
            store_result(name, data, folder, args, result)
    except Failed as error:
        result["failed"] = str(error)
    result["took_seconds"] = time.time() - started
    print(f"{name}: {result.get('failed', 'measured')} ({result['took_seconds']:.0f} s)", flush=True)
    return result


def machine() -> Result:
    cpu = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_bytes": memory, "system": platform.platform()}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, default=HERE.parents[1] / "target/peers", help="working directory")
    parser.add_argument("--engram", default=os.environ.get("ENGRAM", "engram"))
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--model", choices=("teacher", "default"), default="teacher", help="whose vectors")
    parser.add_argument("--only", default="", metavar="NAME,..", help=f"of {', '.join(NAMES)} and {GROWTH}")
    parser.add_argument("--again", action="store_true", help="measure all again")
    stages = parser.add_mutually_exclusive_group()
    stages.add_argument("--search-only", action="store_true", help="keep the stores that are built")
    stages.add_argument("--build-only", action="store_true", help="build the peers' stores for a later --search-only")
    parser.add_argument("--questions", type=int, default=2_000, help="through the socket, a measurement")
    parser.add_argument("--growth", default="10000,100000,1000000", help=f"sizes of {GROWTH}")
    parser.add_argument("--build-limit", type=float, default=400, metavar="SECONDS")
    parser.add_argument("--search-limit", type=float, default=240, metavar="SECONDS")
    parser.add_argument("--growth-limit", type=float, default=3_600, metavar="SECONDS", help=f"also of {SOCKET}")
    parser.add_argument("--results", type=Path, default=HERE.parent / "RESULTS.md")
    args = parser.parse_args()
    names = {name for name in args.only.split(",") if name}
    unknown = names - {*NAMES, GROWTH}
    if args.build_only and (own := names & {ENGRAM, SOCKET, GROWTH}):
        parser.error(f"--build-only builds peers' stores; --only names {', '.join(sorted(own))}")
    if unknown:
        parser.error(f"--only names {', '.join(sorted(unknown))}; accepted are {', '.join([*NAMES, GROWTH])}")
    return args


def main() -> None:
    args = arguments()
    args.dir = args.dir.resolve()
    args.dir.mkdir(parents=True, exist_ok=True)
    data = prepare(args.dir, args.records, args.model)
    results = args.dir / "results" / f"{data.records}x{data.dimension}"
    results.mkdir(parents=True, exist_ok=True)
    about = {"records": data.records, "model": data.label, "dimension": data.dimension, "machine": machine()}
    (results / "about.json").write_text(json.dumps(about, indent=1))
    chosen = [name for name in args.only.split(",") if name]
    peers = [EMEM, *stores.NAMES]
    for name in chosen or (peers if args.build_only else NAMES):
        path = results / f"{name}.json"
        old = json.loads(path.read_text()) if path.exists() else {}
        if old and not chosen and not args.again:
            continue
        new = measure(name, data, args, old)
        if "failed" in new and old and "failed" not in old:
            print(f"{name}: the figures of the last run stay", flush=True)
            continue
        path.write_text(json.dumps(new, indent=1))
        # After each one, so that a run that is cut short has its report too.
        report.write(args.dir / "results", args.results)
    report.write(args.dir / "results", args.results)
    print(f"{args.results} is written")


if __name__ == "__main__":
    main()
