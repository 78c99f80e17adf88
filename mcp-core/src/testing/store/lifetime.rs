//! How long values live.

use std::time::Duration;

use tokio::time::sleep;

use super::Handles;
use crate::{
    Key, Stamp,
    testing::{LONG, OVER, SHORT, broken, fresh_key, sound},
};

pub(super) async fn check(stores: &Handles) {
    tells_what_remains(stores).await;
    expires(stores).await;
    lives_as_long_as_last_said(stores).await;
    touching_extends(stores).await;
    purging_takes_the_dead_alone(stores).await;
}

async fn tells_what_remains([first, second]: &Handles) {
    let key = fresh_key();
    let (hour, day) = (Duration::from_secs(3600), Duration::from_secs(86400));
    let near = |remaining: Duration, ttl: Duration| {
        // A backend may round, and a machine may be slow.
        remaining <= ttl + Duration::from_secs(2) && remaining > ttl / 2
    };
    first.create(&key, b"x", hour).await;
    let found = second.kept(&key).await;
    assert!(near(found.remaining, hour), "get tells what remains");
    first.touch(&key, day).await;
    let found = second.kept(&key).await;
    assert!(near(found.remaining, day), "touch sets what remains");
    first.save(&key, b"x", found.stamp, hour).await;
    let found = second.kept(&key).await;
    assert!(near(found.remaining, hour), "save sets what remains");
    first.delete(&key).await;
}

async fn expires([first, second]: &Handles) {
    let keys: [Key; 5] = std::array::from_fn(|_| fresh_key());
    for key in &keys {
        first.create(key, b"short", SHORT).await;
    }
    let [got, saved, touched, deleted, created] = &keys;
    // A slow machine may be too late to see it.
    let stamp = second.get(saved).await.map(|stored| stored.stamp);
    let stamp = stamp.unwrap_or(Stamp::new(0));
    sleep(OVER).await;
    let promise = "a value whose time has run out is gone";
    assert!(second.get(got).await.is_none(), "get: {promise}");
    let saving = second.save(saved, b"x", stamp, LONG).await;
    assert!(saving.is_none(), "save: {promise}");
    assert!(
        second.get(saved).await.is_none(),
        "save brings nothing back"
    );
    assert!(!second.touch(touched, LONG).await, "touch: {promise}");
    assert!(
        second.get(touched).await.is_none(),
        "touch brings nothing back"
    );
    assert!(!second.delete(deleted).await, "delete: {promise}");
    let creating = second.create(created, b"new", LONG).await;
    assert!(creating, "create: {promise}");
    let value = first.value(created).await;
    assert_eq!(value.as_deref(), Some(&b"new"[..]), "create: {promise}");
    second.create(saved, b"short", LONG).await;
    let late = first.save(saved, b"x", stamp, LONG).await;
    assert!(late.is_none(), "save refuses the stamp of an expired value");
    for key in [created, saved] {
        assert!(
            first.delete(key).await,
            "what follows an expired value lives"
        );
    }
}

async fn lives_as_long_as_last_said([first, second]: &Handles) {
    let keys: [Key; 2] = std::array::from_fn(|_| fresh_key());
    let [touched, saved] = &keys;
    for key in &keys {
        first.create(key, b"x", LONG).await;
    }
    let stamp = second.kept(saved).await.stamp;
    assert!(second.touch(touched, SHORT).await, "touch finds what lives");
    let saving = second.save(saved, b"y", stamp, SHORT).await;
    assert!(saving.is_some(), "save finds what lives");
    sleep(OVER).await;
    for key in &keys {
        let found = first.get(key).await;
        assert!(
            found.is_none(),
            "the last time to live counts, also a shorter"
        );
    }
}

/// A slow machine may be too late to touch, and tries again with more time.
async fn touching_extends(stores: &Handles) {
    let mut ttl = SHORT * 2;
    while ttl < LONG {
        if touches_in_time(stores, ttl).await {
            return;
        }
        ttl *= 2;
    }
    broken("a value lives as long as it was to", &"it never did");
}

async fn touches_in_time([first, second]: &Handles, ttl: Duration) -> bool {
    let (touched, saved) = (fresh_key(), fresh_key());
    first.create(&touched, b"x", ttl).await;
    first.create(&saved, b"x", ttl).await;
    let (Some(before), Some(seen)) = (first.get(&touched).await, first.get(&saved).await) else {
        return false;
    };
    let saving = second.save(&saved, b"y", seen.stamp, LONG).await;
    if !second.touch(&touched, LONG).await || saving.is_none() {
        return false;
    }
    sleep(ttl + OVER).await;
    let after = first.kept(&touched).await;
    assert_eq!(after.stamp, before.stamp, "touch leaves the stamp");
    assert_eq!(after.value, before.value, "touch leaves the value");
    let value = first.value(&saved).await;
    assert_eq!(value.as_deref(), Some(&b"y"[..]), "save lets live longer");
    second.delete(&touched).await;
    second.delete(&saved).await;
    true
}

async fn purging_takes_the_dead_alone([first, second]: &Handles) {
    let (dead, live) = (fresh_key(), fresh_key());
    first.create(&dead, b"x", SHORT).await;
    first.create(&live, b"x", LONG).await;
    let stamp = first.kept(&live).await.stamp;
    sleep(OVER).await;
    for store in [first, second] {
        sound("purge answers", store.0.purge()).await;
        assert!(store.get(&dead).await.is_none(), "what expired stays gone");
        let found = store.kept(&live).await;
        assert_eq!(found.stamp, stamp, "purge leaves what lives");
    }
    first.delete(&live).await;
}
