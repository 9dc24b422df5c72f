//! English: everything that this program knows of the language of captions and of
//! people, in one place.
//!
//! Knows neither vectors nor records nor models. Words stand in `data/`, compiled in.

mod borne;
pub(crate) mod british;
pub mod caption;
mod clad;
pub(crate) mod clipping;
pub mod commonsense;
pub mod deeds;
pub mod depicted;
mod design;
mod detached_part;
pub mod everyday_deeds;
pub mod everyday_names;
pub mod fit;
mod formerly;
mod gone;
mod guessed;
pub(crate) mod identifier;
mod inscription;
pub(crate) mod known_words;
pub mod lexicon;
pub mod likeness;
mod made_of;
pub mod mention;
pub mod names_by_people;
pub(crate) mod naming;
pub(crate) mod ones;
mod overlooked_colour;
pub mod part_attribute;
pub mod person;
mod picture_head;
pub mod place;
pub mod reference;
pub mod request_tags;
mod sentence;
pub(crate) mod spelling;
pub mod tagged;
pub mod things_apart;
pub mod time;
pub mod told_deeds;
pub mod told_time;
pub mod topic;
pub mod topic_words;
mod undone;
mod verb_head;
pub mod verbs;
mod wished;
mod word_class;
pub(crate) mod words;
