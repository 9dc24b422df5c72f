//! DDS, by `RustDDS`: the domain, subscriptions, and messages as the bytes that they are.

use std::fmt;
use std::io;
use std::time::Duration;

use rustdds::bytes::Bytes;
use rustdds::mio1::{Events, Interest, Poll, Token};
use rustdds::no_key::{
    DataWriter, Decode, DefaultDecoder, DeserializerAdapter, SerializerAdapter, SimpleDataReader,
};
use rustdds::policy::{Durability, History, Reliability, ResourceLimits};
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, QosPolicies, QosPolicyBuilder,
    RepresentationIdentifier, Subscriber, TopicKind,
};

use crate::capture::ros2::network::{Delivery, Messages, Network, Publication, Subscription};
use crate::capture::ros2::topics::{self, Topic};

/// A participant of a robot's domain.
pub(super) struct Domain {
    participant: DomainParticipant,
    subscriber: Subscriber,
    poll: Poll,
    events: Events,
    readers: usize,
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domain").field("readers", &self.readers).finish_non_exhaustive()
    }
}

impl Domain {
    pub(super) fn join(number: u16) -> Result<Self, String> {
        let cannot = |why: &dyn fmt::Debug| format!("domain {number} is not joined: {why:?}");
        let participant =
            DomainParticipantBuilder::new(number).build().map_err(|why| cannot(&why))?;
        let qos = QosPolicies::qos_none();
        let subscriber = participant.create_subscriber(&qos).map_err(|why| cannot(&why))?;
        let poll = Poll::new().map_err(|why| cannot(&why))?;
        Ok(Self { participant, subscriber, poll, events: Events::with_capacity(16), readers: 0 })
    }

    /// Whether all that publish the topic of this name repeat what somebody did not get.
    fn is_repeated(&self, name: &str) -> bool {
        let writers = self.participant.discovered_writers();
        let data = writers.iter().map(|it| &it.publication_topic_data);
        let mut own = data.filter(|it| it.topic_name == name);
        own.all(|it| matches!(it.reliability, Some(Reliability::Reliable { .. })))
    }
}

impl Network for Domain {
    fn offered(&self) -> Vec<Topic> {
        let writers = self.participant.discovered_writers();
        let data = writers.iter().map(|it| &it.publication_topic_data);
        let mut offered: Vec<Topic> =
            data.filter_map(|it| topics::of_wire(&it.topic_name, &it.type_name)).collect();
        offered.sort();
        offered.dedup();
        offered
    }

    fn subscribe(&mut self, topic: &Topic, delivery: Delivery) -> Result<Subscription, String> {
        let cannot = |why: &dyn fmt::Debug| format!("{} is not subscribed: {why:?}", topic.name);
        let (name, type_name) = topics::to_wire(topic);
        let delivery = match delivery {
            Delivery::Steady(depth) if self.is_repeated(&name) => Delivery::Every(depth),
            Delivery::Steady(depth) => Delivery::Newest(depth),
            Delivery::Newest(_) | Delivery::Every(_) | Delivery::Kept(_) => delivery,
        };
        let qos = qos(delivery);
        let dds_topic = self.participant.create_topic(name, type_name, &qos, TopicKind::NoKey);
        let dds_topic = dds_topic.map_err(|why| cannot(&why))?;
        let reader = self.subscriber.create_simple_datareader_no_key(&dds_topic, Some(qos));
        let mut reader: SimpleDataReader<Vec<u8>, Whole> = reader.map_err(|why| cannot(&why))?;
        let (token, interest) = (Token(self.readers), Interest::READABLE);
        self.readers += 1;
        let registered = self.poll.registry().register(&mut reader, token, interest);
        registered.map_err(|why| cannot(&why))?;
        let messages = Box::new(Reader { reader, depth: delivery.depth() });
        Ok(Subscription { topic: topic.clone(), messages })
    }

