//! One thread that owns the text embedder, and handles to ask it with.
//!
//! Queries go ahead of passages, because somebody waits for a query. A panic in
//! the model is that request's error; the thread lives on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, JoinHandle};

use crossbeam::channel::{Receiver, Sender, bounded, select_biased};
use rayon::ThreadPoolBuilder;

use crate::base::embedding::Embedding;
use crate::model::{Embedder, ModelError, ModelIdentity, TextRole};

/// Waiting requests of each role; whoever comes to a full queue waits for a place.
const QUEUE_SLOTS: usize = 64;

/// Owns the thread; ends it when dropped.
#[derive(Debug)]
pub struct EmbedderHost {
    handle: EmbedderHandle,
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Asks the embedder from any thread. Outlives its host: then every answer is
/// [`ModelError::Gone`].
#[derive(Debug, Clone)]
pub struct EmbedderHandle {
    identity: ModelIdentity,
    dimension: usize,
    queries: Sender<Request>,
    passages: Sender<Request>,
}

#[derive(Debug)]
struct Request {
    role: TextRole,
    texts: Vec<String>,
    reply: Sender<Result<Vec<Embedding>, ModelError>>,
}

impl EmbedderHost {
    pub fn start(embedder: Box<dyn Embedder>) -> Result<Self, ModelError> {
        let (queries, query_queue) = bounded(QUEUE_SLOTS);
        let (passages, passage_queue) = bounded(QUEUE_SLOTS);
        let (stop, stopped) = bounded(0);
        let identity = embedder.identity().clone();
        let handle =
            EmbedderHandle { identity, dimension: embedder.dimension(), queries, passages };
        let queues = Queues { queries: query_queue, passages: passage_queue, stopped };
        let thread = Builder::new()
            .name("embedder".to_owned())
            .spawn(move || serve(embedder, &queues))
            .map_err(|error| ModelError::Failed(format!("no thread: {error}")))?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }

    pub fn handle(&self) -> EmbedderHandle {
        self.handle.clone()
    }
}

impl Drop for EmbedderHost {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the embedder's thread panicked");
        }
    }
}

impl EmbedderHandle {
    pub fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    /// Components of every vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    pub fn embed(&self, role: TextRole, text: &str) -> Result<Embedding, ModelError> {
        self.embed_batch(role, &[text])?.pop().ok_or(ModelError::Gone)
    }

    /// One vector a text, in the order of `texts`. A long batch keeps queries
    /// waiting until it is done: give passages in groups of a few dozen.
    pub fn embed_batch(
        &self,
        role: TextRole,
        texts: &[&str],
    ) -> Result<Vec<Embedding>, ModelError> {
        let (reply, answer) = bounded(1);
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        let queue = match role {
            TextRole::Query => &self.queries,
            TextRole::Passage => &self.passages,
        };
        queue.send(Request { role, texts, reply }).map_err(|_unsent| ModelError::Gone)?;
        answer.recv().unwrap_or(Err(ModelError::Gone))
    }
}

struct Queues {
    queries: Receiver<Request>,
    passages: Receiver<Request>,
    stopped: Receiver<()>,
}

impl Queues {
    /// The next request, a query if there is one; `None` when the host ends.
    fn next(&self) -> Option<Request> {
        select_biased! {
            recv(self.stopped) -> _ => None,
            recv(self.queries) -> request => request.ok(),
            recv(self.passages) -> request => request.ok(),
        }
    }
}

fn serve(mut embedder: Box<dyn Embedder>, queues: &Queues) {
    compute_on_this_thread_only();
    while let Some(Request { role, texts, reply }) = queues.next() {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let result = catch_unwind(AssertUnwindSafe(|| embedder.embed(role, &texts)))
            .unwrap_or_else(|panic| Err(ModelError::Failed(panic_text(panic.as_ref()))))
            .and_then(|vectors| {
                let complete = vectors.len() == texts.len();
                complete
                    .then_some(vectors)
                    .ok_or_else(|| ModelError::Failed("it did not answer every text".to_owned()))
            });
        // Whoever asked may have gone.
        drop(reply.try_send(result));
    }
}

