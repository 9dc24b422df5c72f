//! Memos against a plain map: rated, found, cancelled, through restarts and a reindex.

use super::*;
use crate::base::time::{Clock as _, SystemClock};
use crate::memory::embedding_space;
use crate::model::scripted::ScriptedEmbedder;
use crate::model::{Embedder, ModelIdentity};
use crate::store::Options;
use crate::store::reindex::Reindex;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop, prop_oneof, proptest};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

fn open(dir: &Path, embedder: &EmbedderHandle) -> Memos {
    let store = Store::open(&Options::at(dir.to_owned()), &embedding_space(embedder)).unwrap();
    Memos::open(store, embedder.clone()).unwrap()
}

fn scripted() -> EmbedderHandle {
    EmbedderHandle::new(Box::new(ScriptedEmbedder::new(64)))
}

fn at(days: f64) -> Timestamp {
    Timestamp::from_seconds(1_735_905_600.0 + days * 86_400.0).unwrap()
}

fn memo(user_message: &str, message: &str, message_id: &str) -> NewMemo {
    NewMemo {
        user_message: user_message.to_owned(),
        messages: vec![message.to_owned()],
        message_ids: vec![message_id.to_owned()],
        source: "uprated_by_user".to_owned(),
    }
}

fn settle(memos: &Memos) {
    let started = SystemClock.tick();
    while memos.queued_count() > 0 {
        assert!(started.elapsed() < Duration::from_mins(1), "waited in vain");
        thread::sleep(Duration::from_millis(2));
    }
}

fn ids(memos: &Memos, query: &str, k: usize, ranking: MemoRanking, now: Timestamp) -> Vec<u64> {
    let found = memos.recall(query, (k, 0.0), ranking, now).unwrap();
    found.memos.iter().map(|it| it.memo.id).collect()
}

#[test]
fn the_nearest_memo_answers_and_is_noted_also_after_a_restart() {
    let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
    let memos = open(dir.path(), &embedder);
    let runs = memo("Show QC of recent runs", "<sql>SELECT qc FROM sequencing_runs</sql>", "m1");
    assert_eq!(memos.add(runs, at(0.0)).unwrap().id, 1);
    let users = memo("How many users", "<sql>SELECT count(*) FROM users</sql>", "m2");
    assert_eq!(memos.add(users, at(0.0)).unwrap().id, 2);
    settle(&memos);
    assert_eq!(ids(&memos, "QC of sequencing runs", 1, MemoRanking::default(), at(1.0)), [1]);
    assert_eq!(ids(&memos, "count users", 2, MemoRanking::default(), at(2.0)), [2, 1]);
    drop(memos);
    let memos = open(dir.path(), &embedder);
    let listed = memos.list(None, 10).unwrap();
    let uses: Vec<(u64, u64, Option<Timestamp>)> =
        listed.iter().map(|it| (it.memo.id, it.uses.uses, it.uses.used_at)).collect();
    assert_eq!(uses, [(2, 1, Some(at(2.0))), (1, 2, Some(at(2.0)))]);
    assert_eq!(memos.list(Some(2), 10).unwrap(), listed[1..]);
    let recalls = memos.recalls(10).unwrap();
    let recalls: Vec<(u64, &str, &[u64])> =
        recalls.iter().map(|it| (it.number, it.query.as_str(), it.memos.as_slice())).collect();
    assert_eq!(recalls, [(2, "count users", &[2, 1][..]), (1, "QC of sequencing runs", &[1])]);
    let third = memos.add(memo("x", "<chart>bar</chart>", "m3"), at(3.0)).unwrap();
    assert_eq!(third.id, 3);
}

#[test]
fn sql_weighs_most_and_charts_and_dataframes_nothing() {
    let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
    let memos = open(dir.path(), &embedder);
    for (prompt, message) in [
        ("alpha", "<sql>beta</sql>"),
        ("beta", "<sql>alpha</sql>"),
        ("gamma", "<reasoning>delta</reasoning><sql>epsilon</sql>"),
        ("zeta", "<chart>eta</chart><dataframe>theta</dataframe>"),
    ] {
        memos.add(memo(prompt, message, "m"), at(0.0)).unwrap();
    }
    settle(&memos);
    let first = |query| {
        memos.recall(query, (1, 0.0), MemoRanking::default(), at(0.0)).unwrap().memos.remove(0)
    };
    assert_eq!(first("alpha").memo.id, 2);
    assert_eq!(first("beta").memo.id, 1);
    assert!(first("delta").score > 0.6 && first("epsilon").score > first("delta").score + 0.1);
    assert_eq!(first("zeta").memo.id, 4);
    assert!(first("zeta").score > 0.99);
    assert!(first("eta").score < 0.75 && first("theta").score < 0.75);
}