    fn publish(&mut self, topic: &Topic, depth: i32) -> Result<Box<dyn Publication>, String> {
        let cannot = |why: &dyn fmt::Debug| format!("{} is not published: {why:?}", topic.name);
        let (name, type_name) = topics::to_wire(topic);
        let qos = qos(Delivery::Every(depth));
        let publisher = self.participant.create_publisher(&qos).map_err(|why| cannot(&why))?;
        let dds_topic = self.participant.create_topic(name, type_name, &qos, TopicKind::NoKey);
        let dds_topic = dds_topic.map_err(|why| cannot(&why))?;
        let writer = publisher.create_datawriter_no_key(&dds_topic, Some(qos));
        let writer = writer.map_err(|why| cannot(&why))?;
        Ok(Box::new(Writer { writer, topic: topic.clone() }))
    }

    fn wait(&mut self, patience: Duration) -> Result<(), String> {
        match self.poll.poll(&mut self.events, Some(patience)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error.to_string()),
            _ => Ok(()),
        }
    }
}

/// What came of one topic.
struct Reader {
    reader: SimpleDataReader<Vec<u8>, Whole>,
    depth: usize,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("depth", &self.depth).finish_non_exhaustive()
    }
}

impl Messages for Reader {
    fn take(&self) -> Vec<Result<Vec<u8>, String>> {
        self.reader.drain_read_notifications();
        let next = || match self.reader.try_take_one() {
            Ok(message) => message.map(|it| Ok(it.into_value())),
            Err(error) => Some(Err(error.to_string())),
        };
        std::iter::from_fn(next).take(self.depth).collect()
    }
}

/// Own messages of one topic.
struct Writer {
    writer: DataWriter<Vec<u8>, Whole>,
    topic: Topic,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl Publication for Writer {
    fn send(&self, message: Vec<u8>) -> Result<(), String> {
        let sent = self.writer.write(message, None);
        sent.map_err(|why| format!("{} is not sent: {why}", self.topic.name))
    }
}

/// `RustDDS` keeps 64 messages of a topic where nothing is said: of raw images half a gigabyte.
fn qos(delivery: Delivery) -> QosPolicies {
    let reliable = Reliability::Reliable { max_blocking_time: rustdds::Duration::ZERO };
    let (depth, reliability, durability) = match delivery {
        Delivery::Newest(depth) | Delivery::Steady(depth) => {
            (depth, Reliability::BestEffort, Durability::Volatile)
        }
        Delivery::Every(depth) => (depth, reliable, Durability::Volatile),
        Delivery::Kept(depth) => (depth, reliable, Durability::TransientLocal),
    };
    let limits =
        ResourceLimits { max_samples: depth, max_instances: 1, max_samples_per_instance: depth };
    QosPolicyBuilder::new()
        .reliability(reliability)
        .durability(durability)
        .history(History::KeepLast { depth })
        .resource_limits(limits)
        .build()
}

/// Messages as they are: the header of CDR that `RustDDS` takes off is put on again.
struct Whole;

#[derive(Clone)]
struct Copied;

impl DeserializerAdapter<Vec<u8>> for Whole {
    type Error = io::Error;
    type Decoded = Vec<u8>;

    fn supported_encodings() -> &'static [RepresentationIdentifier] {
        &[RepresentationIdentifier::CDR_LE, RepresentationIdentifier::CDR_BE]
    }

    fn transform_decoded(decoded: Vec<u8>) -> Vec<u8> {
        decoded
    }
}

impl SerializerAdapter<Vec<u8>> for Whole {
    type Error = io::Error;

    fn output_encoding() -> RepresentationIdentifier {
        RepresentationIdentifier::CDR_LE
    }

    fn to_bytes(message: &Vec<u8>) -> Result<Bytes, io::Error> {
        Ok(Bytes::copy_from_slice(message.get(4..).unwrap_or_default()))
    }
}

impl DefaultDecoder<Vec<u8>> for Whole {
    type Decoder = Copied;
    const DECODER: Copied = Copied;
}

impl Decode<'_, Vec<u8>> for Copied {
    type Error = io::Error;

    fn decode_bytes(
        self,
        bytes: &[u8],
        encoding: RepresentationIdentifier,
    ) -> Result<Vec<u8>, io::Error> {
        let low = u8::from(encoding == RepresentationIdentifier::CDR_LE);
        Ok([&[0, low, 0, 0], bytes].concat())
    }
}
