//! Zenoh, as `rmw_zenoh` has a robot's nodes speak it: through a router, by keys.
//!
//! Source: `rmw_zenoh`'s design.md. A message goes by `<domain>/<topic>/<type>/<hash of the type>`.
//! Who publishes what is said by liveliness tokens, `@ros2_lv/<domain>/<session>/<node>/<entity>/MP/
//! <enclave>/<namespace>/<name>/<topic>/<type>/<hash>/<quality>`, with % for the / of names. When a
//! message was sent stands beside it and is not read: its header says when it was taken.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, bounded};
use crossbeam::queue::ArrayQueue;
use zenoh::pubsub::Subscriber;
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Config, Session, Wait as _};
use zenoh_ext::{AdvancedSubscriber, AdvancedSubscriberBuilderExt as _, HistoryConfig};

use crate::capture::ros2::network::{Delivery, Messages, Network, Subscription};
use crate::capture::ros2::topics::{self, Topic};

/// A client of a robot's router, in one domain.
pub(super) struct Client {
    session: Session,
    domain: u16,
    /// What is published, by the token that says so.
    published: Arc<Mutex<BTreeMap<String, Topic>>>,
    _tokens: Subscriber<()>,
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
        Ok(Self { session, domain, published, _tokens: tokens, wake, woken })
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
        let key = format!(
            "{}/{}/{}/*",
            self.domain,
            topic.name.trim_start_matches('/'),
            topics::type_to_wire(&topic.schema)
        );
        let subscriber = self.session.declare_subscriber(key).callback(take);
        let subscriber = if matches!(delivery, Delivery::Kept(_)) {
            let history = HistoryConfig::default().detect_late_publishers();
            let subscriber = subscriber.history(history).wait().map_err(cannot)?;
            Declared::Advanced { _subscriber: subscriber }
        } else {
            Declared::Plain { _subscriber: subscriber.wait().map_err(cannot)? }
        };
        let messages = Box::new(Queue { queue, _subscriber: subscriber });
        Ok(Subscription { topic: topic.clone(), messages })
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

/// What went wrong, without the place in the library where it was noticed.
fn reason(error: &zenoh::Error) -> String {
    let text = error.to_string();
    text.split(" at /").next().unwrap_or_default().to_owned()
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
        for end in 0..token.find("_/RIHS01").unwrap() {
            assert_eq!(published_by(&token[..end]), None, "{end}");
        }
    }
}
