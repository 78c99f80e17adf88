//! Subscriptions, from the [Subscriptions] page of the specification.
//!
//! [Subscriptions]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions

use crate::meta::MetaObject;
use crate::wire::setters;
use serde::{Deserialize, Serialize};

/// Which notifications a listener wants, or gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// The list of tools changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_list_changed: Option<bool>,
    /// The list of prompts changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts_list_changed: Option<bool>,
    /// The list of resources changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources_list_changed: Option<bool>,
    /// One of these resources changed, by URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_subscriptions: Option<Vec<String>>,
}

impl SubscriptionFilter {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value tools_list_changed: bool,
        value prompts_list_changed: bool,
        value resources_list_changed: bool,
        into resource_subscriptions: Vec<String>,
    }
}

/// What `subscriptions/listen` carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SubscriptionsListenRequestParams {
    /// What the listener wants.
    pub notifications: SubscriptionFilter,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SubscriptionsListenRequestParams {
    /// The required members.
    #[must_use]
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            ..Self::default()
        }
    }

    setters! {
        value meta: MetaObject,
    }
}

/// The first message to a listener: what it will get.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SubscriptionsAcknowledgedNotificationParams {
    /// What of the wish is granted.
    pub notifications: SubscriptionFilter,
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SubscriptionsAcknowledgedNotificationParams {
    /// The required members.
    #[must_use]
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            ..Self::default()
        }
    }

    setters! {
        value meta: MetaObject,
    }
}

/// The end of a subscription.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SubscriptionsListenResult {
    /// Whatever else, by reserved or prefixed key.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SubscriptionsListenResult {
    /// Nothing but the end.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        value meta: MetaObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams,
        SubscriptionsListenRequestParams, SubscriptionsListenResult,
    };
    use crate::wire::testing::check;

    #[test]
    fn subscriptions_come_back() {
        check::<SubscriptionFilter>("{}");
        check::<SubscriptionsListenRequestParams>(concat!(
            r#"{"notifications":{"toolsListChanged":true,"promptsListChanged":false,"#,
            r#""resourcesListChanged":true,"resourceSubscriptions":["a:b"]},"_meta":{}}"#,
        ));
        check::<SubscriptionsAcknowledgedNotificationParams>(r#"{"notifications":{}}"#);
        check::<SubscriptionsListenResult>(r#"{"_meta":{"k":1}}"#);
    }
}
