//! The page over TCP, before a daemon that is scripted: who gets an answer, what every answer
//! has, and that stored text stays text.

#![expect(clippy::disallowed_types, reason = "a browser connects by TCP")]

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use engram::base::time::Zone;
use engram::page::{Call, Daemon, DaemonError, Options, PageError, Reply, Resource, Server};
use serde_json::{Map, Value, json};

/// What somebody wrote into a caption.
const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}";
const ESCAPED: &str = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u202e";

/// What a forgotten caption said.
const SECRET: &str = "the code is 4711";

/// Answers by tool; forgets what it is told to.
#[derive(Clone, Default)]
struct Scripted {
    calls: Arc<Mutex<Vec<(String, Value)>>>,
    is_gone: Arc<Mutex<bool>>,
}

impl Daemon for Scripted {
    fn calls(&self, calls: &[Call]) -> (Vec<Reply>, Option<DaemonError>) {
        let mut replies = Vec::new();
        for Call { tool, arguments } in calls {
            let arguments = Value::Object(arguments.clone());
            self.calls.lock().unwrap().push(((*tool).to_owned(), arguments.clone()));
            match answer(tool, &arguments) {
                Some(Value::Object(structured)) => {
                    replies.push(Reply { structured, text: HOSTILE.to_owned() });
                }
                _ => return (replies, Some(DaemonError::Refused(format!("{tool}: {HOSTILE}")))),
            }
        }
        (replies, None)
    }

