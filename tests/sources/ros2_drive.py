"""How the robot of ros2_peer.py drives: in a circle, with a camera that looks ahead."""

import math

RADIUS, TURN = 3.0, 0.3  # metres, radians a second
MAP_TO_ODOM = (5.0, -2.0, 0.3)  # x, y, turn
CAMERA = (0.2, 0.0, 0.6)  # on the robot


def in_odom(nanos):
    """Where the robot is: x, y, heading."""
    angle = TURN * (nanos / 1e9 % (2 * math.pi / TURN))
    return RADIUS * math.cos(angle), RADIUS * math.sin(angle), angle + math.pi / 2


def between(earlier, later, nanos):
    """Where tf has the robot that was told of it at two stamps alone."""
    if earlier == later:
        return in_odom(earlier)
    ratio = (nanos - earlier) / (later - earlier)
    (x, y, heading), (end_x, end_y, end) = in_odom(earlier), in_odom(later)
    turn = math.remainder(end - heading, 2 * math.pi)
    return x + (end_x - x) * ratio, y + (end_y - y) * ratio, heading + turn * ratio


def camera_in_map(robot):
    """x, y, z and direction of the camera of a robot that is there in odom."""
    x, y, heading = robot
    x, y = x + CAMERA[0] * math.cos(heading), y + CAMERA[0] * math.sin(heading)
    shift_x, shift_y, turn = MAP_TO_ODOM
    x, y = x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn)
    return x + shift_x, y + shift_y, CAMERA[2], math.remainder(heading + turn, 2 * math.pi)
