//! Memos with the default embedder: a question finds the example for it, also in other words, and
//! none where it only goes to the same database.

use std::thread;
use std::time::Duration;

use engram::base::time::{Clock as _, SystemClock, Timestamp};
use engram::memory::embedding_space;
use engram::memory::memos::{MemoRanking, Memos, NewMemo};
use engram::store::{Options, Store};

use crate::notes::{THRESHOLD, embedder};

/// Prompt, reasoning and query.
const MEMOS: [(&str, &str, &str); 6] = [
    (
        "What was the monthly revenue last year?",
        "Group orders by month and sum the amount for 2023",
        "SELECT date_trunc('month', order_date) AS month, SUM(total_amount) AS revenue FROM orders \
         WHERE order_date >= '2023-01-01' AND order_date < '2024-01-01' GROUP BY 1 ORDER BY 1",
    ),
    (
        "Which ten customers spent the most?",
        "Join customers with orders, sum per customer, sort descending",
        "SELECT c.name, SUM(o.total_amount) AS spent FROM customers c JOIN orders o ON \
         o.customer_id = c.id GROUP BY c.name ORDER BY spent DESC LIMIT 10",
    ),
    (
        "How many employees does each department have?",
        "Count employees by department",
        "SELECT d.name, COUNT(*) AS headcount FROM employees e JOIN departments d ON d.id = \
         e.department_id GROUP BY d.name",
    ),
    (
        "Show QC of recent sequencing runs",
        "Show recent sequencing runs with QC status and reportable calls",
        "SELECT run_id, qc_status, reportable_calls FROM dim_sequencing_runs ORDER BY run_date \
         DESC LIMIT 20",
    ),
    (
        "Which patients were readmitted within 30 days?",
        "Join each admission with the next one of the same patient and compare the dates",
        "SELECT a.patient_id FROM admissions a JOIN admissions b ON b.patient_id = a.patient_id \
         WHERE b.admitted_at - a.discharged_at <= 30 AND b.admitted_at > a.discharged_at",
    ),
    (
        "seats sold per flight",
        "Bookings counted by flight",
        "SELECT flight_no, COUNT(*) FROM bookings GROUP BY flight_no",
    ),
];

fn settle(memos: &Memos) {
    let started = SystemClock.tick();
    while memos.queued_count() > 0 {
        assert!(started.elapsed() < Duration::from_mins(1), "waited in vain");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_question_finds_its_example_and_no_other() {
    let (embedder, dir) = (embedder(), tempfile::tempdir().unwrap());
    let store = Store::open(&Options::at(dir.path().to_owned()), &embedding_space(&embedder));
    let memos = Memos::open(store.unwrap(), embedder).unwrap();
    for (prompt, reasoning, sql) in MEMOS {
        let memo = NewMemo {
            user_message: prompt.to_owned(),
            messages: vec![format!("<reasoning>{reasoning}</reasoning><sql>{sql}</sql>")],
            message_ids: Vec::new(),
            source: "uprated_by_user".to_owned(),
        };
        memos.add(memo, Timestamp::EPOCH).unwrap();
    }
    settle(&memos);
    let found = |query: &str| {
        let asked = (1, THRESHOLD);
        let found = memos.recall(query, asked, MemoRanking::default(), Timestamp::EPOCH).unwrap();
        found.memos.into_iter().next().map(|it| it.memo.user_message)
    };
    for (query, memo) in [
        ("monthly sales totals", 0),
        ("how much did we earn each month", 0),
        ("top customers by spending", 1),
        ("list the customers with the highest sales", 1),
        ("number of staff per department", 2),
        ("how big is every department", 2),
        ("examples of run-level QC summary queries", 3),
        ("did the last sequencing runs pass QC", 3),
        ("who was admitted again soon after discharge", 4),
        ("number of bookings for every flight", 5),
    ] {
        assert_eq!(found(query).as_deref(), Some(MEMOS[memo].0), "{query}");
    }
    for query in [
        "what is the weather in Paris",
        "list the products in the garden category",
        "translate this sentence into French",
        "which gate does flight LH12 use",
        "show all sample barcodes",
        "when does the next meeting start",
        "give me a recipe for lasagna",
    ] {
        assert_eq!(found(query), None, "{query}");
    }
}
