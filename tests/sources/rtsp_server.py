"""Real RTSP server (GStreamer's) of a moving test picture, for tests/it/ffmpeg.rs.

rtsp_server.py PORT: serves rtsp://127.0.0.1:PORT/camera (H.264, 640x480, 30 frames a second; PORT 0 takes a free one)
and prints the port when it listens. Debian: gstreamer1.0-rtsp, gstreamer1.0-plugins-good, gstreamer1.0-plugins-ugly,
gir1.2-gst-rtsp-server-1.0, python3-gi.
"""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
server = GstRtspServer.RTSPServer.new()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
factory = GstRtspServer.RTSPMediaFactory.new()
factory.set_launch(
    "( videotestsrc is-live=true pattern=smpte ! video/x-raw,width=640,height=480,framerate=30/1 "
    "! videoconvert ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=15 ! rtph264pay name=pay0 pt=96 )"
)
factory.set_shared(True)
server.get_mount_points().add_factory("/camera", factory)
if server.attach(None) == 0:
    sys.exit(f"port {sys.argv[1]} is taken")
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
