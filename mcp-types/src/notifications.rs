//! Notifications: [Progress], [Cancellation] and changes of lists and resources.
//!
//! [Progress]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
//! [Cancellation]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation

use crate::jsonrpc::RequestId;
use crate::logging::LoggingMessageNotificationParams;
use crate::meta::{MetaObject, ProgressToken};
use crate::subscriptions::SubscriptionsAcknowledgedNotificationParams;
use crate::wire::setters;
use serde::{Deserialize, Serialize};

/// What a server may tell without being asked; each revision writes it its own way.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new notification must be written, or left out, by every revision"
)]
pub enum ServerNotification {
    /// A request ended before its answer.
    Cancelled(CancelledNotificationParams),
    /// A request moved on.
    Progress(ProgressNotificationParams),
    /// A log message.
    Message(LoggingMessageNotificationParams),
    /// The list of tools changed.
    ToolsListChanged(NotificationParams),
    /// The list of prompts changed.
    PromptsListChanged(NotificationParams),
    /// The list of resources changed.
    ResourcesListChanged(NotificationParams),
    /// A resource changed.
    ResourceUpdated(ResourceUpdatedNotificationParams),
    /// What a listener will get.
    SubscriptionsAcknowledged(SubscriptionsAcknowledgedNotificationParams),
    /// The user has done what a URL asked for.
    ElicitationComplete(ElicitationCompleteNotificationParams),
}

impl ServerNotification {
    /// The `_meta` of the notification, to tag it.
    pub fn meta_mut(&mut self) -> &mut Option<MetaObject> {
        match self {
            Self::Cancelled(params) => &mut params.meta,
            Self::Progress(params) => &mut params.meta,
            Self::Message(params) => &mut params.meta,
            Self::ToolsListChanged(params)
            | Self::PromptsListChanged(params)
            | Self::ResourcesListChanged(params) => &mut params.meta,
            Self::ResourceUpdated(params) => &mut params.meta,
            Self::SubscriptionsAcknowledged(params) => &mut params.meta,
            Self::ElicitationComplete(params) => &mut params.meta,
        }
    }
}

/// What a notification without more to say carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NotificationParams {
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl NotificationParams {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value meta: MetaObject,
    }
}

/// A request is given up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CancelledNotificationParams {
    /// The request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Why, for the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CancelledNotificationParams {
    /// No particular request.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        into request_id: RequestId,
        into reason: String,
        value meta: MetaObject,
    }
}

/// How far a request is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProgressNotificationParams {
    /// The token of the request.
    pub progress_token: ProgressToken,
    /// How far it is; grows with every notification.
    pub progress: f64,
    /// Where it will end, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is done now; since revision 2025-03-26.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ProgressNotificationParams {
    /// The required members.
    #[must_use]
    pub fn new(progress_token: impl Into<ProgressToken>, progress: f64) -> Self {
        Self {
            progress_token: progress_token.into(),
            progress,
            total: None,
            message: None,
            meta: None,
        }
    }

    setters! {
        value total: f64,
        into message: String,
        value meta: MetaObject,
    }
}

/// A resource changed and may be read again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceUpdatedNotificationParams {
    /// The resource, or a part of it.
    pub uri: String,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ResourceUpdatedNotificationParams {
    /// The required members.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }

    setters! {
        value meta: MetaObject,
    }
}

/// The user has done what a URL asked for; only in revision 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCompleteNotificationParams {
    /// The elicitation.
    pub elicitation_id: String,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ElicitationCompleteNotificationParams {
    /// The required members.
    #[must_use]
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self {
            elicitation_id: elicitation_id.into(),
            ..Self::default()
        }
    }

    setters! {
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        CancelledNotificationParams, ElicitationCompleteNotificationParams, NotificationParams,
        ProgressNotificationParams, ResourceUpdatedNotificationParams, ServerNotification,
    };
    use crate::meta::MetaObject;
    use crate::wire::testing::check;

    #[test]
    fn notifications_come_back() {
        check::<NotificationParams>("{}");
        check::<CancelledNotificationParams>("{}");
        check::<CancelledNotificationParams>(
            r#"{"requestId":123456789012345678901234567890,"reason":"r","_meta":{}}"#,
        );
        check::<ProgressNotificationParams>(r#"{"progressToken":"1","progress":0.5}"#);
        check::<ProgressNotificationParams>(
            r#"{"progressToken":-0,"progress":0.5,"total":1.0,"message":"m"}"#,
        );
        check::<ResourceUpdatedNotificationParams>(r#"{"uri":"a:b"}"#);
        check::<ElicitationCompleteNotificationParams>(r#"{"elicitationId":"e"}"#);
    }

    #[test]
    fn any_notification_can_be_tagged() {
        let params = ResourceUpdatedNotificationParams::new("a:b");
        let mut notification = ServerNotification::ResourceUpdated(params.clone());
        *notification.meta_mut() = Some(MetaObject::new());
        let tagged = params.meta(MetaObject::new());
        assert_eq!(notification, ServerNotification::ResourceUpdated(tagged));
    }
}
