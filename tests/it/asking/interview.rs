//! One handler, three questions and a step in between: the same everywhere.

use serde_json::{Value, json};

use crate::support::{
    curious::{self, MEMORY, STEP, filled},
    matrix::{Need, each_of},
    peer::Peer,
};

const NAME: &str = "Zita Grünwald";
const TOWN: &str = "Oberammergau";
const TRADE: &str = "lighthouse keeper";

/// What the client of the interview says.
fn told(question: &Value) -> Value {
    let message = question["params"]["message"].as_str().unwrap();
    filled(match message.split(' ').next() {
        Some("Where") => TOWN,
        _ if message.contains("name") => NAME,
        _ => TRADE,
    })
}

// req: elicit-form-params-2025-06, elicit-form-params, elicit-result-shape, elicit-state-protected
// req: mrtr-result-shape, mrtr-input-request-entries, mrtr-retry-accepted, mrtr-state-integrity
// req: mrtr-responses-without-result-type
#[tokio::test]
async fn an_interview_comes_to_the_same_end_everywhere() {
    each_of(curious::with, &[Need::Forms], async |peer: &Peer| {
        let asked = peer.ask_tool("interview", json!({}), told).await;
        let expected = format!("{STEP}: {NAME}, {TOWN}, {TRADE}");
        assert_eq!(asked.text(), expected, "{asked:?}");
        assert!(!asked.outcome.is_tool_error());
        let lives = format!("Where do you live, {NAME}?");
        let questions = ["What is your name?", lives.as_str(), "What do you do?"];
        assert_eq!(asked.messages(), questions);
        assert_eq!(peer.probe.count("step"), 1);
        let retries = 3 * usize::from(!peer.has(Need::QuestionsOnStreams));
        assert_eq!(asked.tokens.len(), retries);
        assert_eq!(peer.probe.count("ran"), retries + 1);
        asked.assert_hidden(&[TOWN, TRADE, STEP, MEMORY]);
    })
    .await;
}

/// A client shows the fields as the server has them in line, wherever it reads them.
#[tokio::test]
async fn fields_keep_their_order_wherever_they_are() {
    for found in crate::vectors::all() {
        let asks = found.case == "asks" && found.method == "tools/call";
        let vector = &found.vector;
        let forms = vector.notifications.iter().chain(&vector.reply);
        for form in forms.filter(|_| asks) {
            let text = crate::vectors::compact(form.get());
            for part in text.split("\"properties\":{").skip(1) {
                assert!(part.starts_with("\"name\""), "{}: {part}", found.name());
            }
        }
    }
}
