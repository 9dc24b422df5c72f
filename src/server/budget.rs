//! A number of bytes that the requests of all clients together may hold in memory.
//!
//! Room is given to who holds least of it, and among those to whose line began first, so
//! that a client that holds much waits for itself. Nobody is given a part of what it waits
//! for: of many that each hold a part none would come to its end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::server::fair::ClientNumber;

/// Bytes for all clients.
#[derive(Debug)]
pub(super) struct Budget {
    bytes_max: u64,
    /// Lines that wait for room.
    waiting_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Of all clients.
    held: u64,
    /// Those that hold something.
    clients: BTreeMap<ClientNumber, u64>,
    /// By the order in which their lines began; one a line.
    waiting: BTreeMap<LineNumber, Waiting>,
    lines: u64,
}

#[derive(Debug)]
struct Waiting {
    client: ClientNumber,
    bytes: u64,
    granted: oneshot::Sender<Charge>,
}

/// Order in which lines began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineNumber(u64);

/// Bytes that a client holds, until it is dropped.
#[derive(Debug)]
pub(super) struct Charge {
    /// `None` where there is nothing to give back.
    budget: Option<Arc<Budget>>,
    client: ClientNumber,
    bytes: u64,
}

impl Budget {
    pub(super) fn new(bytes_max: u64, waiting_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, waiting_max, state: Mutex::default() })
    }

    /// A line begins.
    pub(super) fn line(&self) -> LineNumber {
        let mut state = self.lock();
        state.lines += 1;
        LineNumber(state.lines)
    }

    /// Waits until the client may hold so much more; `None` where too many lines wait. A
    /// second wait of one line takes the place of the first.
    pub(super) async fn take(
        self: &Arc<Self>,
        client: ClientNumber,
        line: LineNumber,
        bytes: u64,
    ) -> Option<Charge> {
        let waits = {
            let mut state = self.lock();
            let (granted, waits) = oneshot::channel();
            if state.waiting.len() >= self.waiting_max && !state.waiting.contains_key(&line) {
                return None;
            }
            drop(state.waiting.insert(line, Waiting { client, bytes, granted }));
            waits
        };
        self.grant();
        waits.await.ok()
    }

    /// Takes what is there already, such as an answer: nobody can be made to wait for it, but
    /// all that wait, wait for it.
    pub(super) fn take_anyway(self: &Arc<Self>, client: ClientNumber, bytes: u64) -> Charge {
        self.lock().hold(client, bytes);
        Charge { budget: Some(Arc::clone(self)), client, bytes }
    }

    fn grant(self: &Arc<Self>) {
        loop {
            let Waiting { client, bytes, granted } = {
                let mut state = self.lock();
                let Some(next) = state.next(self.bytes_max) else { return };
                next
            };
            let charge = Charge { budget: Some(Arc::clone(self)), client, bytes };
            if let Err(mut unwanted) = granted.send(charge) {
                // Not by its drop, which would grant from within, again and again.
                unwanted.budget = None;
                self.lock().release(client, bytes);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Sums: nothing panics between two changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Who is next, if there is room for it. Alone a client may hold any number, so that
    /// nobody is kept from anything.
    fn next(&mut self, bytes_max: u64) -> Option<Waiting> {
        self.waiting.retain(|_, it| !it.granted.is_closed());
        let holds = |it: &Waiting| self.clients.get(&it.client).copied().unwrap_or(0);
        let (line, first) = self.waiting.iter().min_by_key(|(line, it)| (holds(it), **line))?;
        if self.held > 0 && self.held + first.bytes > bytes_max {
            return None;
        }
        let line = *line;
        let next = self.waiting.remove(&line)?;
        self.hold(next.client, next.bytes);
        Some(next)
    }

    fn hold(&mut self, client: ClientNumber, bytes: u64) {
        self.held += bytes;
        *self.clients.entry(client).or_default() += bytes;
    }

    fn release(&mut self, client: ClientNumber, bytes: u64) {
        self.held = self.held.saturating_sub(bytes);
        if let Some(held) = self.clients.get_mut(&client) {
            *held = held.saturating_sub(bytes);
            if *held == 0 {
                self.clients.remove(&client);
            }
        }
    }
}

impl Charge {
    /// Holds so much from now on, whether that is less or more.
    pub(super) fn resize(&mut self, bytes: u64) {
        let Some(budget) = &self.budget else { return };
        {
            let mut state = budget.lock();
            state.release(self.client, self.bytes);
            state.hold(self.client, bytes);
        }
        self.bytes = bytes;
        budget.grant();
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(budget) = self.budget.take() {
            budget.lock().release(self.client, self.bytes);
            budget.grant();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    /// Polls once, so that it waits.
    async fn begin<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        tokio::select! {
            biased;
            output = future => Some(output),
            () = std::future::ready(()) => None,
        }
    }

    /// What is granted at once.
    async fn at_once(budget: &Arc<Budget>, client: ClientNumber, bytes: u64) -> Option<Charge> {
        let line = budget.line();
        begin(&mut Box::pin(budget.take(client, line, bytes))).await.flatten()
    }

    #[test]
    fn who_holds_least_is_next() {
        block_on(async {
            let budget = Budget::new(8 * MIB, 9);
            let mut held: Vec<Charge> = Vec::new();
            for client in [1, 1, 1, 2] {
                held.push(at_once(&budget, client, 2 * MIB).await.unwrap());
            }
            let line = [(); 3].map(|()| budget.line());
            let mut greedy = Box::pin(budget.take(1, line[0], MIB));
            let mut second = Box::pin(budget.take(2, line[1], MIB));
            let mut polite = Box::pin(budget.take(3, line[2], 2 * MIB));
            assert!(begin(&mut greedy).await.is_none());
            assert!(begin(&mut second).await.is_none());
            assert!(begin(&mut polite).await.is_none());
            held.remove(0);
            assert!(begin(&mut greedy).await.is_none() && begin(&mut second).await.is_none());
            let got = begin(&mut polite).await.unwrap().unwrap();
            drop(got);
            assert!(begin(&mut second).await.is_some());
        });
    }

    #[test]
    fn alone_a_client_may_hold_any_number_and_what_it_does_not_need_is_free() {
        block_on(async {
            let budget = Budget::new(8 * MIB, 9);
            let mut line = at_once(&budget, 1, 9 * MIB).await.unwrap();
            assert!(at_once(&budget, 2, 1).await.is_none());
            line.resize(MIB);
            assert!(at_once(&budget, 2, 7 * MIB).await.is_some());
            drop(line);
            assert_eq!(budget.lock().held, 0);
            assert!(budget.lock().clients.is_empty());
        });
    }

    #[test]
    fn too_many_do_not_wait() {
        block_on(async {
            let budget = Budget::new(MIB, 1);
            let held = at_once(&budget, 1, MIB).await;
            let lines = [budget.line(), budget.line()];
            let mut waits = Box::pin(budget.take(2, lines[0], MIB));
            assert!(begin(&mut waits).await.is_none());
            assert!(budget.take(3, lines[1], MIB).await.is_none());
            drop(held);
            assert!(begin(&mut waits).await.unwrap().is_some());
        });
    }

    #[test]
    fn what_is_there_anyway_makes_others_wait() {
        block_on(async {
            let budget = Budget::new(8 * MIB, 9);
            let answer = budget.take_anyway(1, 100 * MIB);
            assert!(at_once(&budget, 2, 1).await.is_none());
            drop(answer);
            assert!(at_once(&budget, 2, 1).await.is_some());
        });
    }
}
