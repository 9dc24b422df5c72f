//! The closed classes of English words by which requests are read.
//!
//! Pure. Open classes, things and most verbs, are told by where they stand.

/// Who may use, see or put down a thing; they are not looked for.
pub(super) const PERSONS: &[&str] = &[
    "i", "we", "you", "he", "she", "they", "someone", "somebody", "anyone", "anybody", "everyone",
    "everybody", "nobody", "person", "people", "persons", "user", "users", "owner", "dad", "daddy",
    "father", "mum", "mom", "mummy", "mother", "wife", "husband", "partner", "son", "daughter",
    "kid", "kids", "child", "children", "boy", "girl", "man", "woman", "guest", "guests", "friend",
    "friends", "grandma", "grandpa", "grandmother", "grandfather", "brother", "sister", "baby",
    "roommate", "flatmate", "housemate", "neighbour", "neighbor", "family", "visitor", "visitors",
    "colleague", "girlfriend", "boyfriend", "uncle", "aunt", "robot", "parents",
];

/// Pronouns that stand for what was named.
pub(super) const OBJECTS: &[&str] = &[
    "me", "us", "him", "her", "them", "it", "itself", "myself", "yourself", "himself", "herself",
    "mine", "yours", "ours", "theirs", "each", "both",
];

pub(super) const DEFINITE: &[&str] =
    &["the", "my", "our", "your", "his", "their", "its", "this", "these", "those", "whose", "whichever"];

pub(super) const INDEFINITE: &[&str] = &["a", "an", "some", "any", "another", "no"];

/// Before what is near, on or in.
pub(super) const PLACE_PREPOSITIONS: &[&str] = &[
    "on", "in", "at", "by", "beside", "besides", "near", "nearby", "under", "underneath",
    "beneath", "below", "above", "over", "behind", "inside", "against", "along", "alongside",
    "around", "across", "opposite", "between", "among", "amongst", "from", "off", "with", "within",
    "atop", "upon", "outside", "past", "round", "amid", "onto", "into",
];

/// Words after which "to" leads to a neighbour and not to a destination.
pub(super) const TO_PLACE: &[&str] =
    &["next", "close", "adjacent", "nearest", "closest", "attached", "belongs", "right", "left"];

/// "on the left side *of*", "in front *of*".
pub(super) const PLACE_PARTS: &[&str] = &[
    "top", "front", "middle", "center", "centre", "side", "sides", "edge", "corner", "left",
    "right", "back", "bottom", "end", "foot", "head", "vicinity", "surface", "inside", "rest",
    "way", "neighbourhood", "reach", "arm's",
];

/// "a pair *of*", "one *of* the", before what is meant.
pub(super) const COLLECTIVES: &[&str] = &[
    "pair", "set", "bunch", "piece", "couple", "kind", "sort", "type", "stack", "pile", "one",
    "ones", "any", "some", "which", "all", "bit", "lot", "lots", "number", "none", "each", "either",
];

/// They name no thing of their own.
pub(super) const GENERIC: &[&str] = &[
    "one", "ones", "thing", "things", "something", "anything", "stuff", "object", "item", "items",
    "objects", "whatever", "everything",
];

/// Where everything is; said of nothing in particular.
pub(super) const NOWHERE: &[&str] = &[
    "home", "house", "flat", "apartment", "place", "places", "spot", "room", "world", "memory", "time",
    "times", "day", "days", "hand", "hands", "way", "case", "case", "use", "moment", "there",
];

/// Asking, looking for, fetching.
pub(super) const REQUESTS: &[&str] = &[
    "bring", "get", "fetch", "find", "grab", "give", "hand", "pass", "show", "take", "pick",
    "retrieve", "deliver", "locate", "look", "looking", "search", "searching", "need", "needs",
    "want", "wants", "wanted", "like", "please", "go", "come", "help", "tell", "know", "remember", "see", "seen",
    "lost", "misplaced", "missing", "can", "let", "carry", "return", "lend", "got", "forget",
    "forgot", "wonder", "wondering", "hope", "mind", "collect", "track", "try", "trying", "miss", "reach", "guide",
    "drive", "lead", "check", "ask", "appreciate", "love", "prefer", "happen", "happened", "getting", "bringing",
    "fetching", "finding", "grabbing", "handing", "passing",
];

/// Verbs that name a neighbour: "shares the shelf with".
pub(super) const NEIGHBOURING: &[&str] = &[
    "share", "shares", "shared", "sharing", "adjoins", "accompanies", "accompanied", "occupies", "occupied",
    "touches", "touching", "faces", "facing", "joins", "joined", "flanks", "flanking", "borders", "neighbours", "neighbors",
];

