//! Tree of keys from which single ones can be taken out for good.
//!
//! A key is derived bit by bit from the seed of the tree's root (the pseudorandom
//! function of Goldreich, Goldwasser & Micali 1986). To take a number out, the seed above
//! it is replaced by the seeds beside its path (a constrained function, Boneh & Waters
//! 2013): all other keys can be derived as before, that one by nobody. So a tree of
//! millions of keys is one seed until something is taken out, and a few more then.
//!
//! Pure: numbers in, keys out. Seeds and keys are wiped from memory where they are dropped.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// Numbers have keys up to two to this power.
pub(super) const DEPTH: u8 = 40;

pub(super) const SEED_BYTES: usize = 32;
pub(super) type Seed = Zeroizing<[u8; SEED_BYTES]>;

/// Seeds by the first number below each; a node covers `1 << height` numbers.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) struct KeyTree {
    nodes: BTreeMap<u64, Node>,
}

/// Seed of a subtree.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) height: u8,
    pub(super) seed: Seed,
}

impl KeyTree {
    pub(super) fn of_root(seed: Seed) -> Self {
        Self { nodes: BTreeMap::from([(0, Node { height: DEPTH, seed })]) }
    }

    /// The tree of these nodes, each with its first number; `None` where two overlap or one
    /// does not begin where a node of its height can.
    pub(super) fn of_nodes(nodes: impl IntoIterator<Item = (u64, Node)>) -> Option<Self> {
        let mut tree = Self::default();
        let mut free_from = 0;
        for (first, node) in nodes {
            if node.height > DEPTH || first < free_from || first & (size(node.height) - 1) != 0 {
                return None;
            }
            free_from = first.checked_add(size(node.height))?;
            tree.nodes.insert(first, node);
        }
        (free_from <= size(DEPTH)).then_some(tree)
    }

    /// Each node with its first number, ascending.
    pub(super) fn nodes(&self) -> impl ExactSizeIterator<Item = (u64, Node)> + '_ {
        self.nodes.iter().map(|(first, node)| (*first, node.clone()))
    }

    /// Key of a number; `None` where it was taken out or is too large.
    pub(super) fn key(&self, number: u64) -> Option<Seed> {
        let (first, node) = self.nodes.range(..=number).next_back()?;
        let within = number - first;
        if within >= size(node.height) {
            return None;
        }
        let down = (0..node.height).rev();
        Some(down.fold(node.seed.clone(), |seed, bit| child(&seed, (within >> bit) & 1 == 1)))
    }

    /// Whether a number has a key.
    pub(super) fn holds(&self, number: u64) -> bool {
        let node = self.nodes.range(..=number).next_back();
        node.is_some_and(|(first, node)| number - first < size(node.height))
    }

    /// Ranges of numbers that have a key, first and last of each, ascending.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.nodes.iter().map(|(first, node)| (*first, first + (size(node.height) - 1)))
    }

    /// Takes the numbers from `first` to `last` out; whether any was there.
    pub(super) fn take_out(&mut self, first: u64, last: u64) -> bool {
        let last = last.min(size(DEPTH) - 1);
        let (before, after) = (self.nodes.range(..=first).next_back(), self.nodes.range(first..));
        let touched: Vec<(u64, Node)> = before
            .into_iter()
            .chain(after.take_while(|(start, _)| **start <= last))
            .map(|(start, node)| (*start, node.clone()))
            .filter(|(start, node)| start + (size(node.height) - 1) >= first)
            .collect();
        let is_any = !touched.is_empty();
        for (start, node) in touched {
            self.nodes.remove(&start);
            self.keep_outside(start, node, first, last);
        }
        is_any
    }

    /// Puts back what of a node's numbers is not from `first` to `last`.
    fn keep_outside(&mut self, start: u64, node: Node, first: u64, last: u64) {
        let end = start + (size(node.height) - 1);
        if end < first || last < start {
            self.nodes.insert(start, node);
            return;
        }
        if first <= start && end <= last {
            return;
        }
        let Some(height) = node.height.checked_sub(1) else { return };
        for upper in [false, true] {
            let start = if upper { start + size(height) } else { start };
            let node = Node { height, seed: child(&node.seed, upper) };
            self.keep_outside(start, node, first, last);
        }
    }

    /// The lowest number above all that were taken out.
    pub(super) fn untouched_from(&self) -> u64 {
        let mut from = size(DEPTH);
        for (first, node) in self.nodes.iter().rev() {
            if first + size(node.height) != from {
                break;
            }
            from = *first;
        }
        from
    }
}

impl std::fmt::Debug for KeyTree {
    /// Not the seeds: what is printed may be kept.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyTree").field("nodes", &self.nodes.len()).finish_non_exhaustive()
    }
}

fn size(height: u8) -> u64 {
    1 << height.min(DEPTH)
}

