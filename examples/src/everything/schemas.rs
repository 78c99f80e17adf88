//! Tools whose arguments or results have schemas worth a look.

use std::collections::BTreeMap;

use mcp_core::{
    Exchange, HandlerError, Json, RegistryBuilder, ToolSpec, dynamic_tool, tool, types::RawJson,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) fn register(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .tool(json_schema_2020_12())
        .tool(tool("test_x_mcp_header", mirrored))
        .tool(tool("big", big))
        .tool(tool("pick", pick))
        .tool(tool("shapes", shapes))
}

/// A schema by hand, with keywords that no Rust type leads to.
fn json_schema_2020_12() -> ToolSpec {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    dynamic_tool("json_schema_2020_12_tool", schema, echo_raw)
        .description("Has a schema with many keywords of JSON Schema 2020-12.")
}

async fn echo_raw(arguments: RawJson, _exchange: Exchange) -> String {
    arguments.get().to_owned()
}

/// Answers with the region, which clients of newer revisions also send as a header.
#[derive(Deserialize, JsonSchema)]
struct Mirrored {
    /// Where to run.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<String>,
}

async fn mirrored(Mirrored { region }: Mirrored) -> String {
    match region {
        Some(region) => format!("region {region}"),
        None => "no region".to_owned(),
    }
}

/// Answers with numbers that a double cannot hold.
#[derive(Deserialize, JsonSchema)]
struct Big {
    /// Any number of 64 bits.
    n: i64,
}

#[derive(Serialize, JsonSchema)]
struct BigNumbers {
    n: i64,
    m: u64,
}

async fn big(Big { n }: Big) -> Json<BigNumbers> {
    Json(BigNumbers { n, m: u64::MAX })
}

/// Answers with its arguments.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Pick {
    /// How many to pick.
    count: u32,
    /// Of which.
    filter: Filter,
    /// With these words.
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Filter {
    a: i64,
}

async fn pick(pick: Pick) -> Json<Pick> {
    Json(pick)
}

/// Answers with its arguments, which have every shape a type may have.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Shapes {
    /// Where the drawing begins.
    from: Point,
    /// Where it ends.
    to: Point,
    /// What to write beside it.
    label: Option<String>,
    /// What to draw.
    shape: Shape,
    /// What it is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<Tree>,
    /// Anything else, by name.
    #[serde(default)]
    weights: BTreeMap<String, f64>,
}

/// A place on the canvas.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Point {
    x: i64,
    y: i64,
}

/// What can be drawn.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    /// A line.
    Line,
    /// A circle.
    Circle {
        /// Half as wide as the circle.
        radius: f64,
    },
    /// A polygon.
    Polygon {
        /// Its corners in order.
        corners: Vec<Point>,
    },
}

/// A part and its parts.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    #[serde(default)]
    children: Vec<Self>,
}

async fn shapes(shapes: Shapes) -> Result<Json<Shapes>, HandlerError> {
    if let Shape::Circle { radius } = shapes.shape
        && radius < 0.0
    {
        return Err(HandlerError::invalid("radius: a circle has none below 0"));
    }
    Ok(Json(shapes))
}