    fn export(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, DaemonError> {
        match answer("export", &Value::Object(arguments)) {
            Some(Value::Object(items)) => Ok(items),
            _ => Err(DaemonError::Unavailable(HOSTILE.to_owned())),
        }
    }

    fn browse(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, DaemonError> {
        match answer("browse", &Value::Object(arguments)) {
            Some(Value::Object(items)) => Ok(items),
            _ => Err(DaemonError::Unavailable(HOSTILE.to_owned())),
        }
    }

    fn resource(&self, address: &str) -> Result<Option<Resource>, DaemonError> {
        let resource = |mime: &str, bytes: &[u8]| {
            Some(Resource { mime: mime.to_owned(), bytes: bytes.to_owned() })
        };
        Ok(match address {
            "engram://spool/7?max_edge=320" => resource("image/png", &frame()),
            "engram://frames/7" if !*self.is_gone.lock().unwrap() => {
                resource("image/png", &frame())
            }
            "engram://records/7" => {
                let mut whole = record();
                whole["parsed"] = json!({"things": [{"phrase": HOSTILE, "head": HOSTILE,
                    "attributes": [HOSTILE], "presence": HOSTILE, "is_person": false}],
                    "deeds": [HOSTILE], "surface": HOSTILE, "room": null});
                resource("application/json", whole.to_string().as_bytes())
            }
            "engram://metrics" => resource("text/plain", b"engram_records 1\n"),
            _ => None,
        })
    }
}

fn frame() -> Vec<u8> {
    let mut png = io::Cursor::new(Vec::new());
    image::RgbImage::from_pixel(8, 6, image::Rgb([9, 99, 199]))
        .write_to(&mut png, image::ImageFormat::Png)
        .unwrap();
    png.into_inner()
}

fn record() -> Value {
    json!({"id": 7, "time": "2025-01-03 09:14:07", "timestamp": 1_735_895_647.0,
        "end_time": "2025-01-03 09:14:07", "caption": HOSTILE, "confidence": 0.9,
        "position": [1.0, 2.0, 0.0], "theta": 0.5, "frame_id": HOSTILE, "map_id": HOSTILE,
        "source": HOSTILE, "image": "engram://frames/7", "matched": [HOSTILE], "score": 0.5,
        "detections": [{"name": HOSTILE, "score": 0.5, "box": [0.1, 0.1, 0.5, 0.5]}]})
}

/// 60 minutes with 100 records each, and a pause after the 36th, within the window.
fn minutes(arguments: &Value) -> Value {
    let end = arguments["end_time"].as_f64().unwrap_or(f64::MAX);
    let start_of = |minute: u32| 60.0 * f64::from(minute + 600 * u32::from(minute >= 36));
    let starts = (0..60).map(|minute| 1_735_895_640.0 + start_of(minute));
    let bucket = |start: f64| json!({"timestamp": start, "end_timestamp": start + 60.0, "count": 100, "time": ""});
    let buckets: Vec<Value> = starts.take_while(|start| *start <= end).map(bucket).collect();
    json!({"count": 100 * buckets.len(), "buckets": buckets})
}

fn answer(tool: &str, arguments: &Value) -> Option<Value> {
    let goal = json!({"position": [1.0, 2.0, 0.0], "map_id": HOSTILE, "reason": HOSTILE});
    Some(match tool {
        "memory_stats" => json!({"records": 1, "origins": [
            {"source": HOSTILE, "map_id": HOSTILE, "records": 1},
            {"source": "other", "map_id": "other", "records": 1}]}),
        "count_records_by_time" if arguments["source"] == "many" => minutes(arguments),
        "count_records_by_time" => json!({"buckets": [{"timestamp": 1_735_895_640.0,
            "end_timestamp": 1_735_895_700.0, "count": 1, "time": ""}], "count": 1}),
        "list_records" => json!({"records": [record()], "count": 1, "more": false}),
        "recall_best_match" => json!({"records": [record()], "notice": HOSTILE, "explanation": {
            "weights": {"dense": 0.7, "lexical": 0.3},
            "scores": [{"id": 7, "score": 0.5, "dense": 0.5, "lexical": 0.5}],
            "pieces": [{"segment": null, "rows": 1, "selected": 1, "why": HOSTILE}]}}),
        "recall_all" | "recall_last_seen" => {
            json!({"records": [record()], "explanation": {"certainty": HOSTILE,
            "things": [{"stems": [HOSTILE], "attributes": [HOSTILE], "more_phrases": 0,
                "phrases": [{"phrase": HOSTILE, "fit": HOSTILE, "records": 1}]}], "pieces": []}})
        }
        "watch_goals" => json!({"events": [{"goals": [goal]}], "next": 1}),
        "health" => json!({"status": "degraded", "problems": [HOSTILE], "version": HOSTILE,
            "uptime_seconds": 3}),
        "ingest_status" => json!({"seen": 1, "set_aside": [{"frame": 1, "reason": HOSTILE}]}),
        "export" if arguments["kind"] == "states" => {
            json!({"items": [{"agent": HOSTILE, "memory": {HOSTILE: [HOSTILE, {"a": HOSTILE}]}}]})
        }
        "export" => json!({"items": [{"id": HOSTILE, "text": HOSTILE, "area": HOSTILE,
            "metadata": {HOSTILE: HOSTILE}, "time": HOSTILE, "expires": HOSTILE}]}),
        "browse" if arguments["kind"] == "sessions" => json!({"cursor": 1, "items": [{
            "name": HOSTILE, "user": 1, "used": HOSTILE, "is_kept": true, "task": HOSTILE,
            "recalled": HOSTILE, "records": 1, "target": HOSTILE, "goals": 1, "visited": 0,
            "steps": 1}]}),
        "browse" => json!({"cursor": 1, "items": [{"frame": 7, "time": HOSTILE, "source": HOSTILE,
            "attempts": 1, "reason": HOSTILE}]}),
        "memo_list" => json!({"total": 1, "memos": [{"id": 1, "memo": HOSTILE, "status": HOSTILE,
            "user_message": HOSTILE, "source": HOSTILE, "time": HOSTILE, "uses": 1}]}),
        "memory_load" => json!({"memories": [{"id": HOSTILE, "text": HOSTILE, "area": HOSTILE,
            "metadata": {}, "time": HOSTILE, "score": 0.7}]}),
        "memory_forget" => json!({"count": 1, "frames": 0, "token": "1-abc", "notice": HOSTILE,
            "items": [{"id": 7, "text": format!("{SECRET}{HOSTILE}"), "time": HOSTILE}],
            "near": [{"id": HOSTILE, "text": HOSTILE}]}),
        "start_task"
        | "create_or_update_memory_search_instance"
        | "determine_unique_instances_from_latest_working_memory" => json!({}),
        "create_or_update_real_world_search_instance" => json!({"instance_desc": HOSTILE,
            "last_seen": HOSTILE, "past_observations": [record()], "position": [1.0, 2.0, 0.0],
            "map_id": HOSTILE, "alternatives": [{"position": [1.0, 2.0, 0.0], "reason": HOSTILE,
                "record_id": 7, "probability": 0.5}]}),
        _ => return None,
    })
}

struct Served {
    address: SocketAddr,
    daemon: Scripted,
}

fn options() -> Options {
    Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        names: vec!["robot.local".to_owned()],
        token: None,
        zone: Zone::from_name("UTC").unwrap(),
        grids: Vec::new(),
    }
}

impl Served {
    fn start(options: Options) -> Self {
        let server = Server::bind(options).unwrap();
        let (address, daemon) = (server.address(), Scripted::default());
        let scripted = daemon.clone();
        thread::Builder::new().spawn(move || server.run(scripted)).unwrap();
        Self { address, daemon }
    }