/// Before a verb or instead of one.
pub(super) const AUXILIARIES: &[&str] = &[
    "is", "are", "was", "were", "be", "been", "being", "am", "do", "does", "did", "have", "has",
    "had", "having", "can", "could", "will", "would", "should", "shall", "may", "might", "must", "to", "gets",
    "seems", "seem", "going", "supposed",
];

/// Of something that happened once.
pub(super) const PASTS: &[&str] = &[
    "was", "were", "did", "had", "left", "put", "saw", "drank", "ate", "read", "wrote", "wore",
    "took", "stood", "lay", "sat", "kept", "dropped", "forgot", "used", "placed", "held", "found",
    "worked", "played", "cooked", "watched", "got", "made", "hid", "threw", "set", "went",
];

/// Said of where things are: they tell nothing that could be seen.
pub(super) const PLACING: &[&str] = &[
    "leave", "leaves", "left", "leaving", "put", "puts", "putting", "place", "placed", "places",
    "keep", "keeps", "kept", "keeping", "lie", "lies", "lay", "lying", "laid", "laying", "sit",
    "sits", "sat", "sitting", "stand", "stands", "stood", "standing", "stay", "stays", "stayed",
    "staying", "live", "lives", "lived", "belong", "belongs", "rest", "rests", "rested", "resting", "located",
    "found", "find", "finds", "seen", "see", "sees", "saw", "spotted", "noticed", "stored", "store", "stores",
    "dropped", "drop", "set", "hang", "hangs", "hung", "hanging", "remain", "remains", "kept", "ends", "ended",
    "placing", "had", "have", "has", "forgot", "forgotten", "stuck", "hidden", "hid", "parked", "spend", "spends", "spent",
    "appear", "appears", "appeared", "turn", "turns", "turned", "come", "comes", "came", "get", "gets", "got", "go", "goes", "went", "gone",
    "threw", "throw", "tossed", "situated", "positioned", "returned", "return", "returns", "took", "take", "takes",
    "brought", "bring", "moved", "move", "shelved", "tucked", "propped", "leaning", "leaned", "want", "need", "like", "love",
    "prefer", "think", "thought", "said", "mean", "meant", "know", "own", "call", "called", "lost", "bought", "perched",
    "residing", "resides", "dwells", "waits", "waiting", "stationed", "laying", "shown", "was", "were", "is", "are", "made",
];

/// "*keep* it on the shelf", "it *lives* there": a habit, said in the present.
pub(super) const HABITS: &[&str] = &[
    "keep", "keeps", "live", "lives", "belong", "belongs", "stay", "stays", "tend", "tends", "stored", "resides", "dwells",
    "spends",
];

/// To say of a verb what somebody is seen to do: forms that do not follow the rule.
pub(super) const GERUNDS: &[(&str, &str)] = &[
    ("use", "using"), ("uses", "using"), ("used", "using"), ("read", "reading"),
    ("drank", "drinking"), ("drunk", "drinking"), ("ate", "eating"), ("eaten", "eating"),
    ("wrote", "writing"), ("written", "writing"), ("wore", "wearing"), ("worn", "wearing"),
    ("slept", "sleeping"), ("held", "holding"), ("drew", "drawing"), ("drawn", "drawing"),
    ("cut", "cutting"), ("knit", "knitting"), ("sewn", "sewing"), ("built", "building"),
    ("sang", "singing"), ("ran", "running"), ("spoke", "speaking"), ("heard", "hearing"),
    ("handled", "using"), ("handle", "using"), ("borrow", "using"), ("borrowed", "using"),
    ("utilise", "using"), ("utilize", "using"), ("utilised", "using"), ("utilized", "using"),
    ("employ", "using"), ("reach", "using"), ("grab", "using"), ("sip", "drinking"),
    ("sipped", "drinking"), ("sipping", "drinking"), ("nap", "sleeping"), ("napped", "sleeping"),
    ("napping", "sleeping"), ("chose", "using"), ("choose", "using"), ("pick", "using"), ("picked", "using"), ("asleep", "sleeping"), ("watch", "watching"),
    ("fry", "cooking"), ("fried", "cooking"), ("frying", "cooking"), ("baked", "baking"), ("dozed", "sleeping"), ("dozing", "sleeping"),
    ("snoozing", "sleeping"), ("resting", "sleeping"), ("dining", "eating"), ("dined", "eating"), ("having", "eating"),
];

