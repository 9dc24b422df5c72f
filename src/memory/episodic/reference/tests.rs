//! Requests in many wordings, with what they refer to.

use super::*;

/// A line a request: thing, around, doing, order, the or a, when.
const REQUESTS: &str = include_str!("requests.txt");

fn shown(it: &Reference) -> Vec<String> {
    let order = match &it.order {
        None => String::new(),
        Some(Order::MostOften) => "most".to_owned(),
        Some(Order::LeastOften) => "least".to_owned(),
        Some(Order::Latest) => "latest".to_owned(),
        Some(Order::Earliest) => "earliest".to_owned(),
        Some(Order::NearestTo(thing)) => format!("near {thing}"),
    };
    let when: Vec<&str> = it.when.iter().map(|time| time.text.as_str()).collect();
    vec![
        it.thing.clone(),
        it.around.join(", "),
        it.doing.clone().unwrap_or_default(),
        order,
        if it.individual { "the" } else { "a" }.to_owned(),
        when.join(", "),
    ]
}

#[test]
fn requests_are_read_in_many_wordings() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in REQUESTS.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('|').map(str::trim);
        let request = columns.next().unwrap();
        let expect: Vec<&str> = columns.collect();
        let found = shown(&refer(request));
        count += 1;
        if found != expect {
            wrong.push(format!(
                "{request}\n     is {}\n not to {}",
                found.join(" | "),
                expect.join(" | ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 150, "{count}");
}

#[test]
fn a_request_may_be_read_in_several_ways() {
    let things = |request: &str| -> Vec<String> {
        readings(request).into_iter().map(|it| it.thing).collect()
    };
    assert_eq!(things("bring me the mug next to the laptop"), ["mug"]);
    assert_eq!(things("Listen, please deliver a watering can")[..2], ["listen", "watering can"]);
    assert_eq!(things("what I left on the sofa"), [""]);
    assert!(things("a, b and c, d, e, f, g, h").len() <= READINGS_MAX);
}