#[test]
fn age_and_use_change_the_ranking_where_asked() {
    let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
    let memos = open(dir.path(), &embedder);
    memos
        .add(memo("count users", "<sql>SELECT 1</sql><chart>bar</chart>", "old"), at(0.0))
        .unwrap();
    memos
        .add(memo("count users", "<sql>SELECT 1</sql><chart>line</chart>", "new"), at(20.0))
        .unwrap();
    settle(&memos);
    let plain = MemoRanking::default();
    let now = at(20.0);
    assert_eq!(ids(&memos, "count users", 1, plain, now), [1]);
    let decayed = MemoRanking { half_life_days: Some(10.0), ..plain };
    let found = memos.recall("count users", (2, 0.0), decayed, now).unwrap().memos;
    assert_eq!(found.iter().map(|it| it.memo.id).collect::<Vec<u64>>(), [2, 1]);
    assert!((found[1].score - found[0].score / 4.0).abs() < 1e-4, "{found:?}");
    // The first was used twice by now, the second once.
    let by_use = MemoRanking { usage_weight: 1.0, ..plain };
    let found = memos.recall("count users", (2, 0.0), by_use, now).unwrap().memos;
    assert_eq!(found[0].memo.id, 1);
    let (twice, once) = (2.0 / 6.0, 1.0 / 5.0);
    assert!((found[0].score / found[1].score - twice / once).abs() < 1e-4, "{found:?}");
}

/// Waits at a barrier before and after each passage.
#[derive(Debug)]
struct Slow {
    inner: ScriptedEmbedder,
    gate: Arc<Barrier>,
}

impl Embedder for Slow {
    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
        if role == TextRole::Passage {
            self.gate.wait();
            self.gate.wait();
        }
        self.inner.embed(role, texts)
    }
}

/// Embeds questions only.
#[derive(Debug)]
struct Failing(ScriptedEmbedder);

impl Embedder for Failing {
    fn identity(&self) -> &ModelIdentity {
        self.0.identity()
    }

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
        match role {
            TextRole::Query => self.0.embed(role, texts),
            TextRole::Passage => Err(ModelError::Failed("out of order".to_owned())),
        }
    }
}

fn failing() -> EmbedderHandle {
    EmbedderHandle::new(Box::new(Failing(ScriptedEmbedder::new(64))))
}

#[test]
fn a_memo_whose_creation_is_queued_is_not_found_and_can_be_cancelled() {
    let (dir, gate) = (tempfile::tempdir().unwrap(), Arc::new(Barrier::new(2)));
    let slow = Slow { inner: ScriptedEmbedder::new(64), gate: Arc::clone(&gate) };
    let embedder = EmbedderHandle::new(Box::new(slow));
    let memos = open(dir.path(), &embedder);
    // Both have two parts to embed: the prompt and the sql.
    memos.add(memo("first", "<sql>one</sql>", "m1"), at(0.0)).unwrap();
    memos.add(memo("second", "<sql>two</sql>", "m2"), at(0.0)).unwrap();
    gate.wait();
    assert_eq!(memos.queued_count(), 2);
    assert_eq!(memos.list(None, 9).unwrap()[0].status, MemoStatus::Queued);
    // The first is being embedded while it is deleted.
    let message = MemoSelector::Message("m1".to_owned());
    let deleted = memos.delete(&message).unwrap();
    assert_eq!(deleted, DeletedMemos { stored: vec![], queued: vec![1] });
    gate.wait();
    for _ in 0..3 {
        gate.wait();
        gate.wait();
    }
    settle(&memos);
    assert_eq!(ids(&memos, "first one", 9, MemoRanking::default(), at(0.0)), [2]);
    assert_eq!(memos.delete(&message).unwrap(), DeletedMemos::default());
    let deleted = memos.delete(&MemoSelector::Id(2)).unwrap();
    assert_eq!(deleted, DeletedMemos { stored: vec![2], queued: vec![] });
    assert!(memos.is_empty());
    drop(memos);
    assert!(open(dir.path(), &embedder).is_empty());
}