    /// Status, head in small letters, and body.
    fn send(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), body.to_owned())
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> (u16, String, String) {
        let length = body.len();
        let host = if headers.to_lowercase().contains("host:") {
            String::new()
        } else {
            format!("Host: {}\r\n", self.address)
        };
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: {length}\r\n\
             {headers}\r\n{body}"
        ))
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        self.request("GET", path, "", "")
    }

    fn forgotten(&self) -> Vec<Value> {
        let calls = self.daemon.calls.lock().unwrap();
        let is_real = |(tool, arguments): &&(String, Value)| {
            tool == "memory_forget" && arguments.get("dry_run").is_none()
        };
        calls.iter().filter(is_real).map(|(_, arguments)| arguments.clone()).collect()
    }
}

const VIEWS: [&str; 22] = [
    "/",
    "/cells",
    "/search",
    "/search?q=%3Cscript%3E&kind=like",
    "/search?q=mug&kind=shows",
    "/search?q=mug&kind=last",
    "/search?q=mug&kind=where",
    "/search?q=mug&kind=notes",
    "/record/7",
    "/map",
    "/map?q=mug&area=1,2,3",
    "/kept",
    "/kept?what=memos",
    "/kept?what=states",
    "/kept?what=sessions",
    "/kept?what=waiting",
    "/kept?what=set_aside",
    "/health",
    "/forget",
    "/forget?q=mug&scope=all",
    "/forget?ids=7",
    "/%3Cscript%3E",
];

#[test]
fn stored_text_stays_text_in_every_view() {
    let page = Served::start(options());
    for view in VIEWS {
        let (status, _, body) = page.get(view);
        assert!(matches!(status, 200 | 400 | 404), "{view}: {status} {body}");
        assert!(!body.contains("<script>"), "{view}: {body}");
        assert!(!body.contains('\u{202e}'), "{view}");
        // No markup but the page's own: nothing runs, and nothing is styled, inside it.
        for own in [" style=", " onclick=", " onload=", "javascript:", "<style"] {
            assert!(!body.contains(own), "{view}: {own}");
        }
    }
    let (_, _, body) = page.get("/record/7");
    assert!(body.contains(ESCAPED), "{body}");
}

