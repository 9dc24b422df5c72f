//! Places for calls, shared fairly: a free place goes to the waiting client that has the
//! fewest calls running, and among those to the one that was served longest ago. So a client
//! that asks for a thousand things waits for itself.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Number of a connection.
pub(super) type ClientNumber = u64;

/// So many places for all clients.
#[derive(Debug)]
pub(super) struct FairPlaces {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Those that have calls running or waiting.
    clients: BTreeMap<ClientNumber, Client>,
    /// Counts places that were given.
    given: u64,
}

#[derive(Debug, Default)]
struct Client {
    running: usize,
    /// In order of arrival.
    waiting: VecDeque<oneshot::Sender<Place>>,
    /// When the last place was given to it, as a count of places.
    served: u64,
}

/// A place; given on when dropped.
#[derive(Debug)]
pub(super) struct Place {
    /// `None` once it is given back.
    places: Option<Arc<FairPlaces>>,
    client: ClientNumber,
}

impl FairPlaces {
    pub(super) fn new(count: usize) -> Arc<Self> {
        let state = State { free: count, clients: BTreeMap::new(), given: 0 };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// A place, if one is free and nobody waits.
    pub(super) fn try_take(self: &Arc<Self>, client: ClientNumber) -> Option<Place> {
        let mut state = self.lock();
        let is_awaited = state.clients.values().any(|it| !it.waiting.is_empty());
        (state.free > 0 && !is_awaited).then(|| {
            state.give_to(client);
            Place { places: Some(Arc::clone(self)), client }
        })
    }

    /// Waits for a place. Who gives up waiting loses nothing but its turn.
    pub(super) async fn take(self: &Arc<Self>, client: ClientNumber) -> Option<Place> {
        let waiting = {
            let mut state = self.lock();
            let (sender, waiting) = oneshot::channel();
            state.clients.entry(client).or_default().waiting.push_back(sender);
            waiting
        };
        self.hand_out();
        waiting.await.ok()
    }

    fn hand_out(self: &Arc<Self>) {
        loop {
            let (client, sender) = {
                let mut state = self.lock();
                let Some(next) = state.next() else { return };
                next
            };
            // Without the lock: whoever waited may be gone.
            let place = Place { places: Some(Arc::clone(self)), client };
            if let Err(mut unwanted) = sender.send(place) {
                // Not by its drop, which would hand out from within, again and again.
                unwanted.places = None;
                self.give_back(client);
            }
        }
    }

    fn give_back(&self, client: ClientNumber) {
        let mut state = self.lock();
        state.free += 1;
        if let Some(found) = state.clients.get_mut(&client) {
            found.running = found.running.saturating_sub(1);
            if found.running == 0 && found.waiting.is_empty() {
                state.clients.remove(&client);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Counts and queues: nothing panics between two changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Who is given the next free place.
    fn next(&mut self) -> Option<(ClientNumber, oneshot::Sender<Place>)> {
        if self.free == 0 {
            return None;
        }
        let waiting = self.clients.iter().filter(|(_, it)| !it.waiting.is_empty());
        let client = *waiting.min_by_key(|(_, it)| (it.running, it.served))?.0;
        let sender = self.clients.get_mut(&client)?.waiting.pop_front()?;
        self.give_to(client);
        Some((client, sender))
    }

    fn give_to(&mut self, client: ClientNumber) {
        self.free -= 1;
        self.given += 1;
        let given = self.given;
        let client = self.clients.entry(client).or_default();
        client.running += 1;
        client.served = given;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(places) = self.places.take() {
            places.give_back(self.client);
            places.hand_out();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    #[test]
    fn a_client_that_waits_for_much_is_served_by_turns() {
        block_on(async {
            let places = FairPlaces::new(1);
            let held = places.take(1).await.unwrap();
            let mut order = Vec::new();
            let mut waiting: Vec<_> = Vec::new();
            for client in [1, 1, 1, 1, 2, 3, 3] {
                let places = Arc::clone(&places);
                let mut take = Box::pin(async move { places.take(client).await.unwrap() });
                assert!(begin(&mut take).await.is_none());
                waiting.push((client, take));
            }
            drop(held);
            while !waiting.is_empty() {
                let mut next = None;
                for (at, (client, take)) in waiting.iter_mut().enumerate() {
                    if let Some(place) = begin(take).await {
                        next = Some((at, *client, place));
                        break;
                    }
                }
                let (at, client, place) = next.expect("a place is free");
                order.push(client);
                drop(waiting.remove(at));
                drop(place);
            }
            assert_eq!(order, [2, 3, 1, 3, 1, 1, 1]);
        });
    }

    proptest! {
        /// Whatever is taken, given up and given back, no place is lost or made.
        #[test]
        fn places_stay_as_many(steps in prop::collection::vec((0_u64..4, 0_u8..3), 0..60)) {
            block_on(async {
                let places = FairPlaces::new(2);
                let (mut held, mut waiting) = (Vec::new(), Vec::new());
                for (client, step) in steps {
                    match step {
                        0 => {
                            let own = Arc::clone(&places);
                            let mut take = Box::pin(async move { own.take(client).await });
                            match begin(&mut take).await {
                                Some(place) => held.push(place.unwrap()),
                                None => waiting.push(take),
                            }
                        }
                        1 => drop(held.pop()),
                        _ => drop(waiting.pop()),
                    }
                    let mut still = Vec::new();
                    for mut take in waiting.drain(..) {
                        match begin(&mut take).await {
                            Some(place) => held.push(place.unwrap()),
                            None => still.push(take),
                        }
                    }
                    waiting = still;
                    prop_assert!(held.len() <= 2);
                    prop_assert!(waiting.is_empty() || held.len() == 2);
                }
                drop((held, waiting));
                prop_assert!(places.lock().clients.is_empty());
                prop_assert_eq!(places.lock().free, 2);
                Ok(())
            })?;
        }
    }
}