#[test]
fn queued_memos_get_their_vectors_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    // While nothing can be embedded the memo stays queued.
    let memos = open(dir.path(), &failing());
    memos.add(memo("count users", "<sql>SELECT 1</sql>", "m"), at(0.0)).unwrap();
    drop(memos);
    let embedder = scripted();
    let memos = open(dir.path(), &embedder);
    settle(&memos);
    assert_eq!(ids(&memos, "users", 1, MemoRanking::default(), at(0.0)), [1]);
    drop(memos);
    let embedder = EmbedderHandle::new(Box::new(ScriptedEmbedder::with_name("other", 32)));
    let options = Options::at(dir.path().to_owned());
    Reindex::open(&options, &embedding_space(&embedder)).unwrap().finish().unwrap();
    let memos = open(dir.path(), &embedder);
    settle(&memos);
    assert_eq!(ids(&memos, "users", 1, MemoRanking::default(), at(0.0)), [1]);
}

#[test]
fn a_full_queue_and_messages_with_nothing_to_keep_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let memos = open(dir.path(), &failing());
    let nothing = memos.add(memo("x", "just words", "m"), at(0.0)).unwrap_err();
    assert!(matches!(nothing, MemosError::NothingToKeep(_)), "{nothing}");
    for n in 0..QUEUE_MAX {
        memos.add(memo("x", &format!("<sql>{n}</sql>"), "m"), at(0.0)).unwrap();
    }
    let full = memos.add(memo("x", "<sql>one more</sql>", "m"), at(0.0)).unwrap_err();
    assert!(matches!(full, MemosError::QueueFull), "{full}");
    let deleted = memos.delete(&MemoSelector::Message("m".to_owned())).unwrap();
    assert_eq!(deleted.queued.len(), QUEUE_MAX);
    memos.add(memo("x", "<sql>1</sql>", "m"), at(0.0)).unwrap();
}

#[test]
fn a_memo_that_answers_less_well_than_the_floor_is_not_found() {
    let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
    let memos = open(dir.path(), &embedder);
    memos
        .add(memo("users per week", "<sql>SELECT count(*) FROM users</sql>", "m"), at(0.0))
        .unwrap();
    settle(&memos);
    let recall = |query: &str, floor| {
        memos.recall(query, (9, floor), MemoRanking::default(), at(0.0)).unwrap()
    };
    let found = recall("count users", 0.6);
    assert_eq!(found.memos.len(), 1);
    let weather = recall("weather in Paris", 0.6);
    assert!(weather.memos.is_empty() && weather.best.unwrap() < 0.6, "{weather:?}");
    assert_eq!(recall("weather in Paris", 0.0).memos.len(), 1);
    // Age does not drop a memo below the floor.
    let old = MemoRanking { half_life_days: Some(1.0), ..MemoRanking::default() };
    let old = memos.recall("count users", (9, 0.6), old, at(30.0)).unwrap();
    assert!(old.memos[0].score < 0.01, "{old:?}");
}

#[test]
fn the_same_message_rated_twice_is_one_memo() {
    let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
    let memos = open(dir.path(), &embedder);
    let sql = "<sql>SELECT count(*) FROM users</sql>";
    let first = memos.add(memo("users", sql, "m1"), at(0.0)).unwrap();
    assert_eq!(first, Added { id: 1, status: MemoStatus::Queued, is_known: false });
    settle(&memos);
    let again = memos.add(memo(" users ", sql, "m2"), at(1.0)).unwrap();
    assert_eq!(again, Added { id: 1, status: MemoStatus::Stored, is_known: true });
    let other_prompt = memos.add(memo("how many", sql, "m1"), at(1.0)).unwrap();
    assert!(other_prompt.is_known);
    let other = memos.add(memo("how many", sql, "m3"), at(1.0)).unwrap();
    assert_eq!((other.id, other.is_known), (2, false));
    settle(&memos);
    drop(memos);
    let memos = open(dir.path(), &embedder);
    assert!(memos.add(memo("users", sql, "m4"), at(2.0)).unwrap().is_known);
    let listed = memos.list(Some(2), 9).unwrap();
    assert_eq!(listed[0].memo.message_ids, ["m1", "m2", "m4"]);
    assert_eq!(listed[0].status, MemoStatus::Stored);
    let deleted = memos.delete(&MemoSelector::Message("m2".to_owned())).unwrap();
    assert_eq!(deleted.stored, [1]);
}