fn child(seed: &Seed, upper: bool) -> Seed {
    let mut hash = Sha256::new();
    hash.update(b"engram key tree ");
    hash.update([u8::from(upper)]);
    hash.update(seed.as_slice());
    let mut child = Seed::default();
    hash.finalize_into(child.as_mut_slice().into());
    child
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    /// Numbers around which the tests take out.
    const NUMBERS: u64 = 300;

    proptest! {
        #[test]
        fn what_was_taken_out_has_no_key_and_the_rest_keeps_its_own(
            ranges in prop::collection::vec((0_u64..NUMBERS, 0_u64..20), 0..12),
        ) {
            let whole = KeyTree::of_root([7; 32].into());
            let mut tree = whole.clone();
            let mut out = BTreeSet::new();
            for (first, more) in ranges {
                let new = (first..=first + more).any(|number| !out.contains(&number));
                prop_assert_eq!(tree.take_out(first, first + more), new);
                out.extend(first..=first + more);
            }
            for number in (0..NUMBERS + 30).chain([size(DEPTH) - 1]) {
                let expected = if out.contains(&number) { None } else { whole.key(number) };
                let is_in = |(first, last): (u64, u64)| (first..=last).contains(&number);
                prop_assert_eq!(tree.ranges().any(is_in), expected.is_some(), "{}", number);
                prop_assert_eq!(tree.holds(number), expected.is_some(), "{}", number);
                prop_assert_eq!(tree.key(number), expected, "{}", number);
            }
            prop_assert_eq!(tree.untouched_from(), out.last().map_or(0, |it| it + 1));
            let copy = KeyTree::of_nodes(tree.nodes());
            prop_assert_eq!(copy, Some(tree));
        }
    }

    #[test]
    fn every_number_has_a_key_of_its_own() {
        let tree = KeyTree::of_root([1; 32].into());
        let keys: BTreeSet<_> = (0..500).map(|number| *tree.key(number).unwrap()).collect();
        assert_eq!(keys.len(), 500);
        assert_ne!(tree.key(3), KeyTree::of_root([2; 32].into()).key(3));
        assert_eq!((tree.key(size(DEPTH)), tree.key(u64::MAX)), (None, None));
    }

    #[test]
    fn a_long_range_from_the_start_leaves_one_path() {
        let mut tree = KeyTree::of_root([1; 32].into());
        for floor in 1..5_000 {
            tree.take_out(0, floor);
        }
        assert!(tree.nodes().len() <= usize::from(DEPTH), "{tree:?}");
    }

    #[test]
    fn everything_can_be_taken_out() {
        let mut tree = KeyTree::of_root([1; 32].into());
        tree.take_out(0, u64::MAX);
        assert_eq!((tree.nodes().len(), tree.key(0)), (0, None));
        assert!(!tree.take_out(0, u64::MAX));
        assert_eq!(tree.untouched_from(), size(DEPTH));
    }

    #[test]
    fn nodes_that_overlap_or_lie_askew_are_no_tree() {
        let node = |height| Node { height, seed: Seed::default() };
        let whole = [(0, node(3)), (8, node(0))];
        assert!(KeyTree::of_nodes(whole).is_some());
        for nodes in [[(0, node(3)), (4, node(0))], [(0, node(1)), (3, node(1))]] {
            assert_eq!(KeyTree::of_nodes(nodes), None);
        }
        assert_eq!(KeyTree::of_nodes([(0, node(DEPTH + 1))]), None);
        assert_eq!(KeyTree::of_nodes([(size(DEPTH), node(0))]), None);
    }

    #[test]
    fn a_seed_that_was_taken_out_is_nowhere_in_its_memory() {
        let mut tree = KeyTree::of_root([0xA7; 32].into());
        let places: Vec<usize> =
            tree.nodes.values().map(|node| node.seed.as_ptr() as usize).collect();
        assert_eq!(memory_at(places[0]), [0xA7; 32]);
        tree.take_out(5, 5);
        let others: Vec<(usize, Seed)> = tree
            .nodes
            .values()
            .map(|node| (node.seed.as_ptr() as usize, node.seed.clone()))
            .collect();
        assert_ne!(memory_at(places[0]), [0xA7; 32]);
        for (place, seed) in &others {
            assert_eq!(memory_at(*place), **seed);
        }
        drop(tree);
        for (place, seed) in &others {
            assert_ne!(memory_at(*place), **seed);
        }
    }

    /// What lies there now, whoever owns it.
    fn memory_at(place: usize) -> [u8; 32] {
        use std::os::unix::fs::FileExt as _;
        let mut bytes = [0; 32];
        let memory = std::fs::File::open("/proc/self/mem").unwrap();
        memory.read_exact_at(&mut bytes, place as u64).unwrap();
        bytes
    }
}
