//! Zenoh, as `rmw_zenoh` has a robot's nodes speak it: through a router, by keys.
//!
//! Source: `rmw_zenoh`'s design.md. A message goes by `<domain>/<topic>/<type>/<hash of the type>`.
//! Who publishes what is said by liveliness tokens, `@ros2_lv/<domain>/<session>/<node>/<entity>/MP/
//! <enclave>/<namespace>/<name>/<topic>/<type>/<hash>/<quality>`, with % for the / of names; who hears
//! by such with MS. Beside a message stand its number, when it was sent and whose it is: others want
//! that of ours, and of theirs it is not read, as its header says when it was taken.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, bounded};
use crossbeam::queue::ArrayQueue;
use uuid::Uuid;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Config, Session, Wait as _};
use zenoh_ext::{
    AdvancedSubscriber, AdvancedSubscriberBuilderExt as _, HistoryConfig, z_serialize,
};

use crate::base::time::{Clock as _, SystemClock};
use crate::capture::ros2::network::{Delivery, Messages, Network, Publication, Subscription};
use crate::capture::ros2::topics::{self, Topic};

/// Under which name other nodes know this one.
const NODE: &str = "engram";

/// A client of a robot's router, in one domain.
pub(super) struct Client {
    session: Session,
    domain: u16,
    /// What is published, by the token that says so.
    published: Arc<Mutex<BTreeMap<String, Topic>>>,
    _tokens: Subscriber<()>,
    /// What it says of itself, the node first.
    said: Vec<LivelinessToken>,
    wake: Sender<()>,
    woken: Receiver<()>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("domain", &self.domain).finish_non_exhaustive()
    }
}

impl Client {
    /// Reaches the router at `endpoint`, such as `tcp/localhost:7447`. It is reached again when it
    /// was gone.
    pub(super) fn connect(endpoint: &str, domain: u16) -> Result<Self, String> {
        let cannot = |why: zenoh::Error| format!("no Zenoh router at {endpoint}: {}", reason(&why));
        let mut config = Config::default();
        for (key, value) in [
            ("mode", "\"client\"".to_owned()),
            ("connect/endpoints", format!("[{endpoint:?}]")),
            ("scouting/multicast/enabled", "false".to_owned()),
        ] {
            config.insert_json5(key, &value).map_err(cannot)?;
        }
        let session = zenoh::open(config).wait().map_err(cannot)?;
        let published = Arc::new(Mutex::new(BTreeMap::new()));
        let known = Arc::clone(&published);
        let tokens = session.liveliness().declare_subscriber(format!("@ros2_lv/{domain}/**"));
        let tokens = tokens.history(true).callback(move |sample: Sample| {
            let token = sample.key_expr().as_str();
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            if sample.kind() == SampleKind::Delete {
                known.remove(token);
            } else if let Some(topic) = published_by(token) {
                known.insert(token.to_owned(), topic);
            }
        });
        let tokens = tokens.wait().map_err(cannot)?;
        let (wake, woken) = bounded(1);
        Ok(Self { session, domain, published, _tokens: tokens, said: Vec::new(), wake, woken })
    }
}

impl Client {
    /// Says that this node publishes the topic (`MP`) or hears it (`MS`).
    fn say(&mut self, kind: &str, topic: &Topic, hash: &str, depth: usize) -> zenoh::Result<()> {
        let node = format!("@ros2_lv/{}/{}/0", self.domain, self.session.zid());
        if self.said.is_empty() {
            let token = format!("{node}/0/NN/%/%/{NODE}");
            self.said.push(self.session.liveliness().declare_token(token).wait()?);
        }
        let token = format!("{node}/{}/{}", self.said.len(), said_of(topic, kind, hash, depth));
        self.said.push(self.session.liveliness().declare_token(token).wait()?);
        Ok(())
    }

    /// Where messages of a topic go by.
    fn key(&self, topic: &Topic, hash: &str) -> String {
        let (name, kind) =
            (topic.name.trim_start_matches('/'), topics::type_to_wire(&topic.schema));
        format!("{}/{name}/{kind}/{hash}", self.domain)
    }
}

impl Network for Client {
    fn offered(&self) -> Vec<Topic> {
        let published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        let mut offered: Vec<Topic> = published.values().cloned().collect();
        offered.sort();
        offered.dedup();
        offered
    }

    fn subscribe(&mut self, topic: &Topic, delivery: Delivery) -> Result<Subscription, String> {
        let cannot =
            |why: zenoh::Error| format!("{} is not subscribed: {}", topic.name, reason(&why));
        let queue = Arc::new(ArrayQueue::new(delivery.depth().max(1)));
        let (to, wake) = (Arc::clone(&queue), self.wake.clone());
        let take = move |sample: Sample| {
            to.force_push(sample.payload().to_bytes().into_owned());
            // Full: somebody is woken already.
            _ = wake.try_send(());
        };
        let subscriber = self.session.declare_subscriber(self.key(topic, "*")).callback(take);
        let subscriber = if matches!(delivery, Delivery::Kept(_)) {
            let history = HistoryConfig::default().detect_late_publishers();
            let subscriber = subscriber.history(history).wait().map_err(cannot)?;
            Declared::Advanced { _subscriber: subscriber }
        } else {
            Declared::Plain { _subscriber: subscriber.wait().map_err(cannot)? }
        };
        if let Some(hash) = type_hash(&topic.schema) {
            self.say("MS", topic, hash, delivery.depth()).map_err(cannot)?;
        }
        let messages = Box::new(Queue { queue, _subscriber: subscriber });
        Ok(Subscription { topic: topic.clone(), messages })
    }

