//! What the handlers of the fixture take and give.

use mcp_core::{
    CompletionQuery, Exchange, HandlerError, Json,
    types::{
        Annotations, AudioContent, CallToolResult, Completion, ContentBlock, EmbeddedResource,
        GetPromptResult, Icon, IconTheme, ImageContent, MetaObject, PromptMessage, RawJson,
        ReadResourceResult, ResourceContents, ResourceLink, Role, TextContent,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fixture::{LEVELS, row};

/// Numbers that do not survive a floating-point reader.
pub(crate) const DIGITS: &str = r#"{"m":18446744073709551615,"n":9007199254740993,"x":1.10}"#;

pub(crate) fn icons() -> Vec<Icon> {
    let icon = Icon::new("https://example.com/icon.png")
        .mime_type("image/png")
        .sizes(vec!["48x48".to_owned()])
        .theme(IconTheme::Dark);
    vec![icon, Icon::new("data:image/png;base64,AAAA")]
}

pub(crate) fn annotations() -> Annotations {
    Annotations::new()
        .audience(vec![Role::User, Role::Assistant])
        .priority(0.5)
        .last_modified("2025-01-12T15:00:58Z")
}

pub(crate) fn meta(of: &str) -> MetaObject {
    MetaObject::from_iter([("com.example/of".to_owned(), Value::from(of))])
}

/// One content block of each kind, with everything a block can carry.
pub(crate) fn every_block() -> Vec<ContentBlock> {
    let text = TextContent::new("text")
        .annotations(annotations())
        .meta(meta("text"));
    let image = ImageContent::new("AAAA", "image/png")
        .annotations(annotations())
        .meta(meta("image"));
    let audio = AudioContent::new("BBBB", "audio/wav")
        .annotations(annotations())
        .meta(meta("audio"));
    let link = ResourceLink::new("demo://text", "text")
        .title("Text")
        .description("Some text.")
        .icons(icons())
        .mime_type("text/markdown")
        .annotations(annotations())
        .size(12)
        .meta(meta("link"));
    let contents = ResourceContents::text("demo://text", "# text")
        .mime_type("text/markdown")
        .meta(meta("contents"));
    let embedded = EmbeddedResource::new(contents)
        .annotations(annotations())
        .meta(meta("embedded"));
    let dated = Annotations::new().last_modified("2025-01-12T15:00:58Z");
    let blob = ResourceContents::blob("demo://bytes", "+//+").mime_type("application/octet-stream");
    vec![
        text.into(),
        image.into(),
        audio.into(),
        link.into(),
        ResourceLink::new("demo://bytes", "bytes").into(),
        embedded.into(),
        ContentBlock::resource(blob),
        TextContent::new("dated").annotations(dated).into(),
    ]
}

pub(crate) async fn blocks() -> CallToolResult {
    CallToolResult::new(every_block()).meta(meta("result"))
}

pub(crate) async fn messages() -> GetPromptResult {
    let messages: Vec<PromptMessage> = every_block()
        .into_iter()
        .map(|block| PromptMessage::new(Role::User, block))
        .chain([PromptMessage::assistant("Noted.")])
        .collect();
    GetPromptResult::new(messages)
        .description("Each kind.")
        .meta(meta("result"))
}

pub(crate) fn structured(json: &str) -> CallToolResult {
    let structured = RawJson::from_text(json).unwrap();
    CallToolResult::new([]).structured_content(structured)
}

/// Give back what is given.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Echo {
    text: String,
}

pub(crate) async fn echo(Echo { text }: Echo) -> String {
    text
}

/// Report a measurement.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Station {
    /// The station's number.
    #[schemars(range(min = 1))]
    station: u32,
    /// Adds a remark.
    #[serde(default)]
    remark: Option<String>,
}

/// A measurement.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Report {
    station: u32,
    celsius: f64,
    remark: Option<String>,
}

pub(crate) async fn report(Station { station, remark }: Station) -> Json<Report> {
    Json(Report {
        station,
        celsius: 21.5,
        remark,
    })
}

/// A node of a tree, so that the schema refers to itself.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) children: Vec<Self>,
}

pub(crate) async fn rows() -> Json<Vec<Row>> {
    let parent = Row {
        label: "a".to_owned(),
        children: vec![row("b")],
    };
    Json(vec![parent, row("c")])
}

/// Choose a shape.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Shape {
    object: bool,
}

pub(crate) async fn either(Shape { object }: Shape) -> CallToolResult {
    structured(if object { r#"{"n":1}"# } else { "[1]" })
}

/// Talk before answering.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Talk {}

/// Logs at each level, and reports progress that does not always rise.
pub(crate) async fn talk(Talk {}: Talk, exchange: Exchange) -> &'static str {
    for level in LEVELS {
        exchange.log_as("talk", level, json!({"at": level})).await;
    }
    exchange.progress(1.0, None).await;
    exchange.progress(1.0, 4.0).await;
    exchange.progress_message(2.5, 4.0, "half way").await;
    exchange.progress(f64::NAN, 4.0).await;
    exchange.log(LEVELS[2], "done, 世界").await;
    "said"
}

/// Arguments that are mirrored into headers.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Mirrored {
    region: String,
    page: Option<Page>,
    dry: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct Page {
    size: Option<i64>,
}

impl Mirrored {
    pub(crate) fn schema() -> Value {
        let size = json!({"type": "integer", "x-mcp-header": "Size"});
        json!({
            "type": "object",
            "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "page": {"type": "object", "properties": {"size": size}},
                "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            },
            "required": ["region"],
        })
    }
}

pub(crate) async fn mirrored(Mirrored { region, page, dry }: Mirrored) -> String {
    let size = page.and_then(|it| it.size);
    format!("{region} {size:?} {dry:?}")
}

pub(crate) async fn text_resource() -> ResourceContents {
    ResourceContents::text("demo://text", "# 世界").meta(meta("contents"))
}

pub(crate) async fn many_contents() -> ReadResourceResult {
    let text = ResourceContents::text("demo://many/1", "one").mime_type("text/plain");
    let blob = ResourceContents::blob("demo://many/2", "+//+");
    ReadResourceResult::new([text, blob]).meta(meta("result"))
}

/// A resource by its name.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Named {
    pub(crate) name: String,
}

pub(crate) async fn named(Named { name }: Named) -> Result<String, HandlerError> {
    match name.as_str() {
        "gone" => Err(HandlerError::not_found()),
        "broken" => Err(HandlerError::internal("a secret of the server")),
        _ => Ok(format!("named {name}")),
    }
}

/// What is searched for.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Search {
    pub(crate) q: Option<String>,
    pub(crate) limit: Option<u32>,
}

/// Greet a city.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Greet {
    /// The city to greet.
    #[schemars(title = "City")]
    pub(crate) city: String,
    /// How often.
    pub(crate) times: Option<u8>,
}

/// Shows what the handler learns of the context.
pub(crate) async fn complete_name(query: CompletionQuery, _: Exchange) -> Completion {
    let context = query
        .arguments
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    Completion::new(context.chain([query.value]))
        .total(7)
        .has_more(true)
}

pub(crate) async fn complete_times(
    _: CompletionQuery,
    _: Exchange,
) -> Result<Vec<String>, HandlerError> {
    Err(HandlerError::internal("a secret of the server"))
}