#[test]
fn a_long_timeline_begins_with_its_newest_sections_and_a_link_to_the_older_ones() {
    let page = Served::start(options());
    let starts = |text: &str| -> Vec<f64> {
        let sections = text.split("<section class=\"span\" data-from=\"").skip(1);
        sections.map(|it| it.split('"').next().unwrap().parse().unwrap()).collect()
    };
    let (_, _, view) = page.get("/?source=many");
    let newest = starts(&view);
    let (_, link) = view.split_once("data-sections=\"").expect("a link");
    let link = link.split('"').next().unwrap().replace("&amp;", "&");
    let (status, _, older) = page.get(&link);
    assert_eq!(status, 200, "{older}");
    let all = [newest.clone(), starts(&older)].concat();
    assert!(newest.len() < 60 && all.len() == 60, "{} and {}", newest.len(), all.len());
    assert!(all.is_sorted_by(|newer, older| newer > older), "{all:?}");
    assert_eq!((view + &older).matches("<p class=\"gap\">").count(), 1);
    assert_eq!(older.lines().count(), all.len() - newest.len());
    // Without its script the browser follows the link.
    let (_, _, followed) = page.get(&link.replace("/sections", "/"));
    assert_eq!(starts(&followed).first(), starts(&older).first());
    assert!(!page.get("/").2.contains("data-sections"));
}

#[test]
fn sessions_and_frames_without_a_caption_are_browsed() {
    let page = Served::start(options());
    let (_, _, sessions) = page.get("/kept?what=sessions");
    assert!(sessions.contains("0 of 1 goal visited") && sessions.contains("user 1"), "{sessions}");
    for kind in ["waiting", "set_aside"] {
        let (_, _, frames) = page.get(&format!("/kept?what={kind}"));
        assert!(frames.contains("src=\"/spool/7\"") && frames.contains(ESCAPED), "{frames}");
        assert!(frames.contains(&format!("/kept?what={kind}&amp;cursor=1")), "{frames}");
    }
    let (status, head, _) = page.get("/spool/7");
    assert!(status == 200 && head.contains("image/png"), "{head}");
    assert_eq!(page.get("/spool/8").0, 404);
    let (status, _, body) = page.get("/kept?what=socks");
    assert!(status == 400 && body.contains("sessions, waiting, set_aside"), "{body}");
}

#[test]
fn every_answer_has_the_headers_that_keep_it_apart() {
    let page = Served::start(options());
    for view in VIEWS.into_iter().chain(["/frame/7", "/thumb/7", "/frame/8", "/metrics"]) {
        let (_, head, _) = page.get(view);
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; \
             img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; \
             base-uri 'none'\r\n",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: same-origin",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
            "permissions-policy: camera=(), microphone=(), geolocation=()",
            "vary: cookie, authorization",
            "cache-control: no-store",
        ] {
            assert!(head.contains(header), "{view}: no {header:?} in {head}");
        }
        assert!(!head.contains("unsafe-inline") && !head.contains("http:"), "{view}: {head}");
    }
}

#[test]
fn no_view_names_another_machine() {
    let page = Served::start(options());
    let (_, _, start) = page.get("/");
    let assets = start.split('"').filter(|it| it.starts_with("/assets/"));
    let bodies = VIEWS.into_iter().chain(assets).map(|path| (path, page.get(path).2));
    for (path, body) in bodies {
        // The namespace of SVG is a name and is never asked for.
        let body = body.replace("http://www.w3.org/2000/svg", "");
        assert!(!body.contains("//") || !body.contains("http"), "{path}");
        assert!(!body.contains("url(") && !body.contains("@import"), "{path}");
    }
}

