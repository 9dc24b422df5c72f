"""Looks at `engram page` with Chromium, as its users do.

Two daemons of target/debug: one with the demo's frames, captioned, and one with 100,000 records
that `engram bench recall` makes. What is found wrong is an assertion; how long things took is
printed, and fails only far beyond what is promised, as machines differ.
"""

import argparse
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from playwright.sync_api import Page, expect, sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGRAM = ROOT / "target/debug/engram"
TOOLS = ROOT / "target/page"
SHOTS = TOOLS / "shots"
AXE = TOOLS / "node_modules/axe-core/axe.min.js"
RECORDS = 100_000
# Promised: a view in 200 ms, no task of the browser over 100 ms. Failed beyond so many times that.
SLACK = 5
VIEWS = {
    "timeline": "/",
    "search": "/search?q=red+mug",
    "shows": "/search?q=red+mug&kind=shows",
    "where": "/search?q=red+mug&kind=where",
    "notes-found": "/search?q=door&kind=notes",
    "record": "/record/{record}",
    "map": "/map?q=red+mug",
    "notes": "/kept",
    "memos": "/kept?what=memos",
    "states": "/kept?what=states",
    "sessions": "/kept?what=sessions",
    "waiting": "/kept?what=waiting",
    "set_aside": "/kept?what=set_aside",
    "health": "/health",
    "forget": "/forget?q=red+mug&scope=episodic",
}


class Daemon:
    """A daemon and its page, both ended with the block."""

    def __init__(self, state: pathlib.Path, port: int):
        self.state = state
        self.socket = state / "page-test.sock"
        self.address = f"http://127.0.0.1:{port}"
        self.port = port

    def __enter__(self):
        flags = ["--socket", self.socket, "--set", "time.zone=UTC"]
        self.log = open(self.state / "page-test.log", "w")
        serve = [ENGRAM, "serve", "--state-dir", self.state, *flags]
        serve += ["--set", "captioner.model=household-captioner"]
        self.processes = [subprocess.Popen(serve, stdout=self.log, stderr=self.log)]
        for _ in range(600):
            if subprocess.run([ENGRAM, "status", *flags], capture_output=True).stdout:
                break
            assert self.processes[0].poll() is None, (self.state / "page-test.log").read_text()
            time.sleep(0.2)
        page = [ENGRAM, "page", "--listen", f"127.0.0.1:{self.port}", *flags]
        self.processes.append(subprocess.Popen(page, stdout=self.log, stderr=self.log))
        for _ in range(100):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(self.address).read()
                return self
            time.sleep(0.1)
        raise AssertionError("the page does not answer")

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        self.log.close()

    def engram(self, *arguments):
        command = [ENGRAM, *arguments, "--socket", self.socket]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def call(self, tool, **arguments):
        return json.loads(self.engram("call", tool, json.dumps(arguments)))


def watch(page: Page, origin: str, faults: list):
    """What no view may do: complain in the console, ask another machine, be blocked by its policy."""
    page.on("console", lambda it: faults.append(it.text) if it.type in ("error", "warning") else None)
    page.on("pageerror", lambda it: faults.append(str(it)))
    page.on("response", lambda it: faults.append(f"{it.status} {it.url}") if it.status >= 400 else None)
    page.on("request", lambda it: None if it.url.startswith((origin, "data:")) else faults.append(f"asked {it.url}"))


def check_accessibility(page: Page, name: str):
    page.evaluate(AXE.read_text())
    found = page.evaluate("async () => (await axe.run(document)).violations")
    serious = [it for it in found if it["impact"] in ("serious", "critical")]
    told = [f"{it['id']}: {it['nodes'][0]['html'][:160]}" for it in serious]
    assert not serious, f"{name}: axe: {told}"


