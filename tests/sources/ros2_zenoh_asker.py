"""The network of ros2_ask.py's node: Zenoh as rmw_zenoh speaks it, by zenoh-ros2-sdk, through a router on this machine.

The hashes in the keys by which it hears are made by rosbags of the definitions of the types. What stands beside the
messages is read as rmw_zenoh does it.
"""

import time
from collections import defaultdict

from ros2_zenoh import TYPES, publisher
from zenoh_ros2_sdk import ROS2Subscriber
from zenoh_ros2_sdk.attachment import Attachment

TEXT, POSE = "std_msgs/msg/String", "geometry_msgs/msg/PoseStamped"


class Voice:
    def __init__(self):
        self.questions = publisher("/engram/ask", TEXT)
        self.session = self.questions.session_mgr.session
        self.beside = defaultdict(list)
        self.heard = [self.session.declare_subscriber("0/engram/**", self.note)]

    def note(self, sample):
        self.beside[str(sample.key_expr)].append(bytes(sample.attachment))

    def hear(self, goal, event, answer):
        for name, kind, take in [
            ("goal", POSE, goal),
            ("events", TEXT, lambda it: event(it.data)),
            ("answer", TEXT, lambda it: answer(it.data)),
        ]:
            text, _ = TYPES.generate_msgdef(kind, ros_version=2)
            subscriber = ROS2Subscriber(
                f"/engram/{name}", kind, take, msg_definition=text, type_hash=TYPES.hash_rihs01(kind)
            )
            self.heard.append(subscriber)

    def ask(self, text):
        self.questions.publish(data=text)

    def look(self):
        time.sleep(0.05)

    def tokens(self, kind, name):
        """Of the memory's node alone: the asker's own stand beside them."""
        key = f"@ros2_lv/0/*/*/*/{kind}/%/%/engram/{name.replace('/', '%')}/*/*/*"
        return [str(reply.ok.key_expr) for reply in self.session.liveliness().get(key, timeout=2)]

    def count_publishers(self, name):
        return len(self.tokens("MP", name))

    def count_answerers(self):
        return len(self.tokens("MS", "/engram/ask"))

    def check(self):
        """Every message has its number, when it was sent and whose it is."""
        own = {key: beside for key, beside in self.beside.items() if "/ask/" not in key}
        assert len(own) == 3, list(own)
        senders = set()
        for key, beside in own.items():
            assert all(len(it) == 33 for it in beside), (key, beside)
            read = [Attachment.from_bytes(it) for it in beside]
            assert [it.sequence_id for it in read] == list(range(1, len(read) + 1)), (key, read)
            assert all(abs(it.timestamp_ns / 1e9 - time.time()) < 300 for it in read), (key, read)
            senders |= {it.gid for it in read}
        assert len(senders) == len(own), senders
        assert self.session.liveliness().get("@ros2_lv/0/*/0/0/NN/%/%/engram", timeout=2).recv().ok

    def close(self):
        self.questions.session_mgr.close()
