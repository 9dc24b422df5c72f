//! Calibration of similarity for the store's embedder, kept so that a start does not fit
//! it again.

use bincode::{Decode, Encode};

use crate::store::Store;
use crate::store::StoreError;
use crate::store::keys;
use crate::store::records;

/// Under [`keys::CALIBRATION`].
#[derive(Debug, Encode, Decode)]
struct CalibrationOnDisk {
    fingerprint: String,
    fitted_on: u32,
    knots: Vec<(f32, f32)>,
}

impl Store {
    /// Knots for this store's embedder and the texts of this checksum. A damaged entry
    /// counts as none: it can be fitted again.
    pub fn calibration(&self, fitted_on: u32) -> Result<Option<Vec<(f32, f32)>>, StoreError> {
        match self.0.db.read::<CalibrationOnDisk>(keys::CALIBRATION) {
            Ok(kept) => Ok(kept
                .filter(|it| it.fingerprint == self.space().fingerprint)
                .filter(|it| it.fitted_on == fitted_on)
                .map(|it| it.knots)),
            Err(error) if error.concerns_one_value() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the knots. Durable when it returns.
    pub fn put_calibration(
        &self,
        fitted_on: u32,
        knots: Vec<(f32, f32)>,
    ) -> Result<(), StoreError> {
        let fingerprint = self.space().fingerprint.clone();
        let calibration = CalibrationOnDisk { fingerprint, fitted_on, knots };
        self.change(|_state, change| {
            change
                .batch
                .insert(keys::CALIBRATION, records::encode(keys::CALIBRATION, &calibration));
            Ok(())
        })
    }
}
