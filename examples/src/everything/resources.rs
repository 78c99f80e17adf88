//! Resources, and templates of every kind of expression.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use mcp_core::{
    HandlerError, Json, RegistryBuilder, State, resource, template,
    types::{Annotations, CacheScope, ResourceContents, Role},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{content::PNG, field};

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    let builder = builder
        .resource(
            resource("test://static-text", static_text)
                .title("Static text")
                .description("Text that never changes.")
                .mime_type("text/plain")
                .icons([crate::picture()])
                .annotations(Annotations::new().audience([Role::User]).priority(0.5))
                .cache(Duration::from_secs(60), CacheScope::Public),
        )
        .resource(
            resource("test://static-binary", static_binary)
                .description("A picture that never changes.")
                .mime_type("image/png")
                .size(69),
        )
        .resource(
            resource(
                "test://watched-resource",
                async || "Nothing has changed yet.",
            )
            .description("A resource to subscribe to.")
            .mime_type("text/plain")
            .subscribable(),
        )
        .resource(field::boom_resource());
    templates(builder)
}

fn templates(builder: RegistryBuilder) -> RegistryBuilder {
    let docs = Docs::new([
        ("café menu.txt", "Soup of the day."),
        ("100%.txt", "All of it."),
    ]);
    let names: Vec<&str> = docs.0.keys().copied().collect();
    builder
        .template(
            template("test://template/{id}/data", numbered)
                .name("numbered")
                .description("Data by number.")
                .mime_type("application/json")
                .suggest("id", ["1", "12", "123"]),
        )
        .state(docs)
        .template(
            template("file:///docs/{name}", document)
                .name("docs")
                .description("A document by name.")
                .mime_type("text/plain")
                .suggest("name", names),
        )
        .template(
            template("search://items{?q,limit}", search)
                .name("search")
                .description("What was searched for.")
                .mime_type("application/json"),
        )
        .template(
            template("mem://bytes/{n}", bytes)
                .name("bytes")
                .description("That many bytes, 16 MiB at most."),
        )
        .template(
            template("mem://café/{id}", async |Café { id }: Café| id)
                .name("café")
                .description("The id itself, below a name that is not ASCII."),
        )
}

async fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

async fn static_binary() -> ResourceContents {
    ResourceContents::blob("test://static-binary", PNG)
}

#[derive(Deserialize, JsonSchema)]
struct Numbered {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    id: String,
    template_test: bool,
    data: String,
}

async fn numbered(Numbered { id }: Numbered) -> Json<Data> {
    Json(Data {
        data: format!("Data for ID: {id}"),
        template_test: true,
        id,
    })
}

/// The documents by name, in place of a folder.
#[derive(Clone)]
struct Docs(Arc<BTreeMap<&'static str, &'static str>>);

impl Docs {
    fn new(documents: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        Self(Arc::new(documents.into_iter().collect()))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Document {
    name: String,
}

async fn document(
    Document { name }: Document,
    State(docs): State<Docs>,
) -> Result<&'static str, HandlerError> {
    let found = docs.0.get(name.as_str()).copied();
    found.ok_or(HandlerError::NotFound)
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Search {
    q: Option<String>,
    limit: Option<u32>,
}

async fn search(search: Search) -> Json<Search> {
    Json(search)
}

#[derive(Deserialize, JsonSchema)]
struct Size {
    /// 16 MiB at most.
    #[schemars(range(max = 16_777_216))]
    n: usize,
}

async fn bytes(Size { n }: Size) -> Vec<u8> {
    // In base64 these are letters that differ in its two alphabets.
    [0xFB, 0xFF, 0xFE].into_iter().cycle().take(n).collect()
}

#[derive(Deserialize, JsonSchema)]
struct Café {
    id: String,
}
