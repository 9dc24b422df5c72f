//! A number of bytes that the requests of all clients together may hold in memory.
//!
//! Room is given to the user who holds least of it, of that user's connections to the one that
//! holds least, and among those to whose line began first: who holds much waits for itself.
//!
//! A line holds what came of it, and takes more as it grows. So that of many that each hold a
//! part one comes to its end, the line that began first of those may always grow, beyond the
//! bytes if need be.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::server::fair::Client;

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
    clients: BTreeMap<Client, u64>,
    users: BTreeMap<u32, u64>,
    /// Those that hold a part and may grow.
    growing: BTreeSet<LineNumber>,
    /// By the order in which their lines began; one a line.
    waiting: BTreeMap<LineNumber, Waiting>,
    lines: u64,
}

#[derive(Debug)]
struct Waiting {
    client: Client,
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
    client: Client,
    /// Of a line that may grow.
    line: Option<LineNumber>,
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
        client: Client,
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
    pub(super) fn take_anyway(self: &Arc<Self>, client: Client, bytes: u64) -> Charge {
        self.lock().hold(client, bytes);
        Charge { budget: Some(Arc::clone(self)), client, line: None, bytes }
    }

    fn grant(self: &Arc<Self>) {
        loop {
            let (line, Waiting { client, bytes, granted }) = {
                let mut state = self.lock();
                let Some(next) = state.next(self.bytes_max) else { return };
                next
            };
            let charge = Charge { budget: Some(Arc::clone(self)), client, line: Some(line), bytes };
            if let Err(mut unwanted) = granted.send(charge) {
                // Not by its drop, which would grant from within, again and again.
                unwanted.budget = None;
                let mut state = self.lock();
                state.release(client, bytes);
                state.growing.remove(&line);
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
    fn next(&mut self, bytes_max: u64) -> Option<(LineNumber, Waiting)> {
        self.waiting.retain(|_, it| !it.granted.is_closed());
        let holds = |it: &Waiting| {
            let own = self.clients.get(&it.client).copied().unwrap_or(0);
            (self.users.get(&it.client.uid).copied().unwrap_or(0), own)
        };
        let (line, first) = self.waiting.iter().min_by_key(|(line, it)| (holds(it), **line))?;
        let line = if self.held > 0 && self.held + first.bytes > bytes_max {
            *self.growing.first()?
        } else {
            *line
        };
        let next = self.waiting.remove(&line)?;
        self.hold(next.client, next.bytes);
        self.growing.insert(line);
        Some((line, next))
    }

    fn hold(&mut self, client: Client, bytes: u64) {
        self.held += bytes;
        *self.clients.entry(client).or_default() += bytes;
        *self.users.entry(client.uid).or_default() += bytes;
    }

    fn release(&mut self, client: Client, bytes: u64) {
        self.held = self.held.saturating_sub(bytes);
        reduce(&mut self.clients, client, bytes);
        reduce(&mut self.users, client.uid, bytes);
    }
}

fn reduce<K: Ord>(held: &mut BTreeMap<K, u64>, by: K, bytes: u64) {
    if let Entry::Occupied(mut of_one) = held.entry(by) {
        *of_one.get_mut() = of_one.get().saturating_sub(bytes);
        if *of_one.get() == 0 {
            of_one.remove();
        }
    }
}

impl Charge {
    /// What it held of one line.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes what the same line was given of the same budget beside it.
    pub(super) fn join(&mut self, mut more: Self) {
        self.bytes += more.bytes;
        more.budget = None;
    }

    /// The line is whole: holds so much from now on, whether that is less or more.
    pub(super) fn settle(&mut self, bytes: u64) {
        let Some(budget) = &self.budget else { return };
        {
            let mut state = budget.lock();
            if let Some(line) = self.line.take() {
                state.growing.remove(&line);
            }
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
            {
                let mut state = budget.lock();
                state.release(self.client, self.bytes);
                if let Some(line) = self.line {
                    state.growing.remove(&line);
                }
            }
            budget.grant();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::polling::{begin, block_on};

    const MIB: u64 = 1 << 20;

    /// What is granted at once.
    async fn at_once(budget: &Arc<Budget>, uid: u32, bytes: u64) -> Option<Charge> {
        let line = budget.line();
        begin(&mut Box::pin(budget.take(of(uid), line, bytes))).await.flatten()
    }

    fn of(uid: u32) -> Client {
        Client { uid, connection: u64::from(uid) }
    }

    #[test]
    fn who_holds_least_is_next() {
        block_on(async {
            let budget = Budget::new(8 * MIB, 9);
            let mut held: Vec<Charge> = Vec::new();
            for uid in [1, 1, 1, 2] {
                held.push(at_once(&budget, uid, 2 * MIB).await.unwrap());
            }
            let line = [(); 3].map(|()| budget.line());
            let mut greedy = Box::pin(budget.take(of(1), line[0], MIB));
            let mut second = Box::pin(budget.take(of(2), line[1], MIB));
            let mut polite = Box::pin(budget.take(of(3), line[2], 2 * MIB));
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
    fn a_user_with_many_connections_waits_for_itself() {
        block_on(async {
            let budget = Budget::new(4 * MIB, 9);
            let held = [1, 2, 3].map(|connection| Client { uid: 7, connection });
            let mut charges = Vec::new();
            for client in held {
                let line = budget.line();
                charges.push(budget.take(client, line, MIB).await.unwrap());
            }
            charges.push(at_once(&budget, 8, MIB).await.unwrap());
            let line = [(); 2].map(|()| budget.line());
            // A connection that holds nothing, of a user who does.
            let fresh = Client { uid: 7, connection: 4 };
            let mut greedy = Box::pin(budget.take(fresh, line[0], MIB));
            let mut polite = Box::pin(budget.take(of(8), line[1], MIB));
            assert!(begin(&mut greedy).await.is_none() && begin(&mut polite).await.is_none());
            drop(charges.remove(0));
            assert!(begin(&mut greedy).await.is_none() && begin(&mut polite).await.is_some());
        });
    }

    /// Ten lines that grow from one MiB to three where eight MiB are: one after the other they
    /// come to their ends.
    #[test]
    fn of_lines_that_each_hold_a_part_one_may_always_grow() {
        block_on(async {
            let budget = Budget::new(8 * MIB, 99);
            let mut lines = Vec::new();
            for uid in 1..=8 {
                let number = budget.line();
                let charge = budget.take(of(uid), number, MIB).await.unwrap();
                lines.push((uid, number, charge));
            }
            assert!(at_once(&budget, 9, 1).await.is_none(), "all is held");
            let mut most = 0;
            while !lines.is_empty() {
                let mut wait: Vec<_> = lines
                    .iter()
                    .map(|(uid, number, _)| Box::pin(budget.take(of(*uid), *number, 2 * MIB)))
                    .collect();
                let mut grown = None;
                for (at, take) in wait.iter_mut().enumerate() {
                    if let Some(more) = begin(take).await {
                        grown = Some((at, more.unwrap()));
                        break;
                    }
                }
                drop(wait);
                let (at, more) = grown.expect("one may grow");
                let (_, _, mut charge) = lines.remove(at);
                charge.join(more);
                assert_eq!(charge.bytes(), 3 * MIB);
                most = most.max(budget.lock().held);
            }
            assert!(most <= 10 * MIB, "{most}");
            assert_eq!(budget.lock().held, 0);
            assert!(budget.lock().growing.is_empty() && budget.lock().users.is_empty());
        });
    }

    #[test]
    fn alone_a_client_may_hold_any_number_and_what_it_does_not_need_is_free() {
        block_on(async {
            let budget = Budget::new(8 * MIB, 9);
            let mut line = at_once(&budget, 1, 9 * MIB).await.unwrap();
            assert!(at_once(&budget, 2, 1).await.is_none());
            line.settle(MIB);
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
            let mut waits = Box::pin(budget.take(of(2), lines[0], MIB));
            assert!(begin(&mut waits).await.is_none());
            assert!(budget.take(of(3), lines[1], MIB).await.is_none());
            drop(held);
            assert!(begin(&mut waits).await.unwrap().is_some());
        });
    }

    #[test]
    fn what_is_there_anyway_makes_others_wait() {
        block_on(async {
            let budget = Budget::new(8 * MIB, 9);
            let answer = budget.take_anyway(of(1), 100 * MIB);
            assert!(at_once(&budget, 2, 1).await.is_none());
            drop(answer);
            assert!(at_once(&budget, 2, 1).await.is_some());
        });
    }
}
