//! The closed classes of English words by which what a request names is put in order.
//!
//! Pure.

/// Before a name: which one of its kind.
pub(crate) const DETERMINERS: &[&str] = &[
    "a", "an", "the", "my", "our", "your", "his", "her", "its", "their", "this", "that", "these",
    "those", "some", "any", "another", "no", "every", "both",
];

/// Sounds between words, as speech recognition writes them down.
pub(super) const FILLERS: &[&str] = &["um", "uh", "uhm", "er", "erm", "hmm"];

/// Before what is near, on or in.
pub(super) const PLACE_PREPOSITIONS: &[&str] = &[
    "on",
    "in",
    "at",
    "by",
    "beside",
    "besides",
    "near",
    "nearby",
    "under",
    "underneath",
    "beneath",
    "below",
    "above",
    "over",
    "behind",
    "inside",
    "against",
    "along",
    "alongside",
    "around",
    "across",
    "opposite",
    "between",
    "among",
    "amongst",
    "from",
    "off",
    "with",
    "within",
    "atop",
    "upon",
    "outside",
    "past",
    "round",
    "amid",
    "onto",
    "into",
];

/// "on the left side *of*", "in front *of*".
pub(super) const PLACE_PARTS: &[&str] = &[
    "top",
    "front",
    "middle",
    "center",
    "centre",
    "side",
    "sides",
    "edge",
    "corner",
    "left",
    "right",
    "back",
    "bottom",
    "end",
    "foot",
    "head",
    "vicinity",
    "surface",
    "inside",
    "rest",
    "way",
    "neighbourhood",
    "reach",
    "arm's",
];

/// "a pair *of*", "one *of* the", before what is meant.
pub(super) const COLLECTIVES: &[&str] = &[
    "pair", "loaf", "slice", "set", "bunch", "piece", "couple", "kind", "sort", "type", "stack",
    "pile", "one", "ones", "any", "some", "which", "all", "bit", "lot", "lots", "number", "none",
    "each", "either",
];

/// They name no thing of their own.
pub(super) const GENERIC: &[&str] = &[
    "one",
    "ones",
    "thing",
    "things",
    "something",
    "anything",
    "stuff",
    "object",
    "item",
    "items",
    "objects",
    "whatever",
    "everything",
];

/// Where everything is; said of nothing in particular.
pub(super) const NOWHERE: &[&str] = &[
    "home",
    "house",
    "flat",
    "apartment",
    "place",
    "places",
    "spot",
    "room",
    "world",
    "memory",
    "time",
    "times",
    "day",
    "days",
    "hand",
    "hands",
    "way",
    "case",
    "use",
    "moment",
    "there",
    "work",
    "school",
];

/// Something to do it with.
pub(super) const AFFORDANCES: &[(&str, &str)] = &[
    ("drinking", "cup"),
    ("reading", "book"),
    ("writing", "pen"),
    ("eating", "bowl"),
    ("sitting", "chair"),
    ("cutting", "knife"),
    ("cooking", "pan"),
    ("wearing", "hat"),
    ("calling", "phone"),
    ("boiling", "kettle"),
    ("playing", "ball"),
    ("watering", "watering can"),
    ("watching", "remote"),
    ("phoning", "phone"),
    ("carrying", "backpack"),
    ("typing", "laptop"),
    ("frying", "pan"),
    ("sipping", "cup"),
];

/// Before what a part of a place belongs to: "*top* shelf", "*left* burner".
pub(super) const SIDES: &[&str] = &[
    "top",
    "bottom",
    "left",
    "right",
    "upper",
    "lower",
    "middle",
    "back",
    "front",
    "far",
    "near",
    "very",
    "other",
    "same",
    "left-hand",
    "right-hand",
];

/// A habit that stands in a name: "my *everyday* mug".
pub(super) const HABITUAL: &[&str] = &[
    "everyday",
    "usual",
    "regular",
    "habitual",
    "customary",
    "favourite",
    "favorite",
    "go-to",
    "preferred",
];

/// A part of the day that stands in a name, and what is meant: "my *morning* mug".
pub(super) const PARTS_OF_DAY: &[(&str, &str)] = &[
    ("morning", "every morning"),
    ("afternoon", "every afternoon"),
    ("evening", "every evening"),
    ("night", "every night"),
    ("nighttime", "every night"),
    ("weekend", "every weekend"),
    ("breakfast", "at breakfast"),
    ("lunch", "at lunch"),
    ("lunchtime", "at lunchtime"),
    ("dinner", "at dinner"),
    ("bedtime", "at bedtime"),
];

/// Rank of the first of [`ORDINALS`], from 0: the model answers with those before.
pub(super) const FIRST_ORDINAL: usize = 3;
pub(super) const ORDINALS: &[(&str, &str)] = &[
    ("fourth", "4th"),
    ("fifth", "5th"),
    ("sixth", "6th"),
    ("seventh", "7th"),
    ("eighth", "8th"),
    ("ninth", "9th"),
    ("tenth", "10th"),
];
