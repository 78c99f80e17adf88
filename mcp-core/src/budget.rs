//! What every request is charged to: how many messages its caller sends, how many handlers work.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use crate::{Failure, FailureKind, Limits, Rate};

/// The accounts of one process.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    calls: AtomicUsize,
    accounts: Mutex<HashMap<Box<str>, Arc<Account>>>,
}

/// What one caller is charged.
#[derive(Debug)]
struct Account {
    calls: AtomicUsize,
    bucket: Mutex<Bucket>,
}

/// Tokens, of which each message takes one; they come back with time.
#[derive(Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

/// One handler at work, charged for as long as it is held.
#[derive(Debug)]
pub(crate) struct Permit {
    budget: Arc<Budget>,
    account: Option<Arc<Account>>,
}

impl Budget {
    /// How many handlers are at work.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Charges one message to whoever sent it; nobody in particular (`who` is empty) has no
    /// account.
    pub(crate) fn charge(&self, limits: &Limits, who: &str) -> Result<(), Failure> {
        let Some(rate) = limits.rate.filter(|_| !who.is_empty()) else {
            return Ok(());
        };
        let account = self.account(who, rate);
        let wait = lock(&account.bucket).take(rate, Instant::now());
        match wait {
            None => Ok(()),
            Some(wait) => {
                tracing::info!("a message was refused: its sender sends too many");
                let failure = Failure::new(FailureKind::TooManyRequests, "too many requests");
                Err(failure.retry_after(whole_seconds(wait)))
            }
        }
    }

    /// Charges a handler that is about to work.
    pub(crate) fn enter(self: &Arc<Self>, limits: &Limits, who: &str) -> Result<Permit, Failure> {
        let mut permit = Permit {
            budget: Arc::clone(self),
            account: None,
        };
        // From here on, dropping the permit gives back what was charged.
        if self.calls.fetch_add(1, Ordering::Relaxed) >= limits.max_calls {
            tracing::warn!("a call was refused: too many are at work");
            let message = "the server has too much to do";
            return Err(Failure::new(FailureKind::Overloaded, message));
        }
        if !who.is_empty() {
            let account = self.account(who, limits.rate.unwrap_or_default());
            let before = account.calls.fetch_add(1, Ordering::Relaxed);
            permit.account = Some(account);
            if before >= limits.max_calls_per_principal {
                tracing::info!("a call was refused: its caller has too many at work");
                let message = "too many calls of yours are at work";
                return Err(Failure::new(FailureKind::TooManyRequests, message));
            }
        }
        Ok(permit)
    }

    fn account(&self, who: &str, rate: Rate) -> Arc<Account> {
        let mut accounts = lock(&self.accounts);
        if let Some(account) = accounts.get(who) {
            return Arc::clone(account);
        }
        if accounts.len() >= MAX_ACCOUNTS {
            let now = Instant::now();
            accounts.retain(|_, account| !account.is_settled(rate, now));
        }
        // Those that find no room share an account, rather than to have none.
        let who = if accounts.len() >= MAX_ACCOUNTS {
            ""
        } else {
            who
        };
        let account = accounts.entry(who.into()).or_insert_with(|| {
            Arc::new(Account {
                calls: AtomicUsize::new(0),
                bucket: Mutex::new(Bucket {
                    tokens: rate.burst(),
                    at: Instant::now(),
                }),
            })
        });
        Arc::clone(account)
    }

    /// Forgets those who have been silent for long enough.
    pub(crate) fn purge(&self, limits: &Limits) {
        let (rate, now) = (limits.rate.unwrap_or_default(), Instant::now());
        let mut accounts = lock(&self.accounts);
        accounts.retain(|_, account| !account.is_settled(rate, now));
        accounts.shrink_to(SMALL);
    }
}

impl Account {
    /// Whether a new one would be just the same.
    fn is_settled(self: &Arc<Self>, rate: Rate, now: Instant) -> bool {
        let at_work = Arc::strong_count(self) > 1 || self.calls.load(Ordering::Relaxed) > 0;
        !at_work && lock(&self.bucket).filled(rate, now) >= rate.burst()
    }
}

impl Bucket {
    fn filled(&self, rate: Rate, now: Instant) -> f64 {
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        since
            .mul_add(rate.per_second(), self.tokens)
            .min(rate.burst())
    }

    /// Takes a token, or says how long it will be until there is one.
    fn take(&mut self, rate: Rate, now: Instant) -> Option<Duration> {
        self.tokens = self.filled(rate, now);
        self.at = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return None;
        }
        Some(Duration::from_secs_f64(
            (1.0 - self.tokens) / rate.per_second(),
        ))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.budget.calls.fetch_sub(1, Ordering::Relaxed);
        if let Some(account) = &self.account {
            account.calls.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn whole_seconds(duration: Duration) -> u32 {
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    u32::try_from(seconds).unwrap_or(u32::MAX).max(1)
}

/// So many callers are told apart.
const MAX_ACCOUNTS: usize = 100_000;
/// Room for so many is kept.
const SMALL: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(rate: Rate) -> Limits {
        Limits {
            rate: Some(rate),
            max_calls: 3,
            max_calls_per_principal: 2,
            ..Limits::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_let_through_and_then_so_many_a_second() {
        let (budget, limits) = (Budget::default(), limits(Rate::new(2, 3)));
        let charge = |who| budget.charge(&limits, who);
        for _ in 0..3 {
            charge("alice").unwrap();
        }
        let refused = charge("alice").unwrap_err();
        assert_eq!(refused.kind, FailureKind::TooManyRequests);
        assert_eq!(refused.retry_after, Some(1));
        charge("bob").unwrap();
        for _ in 0..10 {
            charge("").unwrap();
        }
        tokio::time::advance(Duration::from_millis(500)).await;
        charge("alice").unwrap();
        charge("alice").unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_kept_who_owes_nothing() {
        let (budget, limits) = (Arc::new(Budget::default()), limits(Rate::new(1, 2)));
        budget.charge(&limits, "alice").unwrap();
        let permit = budget.enter(&limits, "bob").unwrap();
        budget.purge(&limits);
        assert_eq!(lock(&budget.accounts).len(), 2);
        tokio::time::advance(Duration::from_secs(2)).await;
        budget.purge(&limits);
        assert_eq!(lock(&budget.accounts).len(), 1, "bob is at work");
        drop(permit);
        budget.purge(&limits);
        assert!(lock(&budget.accounts).is_empty());
    }

    #[tokio::test]
    async fn calls_are_counted_for_each_and_in_all() {
        let (budget, limits) = (Arc::new(Budget::default()), limits(Rate::default()));
        let enter = |who| budget.enter(&limits, who);
        let held = [enter("alice").unwrap(), enter("alice").unwrap()];
        let refused = enter("alice").unwrap_err();
        assert_eq!(refused.kind, FailureKind::TooManyRequests);
        let stranger = enter("").unwrap();
        let refused = enter("bob").unwrap_err();
        assert_eq!(refused.kind, FailureKind::Overloaded);
        assert_eq!(budget.calls(), 3);
        drop((held, stranger));
        assert_eq!(budget.calls(), 0);
        enter("alice").unwrap();
    }
}