/// What somebody does, where the word stands without a subject: "used in the kitchen".
pub(super) const ACTIVITIES: &[&str] = &[
    "used", "using", "reading", "read", "drinking", "eating", "cooking", "watching", "sleeping",
    "writing", "wearing", "working", "playing", "studying", "holding", "worn", "held", "cleaning",
    "washing", "baking", "typing", "drawing", "handled", "frying", "napping", "dozing", "dining",
];

/// Something to do it with.
pub(super) const AFFORDANCES: &[(&str, &str)] = &[
    ("drinking", "cup"), ("reading", "book"), ("writing", "pen"), ("eating", "bowl"),
    ("sitting", "chair"), ("cutting", "knife"), ("cooking", "pan"), ("wearing", "hat"),
    ("calling", "phone"), ("boiling", "kettle"), ("playing", "ball"), ("watering", "watering can"),
    ("watching", "remote"), ("phoning", "phone"), ("carrying", "backpack"), ("typing", "laptop"), ("frying", "pan"), ("sipping", "cup"),
];

/// Said of how often; looked for longest first.
pub(super) const MOST: &[&str] = &[
    "more often than not", "more than any other", "more than the others", "more often than",
    "more than all others", "nine times out of ten", "more than anything", "more than any",
    "most of its time", "most of the time", "most of their time", "most of the day", "most of the days", "most days",
    "all the time", "the whole time", "day after day", "day in day out", "again and again", "time and again",
    "as a rule", "by default", "for the most part", "most often",
    "most frequently", "most commonly", "most regularly", "most used", "most-used", "most-loved",
    "a lot", "lots", "very often", "quite often", "so often", "usually", "normally", "typically", "generally",
    "commonly", "always", "often", "frequently", "regularly", "habitually", "mostly", "mainly",
    "primarily", "ordinarily", "customarily", "routinely", "constantly", "continually", "invariably", "permanently", "predominantly", "consistently",
    "favourite", "favorite", "usual", "regular", "habitual", "everyday", "go-to", "preferred", "customary",
    "likes to", "like to", "loves to", "love to", "prefers to", "prefer to", "enjoys", "tends to be", "tends to", "tend to be", "tend to", "used to be", "used to", "most", "oftenest", "best", "almost always", "nearly always", "much of the time",
    "hardly ever leaves", "never leaves", "rarely leaves", "seldom leaves", "hardly leaves", "barely leaves", "hardly ever moves", "never moves",
    "whenever", "time after time", "more times than any other", "the greatest number of times", "over and over",
];

pub(super) const LEAST: &[&str] = &[
    "least often", "least frequently", "least used", "least-used", "least",
    "hardly ever", "almost never", "nearly never", "rarely", "seldom", "hardly", "barely", "scarcely",
    "infrequently", "not very often", "not often", "not very much", "not much", "less than any other", "less often than", "less than the others",
    "once in a while", "every now and then", "now and then", "now and again", "occasionally", "only sometimes", "not frequently", "not a lot",
    "fewest times", "the fewest times", "never", "practically never", "not usually", "not that often", "not too often",
];

pub(super) const LATEST: &[&str] = &[
    "most recently", "most recent", "latest", "newest", "last of all", "just recently", "the last time", "last time",
];

/// Words that say nothing of what is meant.
pub(super) const FILLERS: &[&str] = &[
    "just", "already", "still", "probably", "maybe", "perhaps", "somewhere", "anywhere", "there",
    "here", "now", "again", "back", "only", "also", "really", "actually", "then", "down", "up",
    "out", "away", "over", "kindly", "quickly", "ever", "once", "else", "too", "very", "quite",
    "hey", "hi", "hello", "robot", "ok", "okay", "well", "oh", "sorry", "thanks", "thank", "same",
    "apart", "together", "directly", "right", "left", "even", "yet", "soon", "possible", "possibly", "so", "exactly", "mostly", "ideally", "simply",
    "currently", "definitely", "surely", "certainly", "supposedly", "seemingly", "specific", "particular", "actual", "own", "whole", "entire", "lone", "tonight", "though", "as",
    "next", "close", "adjacent", "immediately", "long", "all", "certain", "other", "such", "how", "why",
];

/// They begin another clause.
pub(super) const CLAUSES: &[&str] = &[
    "that", "which", "who", "whom", "where", "when", "while", "because", "and", "but", "or", "if", "what", "than",
    "whenever", "whilst", "since", "until", "before", "after", "during",
];

/// Parts of a thing by which it is described: "with a red cover".
pub(super) const OWN_PARTS: &[&str] = &[
    "cover", "handle", "lid", "cap", "spine", "stripes", "dots", "pattern", "logo", "label", "shade", "strap", "straps", "screen", "case",
];
