//! What the robot saw, when and where.

pub mod shows;
