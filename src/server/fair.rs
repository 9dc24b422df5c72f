//! Places for calls, shared fairly: a free place goes to the waiting user that has the fewest
//! calls running, and among those to the one that was served longest ago; of that user's
//! connections likewise. So who asks for a thousand things waits for itself, by however many
//! connections.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A connection of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Client {
    pub(super) uid: u32,
    /// Its number.
    pub(super) connection: u64,
}

/// So many places for all clients.
#[derive(Debug)]
pub(super) struct FairPlaces {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Those that have calls running or waiting.
    clients: BTreeMap<Client, Queue>,
    /// Their users.
    users: BTreeMap<u32, Share>,
    /// Counts places that were given.
    given: u64,
}

#[derive(Debug, Default)]
struct Queue {
    share: Share,
    /// In order of arrival.
    waiting: VecDeque<oneshot::Sender<Place>>,
}

/// Who has less of it is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Share {
    running: usize,
    /// When the last place was given, as a count of places.
    served: u64,
}

/// A place; given on when dropped.
#[derive(Debug)]
pub(super) struct Place {
    /// `None` once it is given back.
    places: Option<Arc<FairPlaces>>,
    client: Client,
}

impl FairPlaces {
    pub(super) fn new(count: usize) -> Arc<Self> {
        let (clients, users) = (BTreeMap::new(), BTreeMap::new());
        Arc::new(Self { state: Mutex::new(State { free: count, clients, users, given: 0 }) })
    }

    /// A place, if one is free and nobody waits.
    pub(super) fn try_take(self: &Arc<Self>, client: Client) -> Option<Place> {
        let mut state = self.lock();
        let is_awaited = state.clients.values().any(|it| !it.waiting.is_empty());
        (state.free > 0 && !is_awaited).then(|| {
            state.give_to(client);
            Place { places: Some(Arc::clone(self)), client }
        })
    }

    /// Waits for a place. Who gives up waiting loses nothing but its turn.
    pub(super) async fn take(self: &Arc<Self>, client: Client) -> Option<Place> {
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

    fn give_back(&self, client: Client) {
        let mut state = self.lock();
        state.free += 1;
        if let Some(user) = state.users.get_mut(&client.uid) {
            user.running = user.running.saturating_sub(1);
        }
        if let Some(found) = state.clients.get_mut(&client) {
            found.share.running = found.share.running.saturating_sub(1);
            if found.share.running == 0 && found.waiting.is_empty() {
                state.clients.remove(&client);
            }
        }
        if state.clients.keys().all(|it| it.uid != client.uid) {
            state.users.remove(&client.uid);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Counts and queues: nothing panics between two changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Who is given the next free place.
    fn next(&mut self) -> Option<(Client, oneshot::Sender<Place>)> {
        if self.free == 0 {
            return None;
        }
        let waiting = self.clients.iter().filter(|(_, it)| !it.waiting.is_empty());
        let of_user = |uid: u32| self.users.get(&uid).copied().unwrap_or_default();
        let client = *waiting.min_by_key(|(client, it)| (of_user(client.uid), it.share))?.0;
        let sender = self.clients.get_mut(&client)?.waiting.pop_front()?;
        self.give_to(client);
        Some((client, sender))
    }

    fn give_to(&mut self, client: Client) {
        self.free -= 1;
        self.given += 1;
        let own = &mut self.clients.entry(client).or_default().share;
        for share in [own, self.users.entry(client.uid).or_default()] {
            share.running += 1;
            share.served = self.given;
        }
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
    use crate::server::polling::{begin, block_on};
    use proptest::prelude::*;

    fn client(uid: u32, connection: u64) -> Client {
        Client { uid, connection }
    }

    /// The order in which these are served, while the first holds the only place.
    fn order(clients: &[Client]) -> Vec<Client> {
        block_on(async {
            let places = FairPlaces::new(1);
            let held = places.take(clients[0]).await.unwrap();
            let mut order = Vec::new();
            let mut waiting: Vec<_> = Vec::new();
            for client in clients.iter().copied() {
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
            order
        })
    }

    #[test]
    fn a_client_that_waits_for_much_is_served_by_turns() {
        let of_one_user = [1, 1, 1, 1, 2, 3, 3].map(|connection| client(7, connection));
        let served: Vec<u64> = order(&of_one_user).iter().map(|it| it.connection).collect();
        assert_eq!(served, [2, 3, 1, 3, 1, 1, 1]);
    }

    #[test]
    fn a_user_with_many_connections_is_served_by_turns_with_others() {
        let mut clients: Vec<Client> = (1..=4).map(|connection| client(7, connection)).collect();
        clients.extend([client(8, 9); 3]);
        let served = order(&clients);
        let users: Vec<u32> = served.iter().map(|it| it.uid).collect();
        assert_eq!(users, [8, 7, 8, 7, 8, 7, 7]);
        let connections = served.iter().filter(|it| it.uid == 7).map(|it| it.connection);
        assert_eq!(connections.collect::<Vec<_>>(), [2, 3, 4, 1]);
    }

    proptest! {
        /// Whatever is taken, given up and given back, no place is lost or made.
        #[test]
        fn places_stay_as_many(steps in prop::collection::vec((0_u64..4, 0_u8..3), 0..60)) {
            block_on(async {
                let places = FairPlaces::new(2);
                let (mut held, mut waiting) = (Vec::new(), Vec::new());
                for (number, step) in steps {
                    let client = client(u32::from(number > 1), number);
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
                prop_assert!(places.lock().clients.is_empty() && places.lock().users.is_empty());
                prop_assert_eq!(places.lock().free, 2);
                Ok(())
            })?;
        }
    }
}