/// Makes candle compute on the calling thread alone.
///
/// By default it spreads every larger product over all cores, and layer norms
/// and softmax over rayon's global pool. For one short text that is slower than
/// one thread (dozens of operations, each handed over and waited for), and it
/// takes the cores from whoever else works. So products never count as large,
/// in the whole process, and this thread becomes a rayon pool of one, where work
/// runs on the spot.
pub(crate) fn compute_on_this_thread_only() {
    gemm::set_threading_threshold(usize::MAX);
    if let Err(error) = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        log::warn!("models compute on all cores: {error}");
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", text.unwrap_or("without a message"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::scripted::ScriptedEmbedder;

    use std::sync::Barrier;
    use std::sync::{Arc, Mutex};

    /// Panics, answers too little, or waits, as the text tells; notes what it was asked.
    #[derive(Debug)]
    struct Moody {
        inner: ScriptedEmbedder,
        asked: Arc<Mutex<Vec<String>>>,
        gate: Arc<Barrier>,
    }

    impl Embedder for Moody {
        fn identity(&self) -> &ModelIdentity {
            self.inner.identity()
        }

        fn dimension(&self) -> usize {
            self.inner.dimension()
        }

        fn embed(&mut self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
            self.asked.lock().unwrap().push(texts.join("+"));
            match texts {
                ["panic"] => panic!("a bad day"),
                ["nothing"] => Ok(Vec::new()),
                ["wait"] => {
                    self.gate.wait();
                    self.gate.wait();
                    self.inner.embed(role, texts)
                }
                _ => self.inner.embed(role, texts),
            }
        }
    }

    fn moody() -> (EmbedderHost, Arc<Mutex<Vec<String>>>, Arc<Barrier>) {
        let (asked, gate) = (Arc::default(), Arc::new(Barrier::new(2)));
        let inner = ScriptedEmbedder::new(16);
        let model = Moody { inner, asked: Arc::clone(&asked), gate: Arc::clone(&gate) };
        (EmbedderHost::start(Box::new(model)).unwrap(), asked, gate)
    }

    #[test]
    fn answers_as_the_model_does() {
        let mut model = ScriptedEmbedder::new(32);
        let host = EmbedderHost::start(Box::new(ScriptedEmbedder::new(32))).unwrap();
        let handle = host.handle();
        assert_eq!((handle.identity(), handle.dimension()), (model.identity(), 32));
        let texts = ["a red mug", "keys"];
        let expected = model.embed(TextRole::Query, &texts).unwrap();
        assert_eq!(handle.embed_batch(TextRole::Query, &texts).unwrap(), expected);
        assert_eq!(handle.embed(TextRole::Passage, "keys").unwrap(), expected[1]);
        assert_eq!(handle.embed_batch(TextRole::Query, &[]), Ok(Vec::new()));
    }

    #[test]
    fn a_panic_is_an_error_and_the_host_lives_on() {
        let (host, _, _) = moody();
        let error = host.handle().embed(TextRole::Query, "panic").unwrap_err();
        assert_eq!(error, ModelError::Failed("it panicked: a bad day".to_owned()));
        let error = host.handle().embed(TextRole::Query, "nothing").unwrap_err();
        assert!(matches!(error, ModelError::Failed(_)));
        host.handle().embed(TextRole::Query, "mug").unwrap();
    }

    #[test]
    fn queries_overtake_passages() {
        let (host, asked, gate) = moody();
        std::thread::scope(|scope| {
            scope.spawn(|| host.handle().embed(TextRole::Passage, "wait"));
            gate.wait();
            // The thread is held: what is queued now is served by role.
            let first = host.handle();
            let (reply, answers) = bounded(2);
            let request = |role, text: &str| Request {
                role,
                texts: vec![text.to_owned()],
                reply: reply.clone(),
            };
            first.passages.send(request(TextRole::Passage, "passage")).unwrap();
            first.queries.send(request(TextRole::Query, "query")).unwrap();
            gate.wait();
            answers.iter().take(2).for_each(|answer| drop(answer.unwrap()));
        });
        assert_eq!(*asked.lock().unwrap(), ["wait", "query", "passage"]);
    }

    #[test]
    fn handles_that_outlive_the_host_are_told() {
        let (host, _, _) = moody();
        let handle = host.handle();
        drop(host);
        assert_eq!(handle.embed(TextRole::Query, "mug"), Err(ModelError::Gone));
    }
}