#[test]
fn other_names_sites_and_forms_are_refused() {
    let page = Served::start(options());
    let status = |method: &str, headers: &str| page.request(method, "/", headers, "").0;
    let port = page.address.port();
    assert_eq!(status("GET", &format!("Host: localhost:{port}\r\n")), 200);
    assert_eq!(status("GET", &format!("Host: robot.local:{port}\r\n")), 200);
    // A name of the attacker's that points here by now.
    assert_eq!(status("GET", &format!("Host: evil.example:{port}\r\n")), 421);
    assert_eq!(status("GET", "Origin: http://evil.example\r\n"), 403);
    assert_eq!(status("GET", "Sec-Fetch-Site: cross-site\r\n"), 403);
    let form = "token=1-abc&count=1&confirmed=1&ids=7&scope=episodic";
    let own = format!("Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", page.address);
    let posted = page.request("POST", "/forget/now", &own, form);
    assert_eq!(posted.0, 403, "without the secret of this page's forms: {}", posted.2);
    let other = "Origin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\n";
    assert_eq!(page.request("POST", "/forget/now", other, form).0, 403);
    assert_eq!(page.get("/forget/now?token=1-abc&count=1&confirmed=1&ids=7").0, 404, "by a link");
    assert_eq!(page.forgotten(), Vec::<Value>::new());
}

#[test]
fn a_form_of_another_page_is_refused() {
    let (page, other) = (Served::start(options()), Served::start(options()));
    let (_, _, preview) = other.get("/forget?ids=7&scope=episodic");
    let secret = preview.split("name=\"secret\" value=\"").nth(1).unwrap();
    let secret = secret.split('"').next().unwrap();
    let form = format!("secret={secret}&token=1-abc&count=1&confirmed=1&ids=7&scope=episodic");
    assert_eq!(page.request("POST", "/forget/now", "", &form).0, 403);
    assert_ne!(other.request("POST", "/forget/now", "", &form).0, 403, "it is its own");
    assert_eq!(page.forgotten(), Vec::<Value>::new());
}

#[test]
fn another_user_of_the_machine_is_refused() {
    let page = Served::start(options());
    assert_eq!(page.get("/").0, 200);
    if !rustix::process::geteuid().is_root() {
        drop(writeln!(io::stderr(), "skipped: only root can be another user"));
        return;
    }
    // Told before it asks: what it sends may come after the connection was closed, which resets it.
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{}; cat <&3", page.address.port());
    let mut stranger = Command::new("bash");
    let stranger = stranger.uid(65_534).gid(65_534).current_dir("/").args(["-c", &connect]);
    let mut child = stranger.stdout(Stdio::piped()).spawn().unwrap();
    let (told, is_told) = crossbeam::channel::bounded(1);
    let mut output = child.stdout.take().unwrap();
    let read = move || {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        told.send(text).unwrap();
    };
    let reader = thread::Builder::new().spawn(read).unwrap();
    let told = is_told.recv_timeout(Duration::from_secs(20));
    drop(child.kill());
    drop(child.wait());
    drop(reader.join());
    let told = told.expect("who is let in waits for what it does not ask");
    assert!(told.starts_with("HTTP/1.1 403"), "{told}");
    assert!(told.contains("this page is another user's of this machine"), "{told}");
}

#[test]
fn what_is_forgotten_is_what_the_preview_showed() {
    let page = Served::start(options());
    let (_, _, preview) = page.get("/forget?ids=7&scope=episodic");
    assert!(preview.contains("1 record would go") && preview.contains("/thumb/7"), "{preview}");
    assert!(preview.contains(SECRET));
    let field = |name: &str| {
        let from = preview.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
        from.split('"').next().unwrap().to_owned()
    };
    let form = |confirmed: &str| {
        format!(
            "secret={}&token={}&count={}&confirmed={confirmed}&ids=7&scope=episodic",
            field("secret"),
            field("token"),
            field("count")
        )
    };
    let unconfirmed = page.request("POST", "/forget/now", "", &form("2"));
    assert_eq!((unconfirmed.0, page.forgotten().len()), (400, 0), "{}", unconfirmed.2);
    assert_eq!(page.get("/thumb/7").0, 200);
    let (status, _, receipt) = page.request("POST", "/forget/now", "", &form("1"));
    assert_eq!(status, 200, "{receipt}");
    let expect = json!({"scope": "episodic", "ids": "7", "token": "1-abc", "confirm": 1});
    assert_eq!(page.forgotten(), [expect]);
    assert!(receipt.contains("1 record is gone"), "{receipt}");
    assert!(!receipt.contains(SECRET), "what is gone is not shown again: {receipt}");
}

