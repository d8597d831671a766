"""An RTSP server of GStreamer for tests: gst_rtsp_server.py PORT EPOCH [basic|digest].

Serves one sound in every format that Stenolog reads, and /tones. Second n after EPOCH (seconds since 1970) is a tone of
TONE_BASE + n * TONE_STEP Hz, for all clients and also after a restart of the server. Prints `ready`.
"""

import math
import struct
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

TONE_BASE = 300
TONE_STEP = 40
RATE = 16000
PIECE = 320
USER, PASSWORD = "okapi", "wapiti 47"

SOUND = "audiotestsrc is-live=true freq=440 volume=0.3 ! audio/x-raw,rate={rate},channels={channels} ! audioconvert ! {rest} name=pay0 pt={type}"
MOUNTS = {
    "pcmu": (8000, 1, "mulawenc ! rtppcmupay", 0),
    "pcma": (8000, 1, "alawenc ! rtppcmapay", 8),
    "l16": (16000, 2, "rtpL16pay", 96),
    "mp3": (16000, 1, "lamemp3enc ! mpegaudioparse ! rtpmpapay", 14),
    "opus": (48000, 2, "opusenc ! rtpopuspay", 97),
    "aac": (48000, 2, "avenc_aac ! aacparse ! rtpmp4gpay", 98),
}


def feed(source: Gst.Element, epoch: float) -> None:
    """Pushes tones in real time until the source refuses them."""
    sent = int((time.time() - epoch) * RATE)
    while True:
        samples = (0.3 * math.sin(2 * math.pi * (TONE_BASE + TONE_STEP * (at // RATE)) * at / RATE) for at in range(sent, sent + PIECE))
        data = struct.pack(f"<{PIECE}h", *(int(32767 * value) for value in samples))
        if source.emit("push-buffer", Gst.Buffer.new_wrapped(data)) != Gst.FlowReturn.OK:
            return
        sent += PIECE
        time.sleep(max(0.0, epoch + sent / RATE - time.time()))


def main() -> None:
    port, epoch, kind = sys.argv[1], float(sys.argv[2]), (sys.argv[3:] or [""])[0]
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    permissions = GstRtspServer.RTSPToken()
    permissions.set_string("media.factory.role", "user")

    def add(name: str, launch: str) -> GstRtspServer.RTSPMediaFactory:
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_launch(f"( {launch} )")
        factory.set_shared(True)
        factory.add_role_from_structure(Gst.Structure.from_string("user, media.factory.access=true, media.factory.construct=true")[0])
        factory.add_role_from_structure(Gst.Structure.from_string("anyone, media.factory.access=true, media.factory.construct=true")[0])
        server.get_mount_points().add_factory(f"/{name}", factory)
        return factory

    for name, (rate, channels, rest, kind_number) in MOUNTS.items():
        add(name, SOUND.format(rate=rate, channels=channels, rest=rest, type=kind_number))
    caps = f"audio/x-raw,format=S16LE,rate={RATE},channels=1,layout=interleaved"
    tones = add("tones", f"appsrc name=tones is-live=true format=time do-timestamp=true caps={caps} ! audioconvert ! rtpL16pay name=pay0 pt=96")

    def configured(_factory: GstRtspServer.RTSPMediaFactory, media: GstRtspServer.RTSPMedia) -> None:
        source = media.get_element().get_by_name_recurse_up("tones")
        threading.Thread(target=feed, args=(source, epoch), daemon=True).start()

    tones.connect("media-configure", configured)
    if kind:
        auth = GstRtspServer.RTSPAuth()
        if kind == "digest":
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
            auth.add_digest(USER, PASSWORD, permissions)
        else:
            auth.add_basic(GstRtspServer.RTSPAuth.make_basic(USER, PASSWORD), permissions)
        server.set_auth(auth)
    server.attach(None)
    print("ready", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
