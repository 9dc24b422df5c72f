//! Bytes of a segment, as a damaged disk makes them.

use roaring::RoaringBitmap;

use crate::base::embedding::Embedding;
use crate::base::time::Window;
use crate::index::columns::{Columns, Condition};
use crate::index::hnsw::HnswIndex;
use crate::index::hnsw::search::Scratch;
use crate::index::lexical::immutable::ImmutablePostings;
use crate::index::lexical::query::Bm25Query;
use crate::index::phrases::{ObjectQuery, Phrases};
use crate::index::quantization::sq12::Sq12Query;
use crate::index::selection::Selection;

/// A part of a segment, the kind by its first byte: refused, or whole enough to be written,
/// read again and asked. Its checksum is put right, so that what it holds is looked at.
pub fn segment(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let checked = [bytes, &crc32fast::hash(bytes).to_le_bytes()].concat();
    match kind % 4 {
        0 => columns(&checked),
        1 => phrases(&checked),
        2 => words(&checked),
        _ => graph(bytes),
    }
}

fn columns(bytes: &[u8]) {
    let Ok(columns) = Columns::from_bytes(bytes) else { return };
    let everywhere =
        Condition { window: Window::ALL, source: None, map_id: None, layer: None, area: None };
    let all = columns.select(&everywhere);
    assert_eq!(all.count(columns.len()), columns.len());
    assert!(columns.newest(&all, 3).len() <= 3);
    assert!(Columns::from_bytes(&columns.to_bytes()).ok().is_some(), "what was written is refused");
}

fn phrases(bytes: &[u8]) {
    let Ok(phrases) = Phrases::from_bytes(bytes) else { return };
    let sought = ObjectQuery::of_stems(Vec::new(), vec!["mug".to_owned()]);
    let shown = phrases.matches(&sought).full;
    assert!(shown.max().is_none_or(|row| (row as usize) < phrases.rows()));
    drop(phrases.nouns(&RoaringBitmap::new()));
    assert!(Phrases::from_bytes(&phrases.to_bytes()).ok().is_some(), "what was written is refused");
}

fn words(bytes: &[u8]) {
    let Ok(words) = ImmutablePostings::from_bytes(bytes) else { return };
    let query = Bm25Query::new("the red mug on the desk", &[&words]);
    let found = query.top(&words, 5, &Selection::none(), 0.0);
    assert!(found.is_empty(), "no row is selected");
    assert!(
        ImmutablePostings::from_bytes(&words.to_bytes()).ok().is_some(),
        "what was written is refused"
    );
}

fn graph(bytes: &[u8]) {
    let Ok(graph) = HnswIndex::from_bytes(bytes) else { return };
    let mut axis = vec![0.0; graph.dimension()];
    if let Some(first) = axis.first_mut() {
        *first = 1.0;
    }
    let Ok(vector) = Embedding::new(axis, graph.dimension()) else { return };
    let query = Sq12Query::new(&vector);
    let found = graph.search_graph(&query, 5, 20, &mut Scratch::default());
    assert!(found.len() <= 5);
    assert!(HnswIndex::from_bytes(&graph.to_bytes()).ok().is_some(), "what was written is refused");
}

/// A small part of each kind, as a target's corpus begins with.
#[cfg(test)]
pub(crate) fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    use crate::base::time::Timestamp;
    use crate::index::columns::Cells;
    use crate::index::hnsw::tests::{Stream, build_graph};
    use crate::index::lexical::AnalysedText;
    use crate::index::lexical::mutable::MutablePostings;
    use crate::language::mention::mentions;

    let captions = ["a red mug on a desk", "two mugs beside a lamp", "a hallway"];
    let (mut columns, mut phrases) = (Columns::default(), Phrases::default());
    let mut words = MutablePostings::default();
    for (at, caption) in (1_i64..).zip(captions) {
        let time = Timestamp::from_micros(at * 1_000_000).unwrap();
        let (source, frame_id, map_id) = ("front", "map", "home");
        let position = (at != 2).then_some([at as f64, 0.5, 0.0]);
        let layer = (at == 3).then_some("rooms");
        columns.push(Cells { first: time, last: time, source, frame_id, map_id, layer, position });
        phrases.push(mentions(caption));
        words.push(AnalysedText::new(caption));
    }
    columns.order_places();
    // Without the checksum, which the target puts there.
    let unchecked = |kind: u8, bytes: Vec<u8>| [&[kind], &bytes[..bytes.len() - 4]].concat();
    let graph = build_graph(&Stream(2).mixture(40, 3)).to_bytes();
    vec![
        ("columns", unchecked(0, columns.to_bytes())),
        ("phrases", unchecked(1, phrases.to_bytes())),
        ("words", unchecked(2, ImmutablePostings::freeze(&words).to_bytes())),
        ("graph", [vec![3], graph].concat()),
    ]
}