#[test]
fn a_small_picture_goes_with_its_frame() {
    let page = Served::start(options());
    let (status, head, _) = page.get("/thumb/7");
    assert_eq!(status, 200);
    assert!(head.contains("content-type: image/"), "{head}");
    *page.daemon.is_gone.lock().unwrap() = true;
    assert_eq!((page.get("/thumb/7").0, page.get("/frame/7").0), (404, 404));
}

#[test]
fn beyond_loopback_a_token_is_needed() {
    let everywhere = Options { listen: "0.0.0.0:0".parse().unwrap(), ..options() };
    assert!(matches!(Server::bind(everywhere.clone()), Err(PageError::Exposed(_))));
    let short = Options { token: Some("1234".to_owned()), ..options() };
    assert!(matches!(Server::bind(short), Err(PageError::ShortToken)));
    let token = "a long enough secret";
    let mut page = Served::start(Options { token: Some(token.to_owned()), ..everywhere });
    page.address.set_ip([127, 0, 0, 1].into());
    for path in ["/", "/frame/7", "/metrics", "/search?q=mug"] {
        let (status, head, body) = page.get(path);
        assert_eq!(status, 401, "{path}");
        assert!(head.contains("www-authenticate: bearer") && !body.contains(ESCAPED), "{path}");
    }
    let bearer = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(page.request("GET", "/metrics", &bearer, "").0, 200);
    assert_eq!(page.request("GET", "/", "Authorization: Bearer guess\r\n", "").0, 401);
    let wrong = page.request("POST", "/token", "", "token=guess");
    assert_eq!(wrong.0, 401, "{}", wrong.2);
    let by_link = page.request("GET", "/token", "", "token=a+long+enough+secret");
    assert!(by_link.0 == 401 && !by_link.1.contains("set-cookie"), "{}", by_link.1);
    let (status, head, _) = page.request("POST", "/token", "", "token=a+long+enough+secret");
    assert_eq!(status, 303, "{head}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"), "{cookie}");
    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
    assert_eq!(page.request("GET", "/", &cookie, "").0, 200);
}

#[test]
fn requests_that_are_none_end_and_the_page_lives() {
    let page = Served::start(options());
    let head = format!("Host: {}\r\n", page.address);
    for (request, expect) in [
        ("GARBAGE\r\n\r\n".to_owned(), 400),
        (format!("DELETE / HTTP/1.1\r\n{head}\r\n"), 405),
        (format!("POST /forget/now HTTP/1.1\r\n{head}Content-Length: 9999999\r\n\r\n"), 413),
        (format!("POST / HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 413),
        (format!("GET /{} HTTP/1.1\r\n{head}\r\n", "a".repeat(20_000)), 431),
    ] {
        assert_eq!(
            page.send(&request).0,
            expect,
            "{}",
            request.chars().take(60).collect::<String>()
        );
    }
    // Two on one connection, the second after the first is answered; the body ends where it says.
    let two = format!(
        "POST /nowhere HTTP/1.1\r\n{head}Content-Length: 6\r\n\r\nGET / \
         GET /metrics HTTP/1.1\r\n{head}Connection: close\r\n\r\n"
    );
    let (status, _, rest) = page.send(&two);
    assert_eq!(status, 403);
    assert!(rest.contains("HTTP/1.1 200 OK") && rest.ends_with("engram_records 1\n"), "{rest}");
}

#[test]
fn a_view_is_its_inside_where_the_script_asks() {
    let page = Served::start(options());
    let (_, _, whole) = page.get("/kept");
    let (_, _, part) = page.request("GET", "/kept", "X-Part: 1\r\n", "");
    assert!(whole.starts_with("<!doctype html>") && whole.contains(&part));
    assert!(!part.contains("<html") && part.contains(ESCAPED), "{part}");
}
