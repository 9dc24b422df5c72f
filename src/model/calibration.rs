//! Calibration of cosines: one scale for all embedders, that of all-MiniLM-L6-v2.
//!
//! Pure: pairs of cosines in, a monotone map out (isotonic regression by pool adjacent
//! violators). Thresholds such as "at least 0.6" mean the same for every embedder only on a
//! common scale: one model gives unrelated texts a cosine of .1, another .7.

/// Pairs per knot: enough that one odd pair moves it little.
const PAIRS_A_KNOT: usize = 8;

/// Monotone map from an embedder's cosine to the reference's.
///
/// Piecewise linear between its knots, which lie on the isotonic regression of the fitted
/// pairs; −1 stays −1 and 1 stays 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// By own cosine, strictly rising; the reference's never fall.
    knots: Vec<Knot>,
}

/// Point of the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knot {
    pub own: f32,
    pub reference: f32,
}

impl Knot {
    fn is_valid(self) -> bool {
        let range = -1.0..=1.0;
        range.contains(&self.own) && range.contains(&self.reference)
    }
}

const LEAST: Knot = Knot { own: -1.0, reference: -1.0 };
const MOST: Knot = Knot { own: 1.0, reference: 1.0 };

impl Default for Calibration {
    /// Leaves every cosine as it is.
    fn default() -> Self {
        Self { knots: vec![LEAST, MOST] }
    }
}

impl Calibration {
    /// Fits the map to `pairs`, each the cosines of the same two texts in both models. Pairs
    /// that are not finite are left out.
    pub fn fit(pairs: &[Knot]) -> Self {
        let mut pairs: Vec<Knot> = pairs.iter().copied().filter(|knot| knot.is_valid()).collect();
        pairs.sort_by(|a, b| a.own.total_cmp(&b.own).then(a.reference.total_cmp(&b.reference)));
        let mut blocks: Vec<PooledBlock> = Vec::new();
        for group in pairs.chunks(PAIRS_A_KNOT) {
            blocks.push(PooledBlock::of(group));
            pool(&mut blocks);
        }
        Self::through(blocks.iter().map(PooledBlock::knot))
    }

    /// Map through `knots`, with the fixed ends. Knots that would make it fall are left out.
    pub fn through(knots: impl IntoIterator<Item = Knot>) -> Self {
        let mut rising = vec![LEAST];
        for knot in knots.into_iter().filter(|knot| knot.is_valid()) {
            let last = rising.last().copied().unwrap_or(LEAST);
            if knot.own > last.own && knot.reference >= last.reference && knot.own < MOST.own {
                rising.push(knot);
            }
        }
        rising.push(MOST);
        Self { knots: rising }
    }

    /// From −1 to 1, by cosine.
    pub fn knots(&self) -> &[Knot] {
        &self.knots
    }

    /// Cosine of the reference for texts whose cosine is `own` here.
    pub fn reference_cosine(&self, own: f32) -> f32 {
        let own = own.clamp(-1.0, 1.0);
        let above = self.knots.partition_point(|knot| knot.own <= own);
        let (Some(left), Some(right)) =
            (above.checked_sub(1).and_then(|at| self.knots.get(at)), self.knots.get(above))
        else {
            return own;
        };
        let share = (own - left.own) / (right.own - left.own);
        left.reference + share * (right.reference - left.reference)
    }

    /// Similarity of texts of this cosine, from 0 to 1: .6 of any embedder is a cosine of .2 of
    /// the reference.
    pub fn similarity(&self, own: f32) -> f32 {
        f32::midpoint(1.0, self.reference_cosine(own))
    }
}

/// Pooled neighbouring pairs.
#[derive(Debug, Clone, Copy)]
struct PooledBlock {
    own: f64,
    reference: f64,
    pairs: f64,
}

impl PooledBlock {
    fn of(pairs: &[Knot]) -> Self {
        let sum = |of: fn(&Knot) -> f32| pairs.iter().map(|it| f64::from(of(it))).sum::<f64>();
        Self { own: sum(|it| it.own), reference: sum(|it| it.reference), pairs: pairs.len() as f64 }
    }

    fn reference_mean(&self) -> f64 {
        self.reference / self.pairs
    }

    #[expect(clippy::cast_possible_truncation, reason = "means of cosines")]
    fn knot(&self) -> Knot {
        Knot { own: (self.own / self.pairs) as f32, reference: self.reference_mean() as f32 }
    }
}

/// Pools adjacent violators: joins the last blocks until the reference rises again.
fn pool(blocks: &mut Vec<PooledBlock>) {
    while let [.., before, last] = blocks.as_mut_slice()
        && before.reference_mean() >= last.reference_mean()
    {
        before.own += last.own;
        before.reference += last.reference;
        before.pairs += last.pairs;
        blocks.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::proptest;

    fn pairs(of: impl Fn(f32) -> f32) -> Vec<Knot> {
        let steps = (0..=400_u16).map(|step| f32::from(step) / 200.0 - 1.0);
        steps.map(|own| Knot { own, reference: of(own) }).collect()
    }

    #[test]
    fn a_calibration_without_pairs_changes_nothing() {
        for map in [Calibration::default(), Calibration::fit(&[])] {
            for own in [-1.0, -0.3, 0.0, 0.2, 1.0, 1.0 + f32::EPSILON] {
                assert!((map.reference_cosine(own) - own).abs() < 1e-6);
            }
            assert!((map.similarity(0.2) - 0.6).abs() < 1e-6);
        }
    }

    #[test]
    fn a_calibration_follows_a_rising_curve() {
        // As an embedder whose cosines crowd in the upper half.
        let curve = |own: f32| 2.0 * f32::midpoint(own, 1.0).powi(4) - 1.0;
        let map = Calibration::fit(&pairs(curve));
        for own in [-0.9, -0.5, 0.0, 0.4, 0.8, 0.95] {
            let found = map.reference_cosine(own);
            assert!((found - curve(own)).abs() < 0.02, "{own}: {found}, {}", curve(own));
        }
    }

    #[test]
    fn noise_is_averaged_and_never_makes_a_calibration_fall() {
        let noisy = |own: f32| (own / 2.0 + 0.2 * (own * 999.0).sin()).clamp(-1.0, 1.0);
        let map = Calibration::fit(&pairs(noisy));
        for own in [-0.6, -0.2, 0.2, 0.6] {
            let found = map.reference_cosine(own);
            assert!((found - own / 2.0).abs() < 0.1, "{own}: {found}");
        }
    }

    proptest! {
        #[test]
        fn a_calibration_never_falls_and_stays_within_its_bounds(
            raw in vec((-1.0_f32..=1.0, -1.0_f32..=1.0), 0..300),
        ) {
            let pairs: Vec<Knot> =
                raw.into_iter().map(|(own, reference)| Knot { own, reference }).collect();
            let map = Calibration::fit(&pairs);
            let steps = (0..=1_000_u16).map(|step| f32::from(step) / 500.0 - 1.0);
            let mapped: Vec<f32> = steps.map(|own| map.reference_cosine(own)).collect();
            assert!(mapped.is_sorted());
            assert!((mapped[0] + 1.0).abs() < 1e-6 && (mapped[1_000] - 1.0).abs() < 1e-6);
            assert_eq!(Calibration::through(map.knots().iter().copied()), map);
        }
    }
}
