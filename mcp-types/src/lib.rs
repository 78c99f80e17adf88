//! Wire types of the [Model Context Protocol], in the newest revision's shape.
//!
//! Data and nothing else: how an older revision writes these types is the business of the crate
//! that encodes them.
//! A type has its name in the specification's `schema.ts`; members a revision may lack are
//! `Option`s, members nobody knows are ignored on the way in, and nothing is invented on the way
//! out.
//! Structs are made by `new`, with what the specification requires, and filled in by setters:
//!
//! ```
//! use mcp_types::{CallToolResult, JsonObject, RawJson, Tool, ToolAnnotations};
//!
//! let tool = Tool::new("add", JsonObject::from_iter([("type".to_owned(), "object".into())]))
//!     .title("Add two numbers")
//!     .annotations(ToolAnnotations::new().read_only_hint(true));
//! assert_eq!(
//!     serde_json::to_string(&tool)?,
//!     r#"{"name":"add","title":"Add two numbers","inputSchema":{"type":"object"},"#.to_owned()
//!         + r#""annotations":{"readOnlyHint":true}}"#,
//! );
//!
//! let sum = CallToolResult::text("3").structured_content(RawJson::from_value(&3)?);
//! let read: CallToolResult = serde_json::from_str(&serde_json::to_string(&sum)?)?;
//! assert_eq!(read, sum);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! [Model Context Protocol]: https://modelcontextprotocol.io/specification

mod version;

mod jsonrpc;
mod meta;

mod capabilities;
mod discover;
mod result;

mod content;

mod completion;
mod prompts;
mod resources;
mod tools;

mod elicitation;
mod input;
mod roots;
mod sampling;

mod logging;
mod notifications;
mod subscriptions;

mod wire;

pub use capabilities::{
    ClientCapabilities, ElicitationCapability, Implementation, PromptsCapability,
    ResourcesCapability, RootsCapability, SamplingCapability, ServerCapabilities, ToolsCapability,
};
pub use completion::{
    CompleteRequestParams, CompleteResult, Completion, CompletionArgument, CompletionContext,
    CompletionReference, PromptReference, ResourceTemplateReference,
};
pub use content::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, Icon, IconTheme, ImageContent,
    ResourceLink, Role, TextContent,
};
pub use discover::{DiscoverResult, InitializeRequestParams, InitializeResult};
pub use elicitation::{
    BooleanSchema, ElicitAction, ElicitRequestFormParams, ElicitRequestParams,
    ElicitRequestUrlParams, ElicitResult, ElicitSchema, EnumItems, EnumOption,
    MultiSelectEnumSchema, NumberSchema, PrimitiveSchemaDefinition, SchemaType, StringFormat,
    StringSchema,
};
pub use input::{InputRequest, InputRequests, InputRequiredResult, InputResponse, InputResponses};
pub use jsonrpc::{
    JSONRPC_VERSION, JsonRpcError, RequestId, UnsupportedProtocolVersionData, error_codes,
};
pub use logging::{LoggingLevel, LoggingMessageNotificationParams, SetLevelRequestParams};
pub use meta::{MetaObject, ProgressToken, RequestMetaObject, keys as meta_keys};
pub use notifications::{
    CancelledNotificationParams, ElicitationCompleteNotificationParams, NotificationParams,
    ProgressNotificationParams, ResourceUpdatedNotificationParams, ServerNotification,
};
pub use prompts::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage,
};
pub use resources::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams,
    ReadResourceResult, Resource, ResourceContents, ResourceRequestParams, ResourceTemplate,
};
pub use result::{CacheHints, CacheScope, EmptyResult, PaginatedRequestParams, ResultType};
pub use roots::{ListRootsRequestParams, ListRootsResult, Root};
pub use sampling::{
    CreateMessageRequestParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
    SamplingContentBlock, SamplingMessage, ToolChoice, ToolChoiceMode, ToolResultContent,
    ToolUseContent,
};
pub use subscriptions::{
    SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams, SubscriptionsListenResult,
};
pub use tools::{
    CallToolRequestParams, CallToolResult, ListToolsResult, TaskSupport, Tool, ToolAnnotations,
    ToolExecution,
};
pub use version::ProtocolVersion;
pub use wire::{JsonObject, RawJson};
