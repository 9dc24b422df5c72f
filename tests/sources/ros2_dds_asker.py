"""The network of ros2_ask.py's node: DDS, by rclpy."""

import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from std_msgs.msg import String


class Voice(Node):
    def __init__(self):
        rclpy.init()
        super().__init__("asker")
        self.questions = self.create_publisher(String, "/engram/ask", 10)
        self.count_answerers = self.questions.get_subscription_count

    def hear(self, goal, event, answer):
        self.create_subscription(PoseStamped, "/engram/goal", goal, 10)
        self.create_subscription(String, "/engram/events", lambda it: event(it.data), 10)
        self.create_subscription(String, "/engram/answer", lambda it: answer(it.data), 10)

    def ask(self, text):
        self.questions.publish(String(data=text))

    def look(self):
        rclpy.spin_once(self, timeout_sec=0.05)

    def check(self):
        pass

    def close(self):
        self.destroy_node()