def check_views(browser, daemon: Daemon, record: int):
    for scheme, width in (("light", 1360), ("dark", 1360), ("light", 390)):
        size = {"width": width, "height": 850}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        page, faults = context.new_page(), []
        watch(page, daemon.address, faults)
        for name, path in VIEWS.items():
            page.goto(daemon.address + path.format(record=record))
            page.wait_for_load_state("networkidle")
            page.screenshot(path=SHOTS / f"{name}-{scheme}-{width}.png")
            wide = page.evaluate("document.scrollingElement.scrollWidth - innerWidth")
            assert wide <= 0, f"{name} at {width}: {wide} pixels wider than the screen"
            check_accessibility(page, f"{name} {scheme} {width}")
        assert not faults, faults
        context.close()
    print(f"views: {len(VIEWS)} in light, dark and narrow; axe finds nothing serious")


def arrive(page: Page, url):
    """Waits for an address and until it is painted: the keys before that go nowhere."""
    page.wait_for_url(url)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def check_keys(page: Page, daemon: Daemon):
    page.goto(daemon.address)
    arrive(page, daemon.address + "/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".cell > a").first).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#picked-count")).to_have_text("1 selected")
    page.keyboard.press("Escape")
    expect(page.locator(".cell.picked")).to_have_count(0)
    page.keyboard.press("Enter")
    arrive(page, "**/record/*")
    first = page.url
    page.keyboard.press("[")
    arrive(page, lambda url: "/record/" in url and url != first)
    page.keyboard.press("g")
    page.keyboard.press("t")
    arrive(page, daemon.address + "/")
    page.keyboard.press("+")
    arrive(page, "**/?from=*")
    page.keyboard.press("h")
    page.keyboard.press("0")
    arrive(page, daemon.address + "/")
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    arrive(page, "**/search")
    expect(page.locator("input[name=q]")).to_be_focused()
    page.keyboard.type("red mug", delay=30)
    arrive(page, "**q=red*mug*")
    expect(page.locator("#results .cell").first).to_be_visible()
    expect(page.locator("#results .score").first).to_be_visible()
    page.reload()
    expect(page.locator("input[name=q]")).to_have_value("red mug")
    print("keys: from the timeline to a record, through windows, into a search; the address holds it")


def check_mouse(page: Page, daemon: Daemon):
    page.goto(daemon.address)
    arrive(page, daemon.address + "/")
    strip = page.locator("#strip").bounding_box()
    page.mouse.move(strip["x"] + 200, strip["y"] + 40)
    page.mouse.down()
    page.mouse.move(strip["x"] + 500, strip["y"] + 40, steps=5)
    page.mouse.up()
    arrive(page, "**/?from=*")
    page.go_back()
    arrive(page, daemon.address + "/")
    page.goto(daemon.address + "/map")
    arrive(page, daemon.address + "/map")
    svg = page.locator("#map svg").bounding_box()
    page.mouse.move(svg["x"] + svg["width"] / 2, svg["y"] + svg["height"] / 2)
    page.mouse.down()
    page.mouse.move(svg["x"] + svg["width"] / 2 + 160, svg["y"] + svg["height"] / 2, steps=5)
    page.mouse.up()
    arrive(page, "**area=*")
    forget = page.get_by_role("link", name="Forget…").first
    expect(forget).to_have_attribute("href", re.compile(r"/forget\?.*area="))
    print("mouse: a window drawn on the strip, an area on the map")


def check_forgetting(page: Page, daemon: Daemon):
    before = daemon.call("memory_stats")["records"]
    page.goto(daemon.address)
    cells = page.locator(".cell")
    ids = [cells.nth(at).get_attribute("data-id") for at in (0, 1)]
    for at in (0, 1):
        cells.nth(at).hover()
        cells.nth(at).locator("input").check()
    page.get_by_role("button", name="Forget…").click()
    page.wait_for_url("**/forget?*")
    expect(page.locator(".preview h2")).to_have_text("2 records would go")
    expect(page.locator(".preview .cell img")).to_have_count(2)
    page.screenshot(path=SHOTS / "preview.png")
    assert daemon.call("memory_stats")["records"] == before, "a preview changes nothing"
    page.get_by_label("for good").check()
    page.get_by_role("button", name="Forget 2 records").click()
    expect(page.locator("main")).to_contain_text("2 records are gone")
    page.screenshot(path=SHOTS / "receipt.png")
    assert daemon.call("memory_stats")["records"] == before - 2
    for record in ids:
        for path in (f"/record/{record}", f"/thumb/{record}", f"/frame/{record}"):
            try:
                urllib.request.urlopen(daemon.address + path)
                raise AssertionError(f"{path} is still there")
            except urllib.error.HTTPError as error:
                assert error.code == 404, path
    print("forgetting: two records by preview and confirmation; pictures and small ones are gone")


