//! Golden transcripts: request and reply lines of each family of tools, as they
//! go over the socket. Models are scripted and the clock stands, so that every
//! byte is the same each time but the ids that a server makes up.
//!
//! A change on the wire shows as a change of a file under `snapshots/`; review it
//! with `cargo insta review`, or write it with `INSTA_UPDATE=always`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use engram::base::time::SystemClock;
use engram::server::{Options, Server};
use serde_json::{Value, json};

use crate::running::{PATIENCE, wait_for};
use crate::schemas;
use crate::tools::Memory;

/// A client that notes each line it sends and gets.
pub(crate) struct Talk {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
    _kept: Kept,
    pub(crate) written: String,
    /// Placeholders of the ids met so far.
    ids: BTreeMap<String, String>,
    pub(crate) requests: u32,
}

/// What must live as long as the talk.
struct Kept {
    _server: Server,
    _directory: tempfile::TempDir,
}

impl Talk {
    /// Over a fresh memory with these files in its prompts directory.
    pub(crate) fn new(prompts: &[(&str, &str)]) -> Self {
        let memory = Memory::new();
        let Memory { tools, state } = memory;
        fs::create_dir_all(state.path().join("prompts")).unwrap();
        for (name, text) in prompts {
            fs::write(state.path().join("prompts").join(name), text).unwrap();
        }
        let options = Options::at(&state.path().join("engram.sock"));
        let server = Server::start(options, Arc::new(tools), Arc::new(SystemClock)).unwrap();
        let stream = UnixStream::connect(server.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        let (written, ids) = (String::new(), BTreeMap::new());
        let kept = Kept { _server: server, _directory: state };
        Self { stream, lines, _kept: kept, written, ids, requests: 0 }
    }

    /// Calls a tool and notes both lines; gives the structured content.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let structured = &reply["result"]["structuredContent"];
        if !structured.is_null() {
            schemas::check(tool, structured);
        }
        structured.clone()
    }

    /// Sends a request of the stateless era and notes both lines; gives the reply.
    fn request(&mut self, method: &str, mut params: Value) -> Value {
        self.requests += 1;
        let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
        for (key, value) in
            [("protocolVersion", json!("2026-07-28")), ("clientCapabilities", json!({}))]
        {
            meta[format!("io.modelcontextprotocol/{key}")] = value;
        }
        let request =
            json!({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params});
        let mut line = String::new();
        self.stream.write_all(format!("{request}\n").as_bytes()).unwrap();
        self.lines.read_line(&mut line).unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        let (asked, answered) = (self.redacted(&request.to_string()), self.redacted(line.trim()));
        self.written.push_str(&format!("> {asked}\n< {answered}\n"));
        reply
    }

    /// Waits until no memo is queued; notes nothing.
    fn settle(&mut self) {
        let (written, requests) = (std::mem::take(&mut self.written), self.requests);
        wait_for(|| self.call("memo_list", json!({}))["queued"] == 0);
        (self.written, self.requests) = (written, requests);
    }

    /// Ids that are made up, in the order in which they were met.
    fn redacted(&mut self, line: &str) -> String {
        let mut line = line.to_owned();
        // A connection's own session is named after the daemon's start.
        if let Some(at) = line.find("\"connection-") {
            let own = line[at + 1..].split('"').next().unwrap_or_default().to_owned();
            line = line.replace(&own, "<own session>");
        }
        for word in line.clone().split(|c: char| !(c.is_ascii_hexdigit() || c == '-')) {
            if word.len() == 36 && word.matches('-').count() == 4 {
                let next = format!("<id {}>", self.ids.len() + 1);
                let placeholder = self.ids.entry(word.to_owned()).or_insert(next);
                line = line.replace(word, placeholder);
            }
            // A checksum of ids.
            let is_token =
                |(count, sum): (&str, &str)| count.parse::<u32>().is_ok() && sum.len() == 8;
            if word.split_once('-').is_some_and(is_token) {
                line = line.replace(word, "<token>");
            }
        }
        line
    }
}