    fn publish(&mut self, topic: &Topic, depth: i32) -> Result<Box<dyn Publication>, String> {
        let cannot =
            |why: zenoh::Error| format!("{} is not published: {}", topic.name, reason(&why));
        let Some(hash) = type_hash(&topic.schema) else {
            return Err(format!("{} is not published: no hash of {}", topic.name, topic.schema));
        };
        let publisher = self.session.declare_publisher(self.key(topic, hash));
        let publisher = publisher.congestion_control(CongestionControl::Block);
        let publisher = publisher.wait().map_err(cannot)?;
        self.say("MP", topic, hash, usize::try_from(depth).unwrap_or(1)).map_err(cannot)?;
        let (id, number) = (Uuid::new_v4().into_bytes(), AtomicI64::new(1));
        Ok(Box::new(Voice { publisher, id, number, topic: topic.clone() }))
    }

    fn wait(&mut self, patience: Duration) -> Result<(), String> {
        // In vain or not: it is looked then.
        _ = self.woken.recv_timeout(patience);
        Ok(())
    }
}

/// What came of one topic; of too much the oldest goes.
struct Queue {
    queue: Arc<ArrayQueue<Vec<u8>>>,
    _subscriber: Declared,
}

/// Subscription in the session, which ends with it.
enum Declared {
    Plain { _subscriber: Subscriber<()> },
    Advanced { _subscriber: AdvancedSubscriber<()> },
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("waiting", &self.queue.len()).finish_non_exhaustive()
    }
}

impl Messages for Queue {
    fn take(&self) -> Vec<Result<Vec<u8>, String>> {
        let waiting = self.queue.len();
        std::iter::from_fn(|| self.queue.pop()).take(waiting).map(Ok).collect()
    }
}

/// Own messages of one topic.
struct Voice {
    publisher: Publisher<'static>,
    /// Whose they are. `rmw_zenoh` hashes its token for it; what counts is that it is no other's.
    id: [u8; 16],
    number: AtomicI64,
    topic: Topic,
}

impl fmt::Debug for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Voice").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl Publication for Voice {
    fn send(&self, message: Vec<u8>) -> Result<(), String> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let nanos = SystemClock.now().micros().saturating_mul(1_000);
        let beside = z_serialize(&(number, nanos, self.id));
        let sent = self.publisher.put(message).attachment(beside).wait();
        sent.map_err(|why| format!("{} is not sent: {}", self.topic.name, reason(&why)))
    }
}

/// Of the definition of a type that is published here, and those that it is made of (REP 2011).
/// Nodes of Humble have none and do not hear what is published with one.
fn type_hash(schema: &str) -> Option<&'static str> {
    Some(match schema {
        "std_msgs/msg/String" => {
            "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
        }
        "geometry_msgs/msg/PoseStamped" => {
            "RIHS01_10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8"
        }
        _ => return None,
    })
}

/// What went wrong, without the place in the library where it was noticed.
fn reason(error: &zenoh::Error) -> String {
    let text = error.to_string();
    text.split(" at /").next().unwrap_or_default().to_owned()
}

/// The end of a token of this node; what is not said of the quality is ROS' default: reliable, and
/// nothing is kept for who comes later.
fn said_of(topic: &Topic, kind: &str, hash: &str, depth: usize) -> String {
    let (name, schema) = (topic.name.replace('/', "%"), topics::type_to_wire(&topic.schema));
    format!("{kind}/%/%/{NODE}/{name}/{schema}/{hash}/::,{depth}:,:,:,,")
}

/// The topic of a token that says that somebody publishes it.
fn published_by(token: &str) -> Option<Topic> {
    let mut fields = token.split('/').skip(5);
    let is_publisher = fields.next()? == "MP";
    let mut fields = fields.skip(3);
    let name = fields.next().filter(|_| is_publisher)?.replace('%', "/");
    Some(Topic { name, schema: topics::type_of_wire(fields.next()?)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_publishers_say_their_topic() {
        // As rmw_zenoh's design.md has them.
        let token = "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/10/MP/%/%/talker/%front%image_raw/\
            sensor_msgs::msg::dds_::CompressedImage_/RIHS01_df668c/::,10:,:,:,,";
        let topic = Topic::new("/front/image_raw", "sensor_msgs/msg/CompressedImage");
        assert_eq!(published_by(token), Some(topic));
        assert_eq!(published_by(&token.replace("/MP/", "/MS/")), None);
        let node = "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/talker";
        assert_eq!(published_by(node), None);
        let own = Topic::new("/engram/goal", "geometry_msgs/msg/PoseStamped");
        let said = said_of(&own, "MP", type_hash(&own.schema).unwrap(), 50);
        assert_eq!(published_by(&format!("@ros2_lv/2/aac31/0/1/{said}")), Some(own));
        for end in 0..token.find("_/RIHS01").unwrap() {
            assert_eq!(published_by(&token[..end]), None, "{end}");
        }
    }
}