def check_many(page: Page, daemon: Daemon):
    page.add_init_script(
        "window.longTasks = []; new PerformanceObserver(list => list.getEntries().forEach("
        "it => longTasks.push(it.duration))).observe({type: 'longtask', buffered: true})"
    )
    times = []
    for _ in range(5):
        page.goto(daemon.address)
        timing = page.evaluate("performance.getEntriesByType('navigation')[0].toJSON()")
        times.append(timing["domContentLoadedEventEnd"])
        expect(page.locator("a[data-sections]")).to_have_count(0)
    total = page.evaluate("$$('section.span').reduce((sum, it) => sum + +it.dataset.count, 0)")
    assert total == RECORDS, f"the sections have {total} records"
    loads = page.evaluate("longTasks.splice(0)")
    height = page.evaluate("document.scrollingElement.scrollHeight")
    most, reached = 0, 0
    # Quickly through all of it, then slowly through a part.
    steps = [height * at / 40 for at in range(40)] + [height / 2 + 300 * at for at in range(60)]
    for top in steps:
        page.evaluate("top => scrollTo(0, top)", top)
        page.wait_for_timeout(60)
        most = max(most, page.evaluate("document.querySelectorAll('.cell').length"))
    page.wait_for_timeout(2000)
    reached = page.evaluate("[...near].filter(it => it.querySelector('.cell')).length")
    assert reached > 0, "what is in sight has no records"
    assert most < 3_000, f"{most} records in the page at once"
    tasks = page.evaluate("longTasks")
    longest = max([0, *tasks])
    views = []
    for path in ("/", "/search?q=red+mug", "/search?q=red+mug&kind=shows", "/map", "/health"):
        page.goto(daemon.address + path)
        timing = page.evaluate("performance.getEntriesByType('navigation')[0].toJSON()")
        views.append(f"{path} {timing['responseEnd']:.0f}/{timing['domContentLoadedEventEnd']:.0f}")
    view = sorted(times)[2]
    print(
        f"{RECORDS:,} records: timeline in {view:.0f} ms (median of 5), longest task of its loads "
        f"{max([0, *loads]):.0f} ms; scrolled through {height:,} pixels: longest task {longest:.0f} ms, "
        f"{len(tasks)} over 50 ms, at most {most} cells; answered/shown in ms: {', '.join(views)}"
    )
    assert view < 200 * SLACK and longest < 100 * SLACK


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", required=True)
    parser.add_argument("--few", action="store_true", help="without the 100,000 records")
    options = parser.parse_args()
    SHOTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, contextlib.ExitStack() as stack:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        stack.callback(browser.close)
        state = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with Daemon(state, 7751) as daemon:
            daemon.engram("ingest", ROOT / "models/household-captioner/flat")
            daemon.call("memory_save", text="the door code changed to 4711", metadata={"year": 2025})
            daemon.call("state_set", memory={"goal": "tidy", "rooms": ["hall", "kitchen"]})
            record = daemon.call("recall_last_seen", query="red mug")["records"][0]["id"]
            page = browser.new_page()
            check_views(browser, daemon, record)
            check_keys(page, daemon)
            check_mouse(page, daemon)
            check_forgetting(page, daemon)
            page.close()
        if options.few:
            return
        stores = TOOLS / "stores"
        fill = [ENGRAM, "bench", "recall", "--records", str(RECORDS), "--questions", "10", "--stores", stores, "--json"]
        if not list(stores.glob(f"*-{RECORDS}")):
            subprocess.run(fill, check=True, capture_output=True)
        many = state / "many"
        shutil.copytree(next(stores.glob(f"*-{RECORDS}")), many)
        with Daemon(many, 7752) as daemon:
            page = browser.new_page(viewport={"width": 1360, "height": 850})
            check_many(page, daemon)


if __name__ == "__main__":
    main()