#[test]
fn state() {
    let mut talk = Talk::new(&[(
        "state.txt",
        "## Memory (State Continuity)\n- Previous Action: $memory[previous_action]\n- Task \
         Process: $memory[task_process]\n- Goal only: $memory[task_process][goal]\n",
    )]);
    talk.call("state_get", json!({}));
    let memory = json!({"task_process": {"goal": "restroom", "status": "in_progress"}, "n": 1.0});
    talk.call("state_set", json!({"memory": memory}));
    talk.call("state_merge", json!({"memory": {"task_process": {"status": "done"}, "done": true}}));
    talk.call("state_get", json!({"path": "[task_process][status]"}));
    talk.call("state_get", json!({"path": "[task_process][step]"}));
    talk.call("state_get", json!({"path": "a b"}));
    talk.call("prompt_render", json!({"file": "state.txt"}));
    talk.call("prompt_render", json!({"template": "$who: $memory[done]", "strict": true}));
    talk.call(
        "prompt_render",
        json!({"template": "$who: $memory[done] $memory[n] $$5", "variables": {"who": "Ada"}, "strict": true}),
    );
    talk.call("prompt_render", json!({"file": "../manifest"}));
    talk.call("prompt_render", json!({}));
    let reply =
        "```json\n{\"action\": \"go\", \"memory\": {\"previous_action\": \"move right\"}}\n```";
    talk.call("state_update_from_reply", json!({"reply": reply, "agent": "scout"}));
    talk.call(
        "state_update_from_reply",
        json!({"reply": "{\"action\": \"go\"}", "agent": "scout"}),
    );
    talk.call("state_get", json!({"agent": "scout"}));
    talk.call("state_set", json!({"memory": {}, "agent": "scout"}));
    talk.call("state_get", json!({"agent": "scout"}));
    talk.call("state_set", json!({"memory": "none"}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn notes() {
    let mut talk = Talk::new(&[]);
    let text = "The user's project identifier is 'proj_X-7'.";
    talk.call("memory_load", json!({"query": "user project identifier"}));
    let saved = talk.call("memory_save", json!({"text": text}));
    let metadata = json!({"year": 2024, "tags": ["lab"], "ratio": 1.0});
    talk.call(
        "memory_save",
        json!({"text": "Project Titan:\nends in May", "area": "solutions", "metadata": metadata}),
    );
    talk.call("memory_load", json!({"query": "user project identifier"}));
    let filter = "area == 'solutions' and year >= 2024 and 'lab' in tags";
    talk.call(
        "memory_load",
        json!({"query": "Titan", "filter": filter, "threshold": 0.5, "limit": 1}),
    );
    talk.call("memory_load", json!({"query": "Titan", "filter": "area=='main'"}));
    talk.call("memory_load", json!({"query": "Titan", "filter": "area=='other'"}));
    talk.call("memory_load", json!({"query": "Titan", "filter": "len(tags) > 1"}));
    talk.call("memory_load", json!({"query": "Titan", "threshold": 2}));
    talk.call("memory_save", json!({"text": "x", "metadata": {"area": "main"}}));
    talk.call("memory_forget", json!({"query": "Project Titan", "dry_run": true}));
    talk.call("memory_forget", json!({"query": "Project Titan"}));
    talk.call("observe", json!({"caption": "a poster of Project Titan"}));
    talk.call("observe", json!({"caption": "a red mug"}));
    talk.call("memory_save", json!({"text": "Project Titan again"}));
    let titan = |scope: &str, dry_run: bool| json!({"query": "Project Titan", "scope": scope, "dry_run": dry_run});
    talk.call("memory_forget", titan("episodic", true));
    talk.call("memory_forget", titan("all", false));
    talk.call("memory_forget", titan("everything", false));
    talk.call("recall_best_match", json!({"query": "Project Titan", "session": "s"}));
    let ids = format!("{}, d1306e36-6a9c-4112-80e2-33b795548116", saved["id"].as_str().unwrap());
    talk.call("memory_delete", json!({"ids": ids}));
    talk.call("memory_delete", json!({"ids": ""}));
    talk.call("memory_load", json!({"query": "Titan"}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn notes_that_change_expire_and_are_forgotten() {
    let mut talk = Talk::new(&[]);
    let project = json!({"project": {"name": "Titan"}});
    let saved = talk.call(
        "memory_save",
        json!({"text": "Project Titan ends in May", "metadata": project, "expires": "2025-02-01 08:00:00"}),
    );
    let id = saved["id"].as_str().unwrap();
    talk.call("memory_save", json!({"text": "x", "expires": "-1h"}));
    talk.call(
        "memory_save",
        json!({"text": "x", "expires": "2026-01-01 00:00:00", "expires_in_days": 2}),
    );
    talk.call(
        "memory_load",
        json!({"query": "Titan", "filter": "metadata.project.name == 'Titan'"}),
    );
    talk.call("memory_load", json!({"query": "Titan", "filter": "area == main"}));
    talk.call("memory_load", json!({"query": "Titan", "filter": "'rep' in text"}));
    talk.call(
        "memory_update",
        json!({"id": id, "text": "Project Titan ends in June", "keep_forever": true}),
    );
    talk.call("memory_update", json!({"id": id, "expires_in_days": 1.5}));
    talk.call("memory_update", json!({"id": "d1306e36-6a9c-4112-80e2-33b795548116", "area": "x"}));
    talk.call("memory_update", json!({"id": id}));
    for text in [
        "The budget of the Titan project is approved",
        "Saturn's largest moon is Titan",
        "오늘 날씨는 맑다",
    ] {
        talk.call("memory_save", json!({"text": text}));
    }
    talk.call("memory_load", json!({"query": "내일 날씨"}));
    let topic = "all information related to Project Titan";
    let listed = talk.call("memory_forget", json!({"query": topic, "dry_run": true}));
    talk.call("memory_save", json!({"text": "Project Titan needs a new lead"}));
    talk.call("memory_forget", json!({"query": topic, "token": listed["token"]}));
    talk.call("memory_save", json!({"text": "Anna asked for the plan of project Titan"}));
    talk.call("memory_forget", json!({"query": topic}));
    talk.call("memory_forget", json!({"query": topic, "confirm": 4}));
    talk.call("memory_forget", json!({"query": topic, "source": "camera"}));
    talk.call("memory_forget", json!({}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn a_visit_is_forgotten() {
    let mut talk = Talk::new(&[]);
    for (hour, x, caption) in
        [(9, 0.0, "a red mug on a desk"), (10, 5.0, "a blue mug on a shelf"), (11, 5.0, "a sofa")]
    {
        talk.call(
            "observe",
            json!({"caption": caption, "time": format!("2025-01-03 {hour:02}:00:00"), "position": [x, 0.0], "map_id": "home"}),
        );
    }
    let visit = json!({
        "scope": "episodic", "search_start_time": "2025-01-03 09:30:00",
        "search_end_time": "2025-01-03 10:30:00", "dry_run": true,
    });
    talk.call("memory_forget", visit);
    let shelf = json!({"x": 5, "y": 0, "radius": 1, "map_id": "home"});
    talk.call("memory_forget", json!({"scope": "episodic", "area": shelf, "dry_run": true}));
    talk.call("memory_forget", json!({"scope": "episodic", "area": shelf, "query": "a sofa"}));
    talk.call("memory_forget", json!({"scope": "episodic", "ids": [1, 7], "dry_run": true}));
    talk.call("memory_forget", json!({"ids": ["1"]}));
    talk.call("recall_best_match", json!({"query": "mug", "session": "s"}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn memos() {
    let mut talk = Talk::new(&[]);
    talk.call("memo_recall", json!({"query": "QC summary"}));
    let message = "<reasoning>Show recent sequencing runs with QC status</reasoning>\n\
        <sql>SELECT a < b, '</memo>' FROM dim_sequencing_runs</sql><dataframe>x</dataframe>";
    let prompt = "Which runs passed QC?";
    let user = json!({"user_message": prompt, "message": message, "message_ids": ["m-1", "m-2"]});
    talk.call("memo_add", user);
    talk.settle();
    let messages = json!(["<sql>SELECT count(*) FROM users</sql>", "<chart>bar</chart>"]);
    talk.call("memo_add", json!({"user_message": "How many users?", "messages": messages}));
    talk.settle();
    talk.call("memo_add", json!({"user_message": "Hello", "message": "Hello!"}));
    talk.call("memo_add", json!({"user_message": "Hello"}));
    talk.call("memo_recall", json!({"query": "examples of run-level QC summary queries"}));
    let weighed = json!({"query": "users", "k": 2, "time_decay": 30, "usage_weight": 0.2});
    talk.call("memo_recall", weighed);
    talk.call("memo_recall", json!({"query": "weather in Paris"}));
    let again = json!(["<sql>SELECT count(*) FROM users</sql>", "<chart>bar</chart>"]);
    talk.call("memo_add", json!({"user_message": "How many users?", "messages": again}));
    let output = "First <recall>count of users</recall> then <recall>QC of runs</recall>, not \
        <recall>this";
    talk.call("memo_expand", json!({"text": output}));
    talk.call("memo_expand", json!({"text": "nothing"}));
    talk.call("memo_list", json!({"recalls": 2}));
    talk.call("memo_list", json!({"before": 2}));
    talk.call("memo_delete", json!({"message_id": "m-2"}));
    talk.call("memo_delete", json!({"id": 1}));
    talk.call("memo_delete", json!({}));
    talk.call("memo_list", json!({"limit": 1}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn recall() {
    let mut talk = Talk::new(&[]);
    let seen = |minute: u32, at: [f64; 2], map: &str, caption: &str| json!({"caption": caption, "time": format!("2025-01-03 09:{minute:02}:00"), "position": at, "map_id": map});
    // A connection's own session has another name each time.
    let ask = |talk: &mut Talk, tool: &str, mut arguments: Value| {
        arguments["session"] = json!("s");
        talk.call(tool, arguments);
    };
    talk.call("observe", seen(0, [0.0, 0.0], "home", "a red mug on a desk"));
    talk.call("observe", seen(1, [4.0, 3.0], "home", "a blue mug on a shelf"));
    talk.call("observe", seen(2, [4.0, 3.0], "attic", "a red mug in a box"));
    talk.call("observe", seen(3, [4.5, 3.0], "home", "a mug beside a lamp"));
    let desk = json!({"x": 0, "y": 1, "radius": 2, "map_id": "home"});
    let shelf = json!({"x": 4, "y": 3, "radius": 2});
    ask(&mut talk, "recall_best_match", json!({"query": "mug", "area": desk}));
    ask(&mut talk, "recall_best_match", json!({"query": "mug", "area": shelf, "map_id": "home"}));
    ask(&mut talk, "recall_best_match", json!({"query": "mug", "area": shelf}));
    ask(&mut talk, "recall_best_match", json!({"query": "mug", "area": desk, "map_id": "attic"}));
    ask(&mut talk, "recall_best_match", json!({"query": "mug", "area": {"x": 0, "y": 1}}));
    ask(
        &mut talk,
        "recall_last_seen",
        json!({"query": "the red mug on the desk", "explain": true}),
    );
    let within = json!({"query": "red mug", "area": shelf, "map_id": "home", "explain": true});
    ask(&mut talk, "recall_last_seen", within);
    ask(&mut talk, "recall_last_seen", json!({"query": "sofa", "explain": true}));
    let moment = json!({"x": "mug", "start_time": "2025-01-03 09:00:00", "end_time": "2025-01-03 09:01:00", "area": {"x": 4, "y": 3, "z": 1, "radius": 1, "map_id": "home"}});
    ask(&mut talk, "retrieve_from_text_with_time", moment);
    insta::assert_snapshot!(talk.written);
}

#[test]
fn moments() {
    let mut talk = Talk::new(&[("moment-retrieval.txt", "Task: $task\n$steps\n")]);
    for (minute, caption) in
        ["a staircase in a hall", "an elevator door in a hall", "a red mug on a desk"]
            .iter()
            .enumerate()
    {
        let time = format!("2025-01-03 09:{minute:02}:00");
        talk.call("observe", json!({"caption": caption, "time": time, "source": caption}));
    }
    talk.written.clear();
    let window = |x: &str| {
        json!({"x": x, "start_time": "2025-01-03 00:00:00", "end_time": "2025-01-03 23:59:59",
            "session": "s", "k": 1})
    };
    talk.call("retrieve_from_text_with_time", window("staircase"));
    talk.call("retrieve_from_text_with_time", window("staircase"));
    let mug = json!({"instance_description": "the red mug", "session": "s",
        "search_start_time": "2025-01-03 00:00:00", "search_end_time": "2025-01-03 23:59:59"});
    talk.call("recall_observation_of_instance", mug);
    let retrieval = |x: &str| {
        let input = json!({"x": x, "start_time": "2025-01-03 00:00:00",
            "end_time": "2025-01-03 23:59:59", "k": 1});
        json!({"context_reasoning": "look", "tool": "retrieve_from_text_with_time",
            "tool_input": input})
    };
    let calls = json!([retrieval("staircase"), retrieval("elevator")]).to_string();
    talk.call("agent_step", json!({"reply": calls, "session": "s"}));
    let answer = |ids: &str| {
        let response = json!({"reasoning": "Both lead upstairs.", "moment_ids": ids});
        let reply = json!([{"tool": "__conversational_response",
            "tool_input": {"response": response}}]);
        json!({"reply": format!("```json\n{reply}\n```"), "session": "s"})
    };
    talk.call("agent_step", answer("[1, 77]"));
    talk.call("agent_step", answer("[2, 1]"));
    talk.call("agent_step", json!({"reply": "I took the stairs.", "session": "s"}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn prompts_and_toolsets() {
    let mut talk =
        Talk::new(&[("object-retrieval.txt", "Task: $task\nNow: $now\n$holdings\n$steps\n")]);
    talk.request("prompts/list", json!({}));
    let arguments = json!({"task": "bring me a book", "now": "2025-01-04 09:00:00"});
    talk.request("prompts/get", json!({"name": "object-retrieval", "arguments": arguments}));
    talk.request("prompts/get", json!({"name": "object-retrieval", "arguments": {}}));
    talk.request("prompts/get", json!({"name": "poem"}));
    talk.request("tools/list", json!({"_meta": {"engram/toolsets": ["moment-retrieval"]}}));
    talk.request("tools/list", json!({"_meta": {"engram/toolsets": "admin"}}));
    talk.request("tools/list", json!({"_meta": {"engram/toolsets": ["poems"]}}));
    talk.request("tools/list", json!({"_meta": {"engram/toolsets": 5}}));
    insta::assert_snapshot!(talk.written);
}

/// All that a model is shown before it is asked anything.
#[test]
fn the_list_of_tools_is_short() {
    let mut talk = Talk::new(&[]);
    let listed = talk.request("tools/list", json!({}))["result"]["tools"].to_string();
    // 38 tools took 100 kB with the whole schemas of their replies, and 52 kB without.
    assert!(listed.len() < 34_800, "{} bytes", listed.len());
}

/// The older era, which begins with `initialize` and has no metadata in requests.
#[test]
fn prompts_and_toolsets_after_initialize() {
    let mut talk = Talk::new(&[]);
    let mut ask = |request: Value| {
        let mut line = String::new();
        talk.stream.write_all(format!("{request}\n").as_bytes()).unwrap();
        talk.lines.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["result"].clone()
    };
    let client = json!({"name": "test", "version": "1"});
    let begun = ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}}));
    assert!(begun["capabilities"]["prompts"].is_object(), "{begun}");
    let listed = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "prompts/list"}));
    assert_eq!(listed["prompts"].as_array().unwrap().len(), 2);
    let got = ask(json!({"jsonrpc": "2.0", "id": 3, "method": "prompts/get", "params":
        {"name": "moment-retrieval", "arguments": {"task": "where are the stairs?"}}}));
    assert_eq!(got["messages"][0]["role"], "user");
    let text = got["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("\nwhere are the stairs?\n"), "{text}");
    let tools = ask(json!({"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params":
        {"_meta": {"engram/toolsets": ["moment-retrieval"]}}}));
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "retrieve_from_text_with_time",
            "recall_observation_of_instance",
            "list_records",
            "count_records_by_time",
        ]
    );
}