#[test]
fn words_find_a_memo_that_the_embedder_cannot_read() {
    let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
    let memos = open(dir.path(), &embedder);
    memos
        .add(memo("지난주 사용자 수", "<reasoning>사용자 수를 센다</reasoning>", "m1"), at(0.0))
        .unwrap();
    memos.add(memo("지역별 매출", "<reasoning>매출 합계</reasoning>", "m2"), at(0.0)).unwrap();
    settle(&memos);
    let ranking = MemoRanking::default();
    let found = memos.recall("사용자 수", (9, 0.6), ranking, at(0.0)).unwrap();
    assert!(found.is_literal);
    assert_eq!(found.memos.iter().map(|it| it.memo.id).collect::<Vec<u64>>(), [1]);
    assert!(memos.recall("오늘 날씨", (9, 0.6), ranking, at(0.0)).unwrap().memos.is_empty());
}

#[test]
fn the_log_of_recalls_is_bounded() {
    let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
    let memos = open(dir.path(), &embedder);
    for n in 0..RECALLS_MAX + 3 {
        assert!(ids(&memos, &n.to_string(), 1, MemoRanking::default(), at(0.0)).is_empty());
    }
    let recalls = memos.recalls(usize::MAX).unwrap();
    assert_eq!(recalls.len() as u64, RECALLS_MAX);
    assert_eq!(recalls.last().unwrap().query, "3");
}

#[derive(Debug, Clone)]
enum Call {
    Add(usize),
    Delete(u64),
    DeleteMessage(usize),
    Recall(usize),
    Restart,
}

const WORDS: [&str; 4] = ["users", "runs", "orders", "samples"];

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let word = || 0..WORDS.len();
    let call = prop_oneof![
        4 => word().prop_map(Call::Add),
        1 => (1..9_u64).prop_map(Call::Delete),
        1 => word().prop_map(Call::DeleteMessage),
        2 => word().prop_map(Call::Recall),
        1 => Just(Call::Restart),
    ];
    prop::collection::vec(call, 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn the_memos_are_what_a_map_would_be(calls in calls()) {
        let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
        let mut memos = open(dir.path(), &embedder);
        let mut model: BTreeMap<u64, (usize, u64)> = BTreeMap::new();
        let mut last = 0;
        for call in calls {
            match call {
                Call::Add(word) => {
                    let message = format!("<sql>SELECT {}</sql>", WORDS[word]);
                    let added =
                        memos.add(memo(WORDS[word], &message, WORDS[word]), at(0.0)).unwrap();
                    let known = model.iter().find(|(_, (it, _))| *it == word).map(|(id, _)| *id);
                    assert_eq!(added.is_known, known.is_some());
                    last += u64::from(known.is_none());
                    assert_eq!(added.id, known.unwrap_or(last));
                    model.entry(added.id).or_insert((word, 0));
                }
                Call::Delete(id) => {
                    let DeletedMemos { stored, queued } = memos.delete(&MemoSelector::Id(id)).unwrap();
                    assert_eq!(stored.len() + queued.len(), usize::from(model.remove(&id).is_some()));
                }
                Call::DeleteMessage(word) => {
                    let which = MemoSelector::Message(WORDS[word].to_owned());
                    let DeletedMemos { stored, queued } = memos.delete(&which).unwrap();
                    let before = model.len();
                    model.retain(|_, (it, _)| *it != word);
                    assert_eq!(stored.len() + queued.len(), before - model.len());
                }
                Call::Recall(word) => {
                    settle(&memos);
                    let found = ids(&memos, WORDS[word], 1, MemoRanking::default(), at(0.0));
                    let best = model.iter().find(|(_, (it, _))| *it == word);
                    if let Some((id, _)) = best {
                        assert_eq!(found, [*id]);
                    }
                    assert_eq!(found.len(), usize::from(!model.is_empty()));
                    for id in found {
                        model.get_mut(&id).unwrap().1 += 1;
                    }
                }
                Call::Restart => {
                    drop(memos);
                    memos = open(dir.path(), &embedder);
                }
            }
            let listed: BTreeMap<u64, (usize, u64)> = memos
                .list(None, 99)
                .unwrap()
                .into_iter()
                .map(|ListedMemo { memo, uses, .. }| {
                    let word = WORDS.iter().position(|it| *it == memo.user_message).unwrap();
                    (memo.id, (word, uses.uses))
                })
                .collect();
            assert_eq!(listed, model);
        }
    }
}
