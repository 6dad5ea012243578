"""`python -m tests.gate.cluster`: a Ray cluster of two nodes on this machine, for as long as stdin is open.

Prints the address and the process number of each node's raylet, as JSON. A line on stdin kills the second node.
"""

from __future__ import annotations

import inspect
import json
import socket
import sys
import time
from typing import Any

#: Of a node: one processor, so that it takes one spec at a time.
NODE: dict[str, Any] = {"num_cpus": 1, "memory": 3 << 30, "object_store_memory": 100 << 20}
#: Seconds in which a node has to start: Ray 2.60 gives it 30 by the clock, which a busy machine may not.
PATIENCE = 600.0
#: Of these a node waits 15 s by the clock for a file, or dies; without the package's extras there is no such service.
NO_PORTS = ("dashboard_agent_listen_port", "metrics_agent_port", "metrics_export_port")


def make_patient() -> None:
    """Make Ray wait for the nodes that it has started, and nodes not for their agents."""
    from ray._private import services
    from ray._raylet import persist_port

    get_node, start_raylet = services.get_node, services.start_raylet

    def get_node_at_last(*arguments: Any) -> Any:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return get_node(*arguments)
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.5)

    def start_raylet_at_once(*arguments: Any, **more: Any) -> Any:
        asked = inspect.signature(start_raylet).bind(*arguments, **more).arguments
        for name in NO_PORTS:
            persist_port(asked["session_dir"], asked["node_id"], name, -1)
        return start_raylet(*arguments, **more)

    services.get_node, services.start_raylet = get_node_at_last, start_raylet_at_once


def node() -> dict[str, Any]:
    """The arguments of a node, with a port that is free for its agent."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return {**NODE, "runtime_env_agent_port": free.getsockname()[1]}


def main() -> None:
    from ray.cluster_utils import Cluster

    make_patient()
    cluster = Cluster(initialize_head=True, head_node_args={**node(), "include_dashboard": False})
    try:
        second = cluster.add_node(**node())
        pids = [one.all_processes["raylet"][0].process.pid for one in (cluster.head_node, second)]
        print(json.dumps({"address": cluster.address, "raylets": pids}), flush=True)
        for _ in sys.stdin:
            cluster.remove_node(second, allow_graceful=False)
            print("killed", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
