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

use crate::{Dispatcher, Failure, FailureKind, Limits, Rate, caller::Caller};

impl Dispatcher {
    /// Charges one request to its caller: a message, or one that came to none.
    pub(crate) fn charge(&self, caller: &Caller) -> Result<(), Failure> {
        let registry = self.registry();
        let budget = &registry.backplane().budget;
        budget.charge(&registry.config().limits, caller.account())
    }
}

/// The accounts of one process.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    calls: AtomicUsize,
    /// Apart, so that strangers, however many they are, leave room for those who are known, and
    /// what strangers do is not charged to those who log in from the same place.
    guessers: Accounts,
    strangers: Accounts,
    principals: Accounts,
}

type Accounts = Mutex<HashMap<Box<str>, Arc<Account>>>;

/// Who is charged.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who<'a> {
    /// Nobody in particular, who has no account.
    Nobody,
    /// Whoever tries credentials from there.
    Guesser(&'a str),
    /// Whoever comes from there.
    Stranger(&'a str),
    /// Whoever was verified, by its identity.
    Principal(&'a str),
}

/// Whose things are counted together, where callers are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Stranger(Box<str>),
    Principal(Box<str>),
}

impl Who<'_> {
    /// Whose is what is opened; nobody's in particular otherwise.
    pub(crate) fn owner(self) -> Option<Owner> {
        match self {
            Self::Nobody | Self::Guesser(_) => None,
            Self::Stranger(source) => Some(Owner::Stranger(source.into())),
            Self::Principal(identity) => Some(Owner::Principal(identity.into())),
        }
    }
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

    /// Charges one message to whoever sent it.
    pub(crate) fn charge(&self, limits: &Limits, who: Who<'_>) -> Result<(), Failure> {
        self.try_charge(limits, who, 1.0)
    }

    /// As [`Budget::charge`], for what may turn out to cost nothing.
    pub(crate) fn may_charge(&self, limits: &Limits, who: Who<'_>) -> Result<(), Failure> {
        self.try_charge(limits, who, 0.0)
    }

    fn try_charge(&self, limits: &Limits, who: Who<'_>, tokens: f64) -> Result<(), Failure> {
        let Some((rate, account)) = limits
            .rate
            .and_then(|it| Some((it, self.account(who, it)?)))
        else {
            return Ok(());
        };
        let wait = lock(&account.bucket).take(rate, Instant::now(), tokens);
        match wait {
            None => Ok(()),
            Some(wait) => {
                let setting = "Limits::rate";
                tracing::info!(setting, "a message was refused: its sender sends too many");
                let failure = Failure::new(FailureKind::TooManyRequests, "too many requests");
                Err(failure.retry_after(whole_seconds(wait)))
            }
        }
    }

    /// Charges a handler that is about to work.
    pub(crate) fn enter(
        self: &Arc<Self>,
        limits: &Limits,
        who: Who<'_>,
    ) -> Result<Permit, Failure> {
        let mut permit = Permit {
            budget: Arc::clone(self),
            account: None,
        };
        // From here on, dropping the permit gives back what was charged.
        if self.calls.fetch_add(1, Ordering::Relaxed) >= limits.max_calls {
            let setting = "Limits::max_calls";
            tracing::warn!(setting, "a call was refused: too many are at work");
            let message = "the server has too much to do";
            return Err(Failure::new(FailureKind::Overloaded, message));
        }
        if let Some(account) = self.account(who, limits.rate.unwrap_or_default()) {
            let before = account.calls.fetch_add(1, Ordering::Relaxed);
            permit.account = Some(account);
            if before >= limits.max_calls_per_principal {
                let setting = "Limits::max_calls_per_principal";
                tracing::info!(
                    setting,
                    "a call was refused: its caller has too many at work"
                );
                let message = "too many calls of yours are at work";
                return Err(Failure::new(FailureKind::TooManyRequests, message));
            }
        }
        Ok(permit)
    }

    fn account(&self, who: Who<'_>, rate: Rate) -> Option<Arc<Account>> {
        let (accounts, who) = match who {
            Who::Nobody => return None,
            Who::Guesser(source) => (&self.guessers, source),
            Who::Stranger(source) => (&self.strangers, source),
            Who::Principal(identity) => (&self.principals, identity),
        };
        let mut accounts = lock(accounts);
        if let Some(account) = accounts.get(who) {
            return Some(Arc::clone(account));
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
        Some(Arc::clone(account))
    }

    /// Forgets those who have been silent for long enough.
    pub(crate) fn purge(&self, limits: &Limits) {
        let (rate, now) = (limits.rate.unwrap_or_default(), Instant::now());
        for accounts in [&self.guessers, &self.strangers, &self.principals] {
            let mut accounts = lock(accounts);
            accounts.retain(|_, account| !account.is_settled(rate, now));
            accounts.shrink_to(SMALL);
        }
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

    /// Takes so many tokens where there is one at least, or says how long it will be until then.
    fn take(&mut self, rate: Rate, now: Instant, tokens: f64) -> Option<Duration> {
        self.tokens = self.filled(rate, now);
        self.at = now;
        if self.tokens >= 1.0 {
            self.tokens -= tokens;
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

/// So many callers are told apart, of those who are known and of the others.
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
        let alice = Who::Principal("alice");
        for _ in 0..3 {
            charge(alice).unwrap();
        }
        let refused = charge(alice).unwrap_err();
        assert_eq!(refused.kind, FailureKind::TooManyRequests);
        assert_eq!(refused.retry_after, Some(1));
        charge(Who::Principal("bob")).unwrap();
        charge(Who::Stranger("alice")).unwrap();
        for _ in 0..10 {
            charge(Who::Nobody).unwrap();
        }
        budget.may_charge(&limits, alice).unwrap_err();
        tokio::time::advance(Duration::from_millis(500)).await;
        budget.may_charge(&limits, alice).unwrap();
        charge(alice).unwrap();
        charge(alice).unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_kept_who_owes_nothing() {
        let (budget, limits) = (Arc::new(Budget::default()), limits(Rate::new(1, 2)));
        budget.charge(&limits, Who::Principal("alice")).unwrap();
        let permit = budget.enter(&limits, Who::Principal("bob")).unwrap();
        budget.purge(&limits);
        assert_eq!(lock(&budget.principals).len(), 2);
        tokio::time::advance(Duration::from_secs(2)).await;
        budget.purge(&limits);
        assert_eq!(lock(&budget.principals).len(), 1, "bob is at work");
        drop(permit);
        budget.purge(&limits);
        assert!(lock(&budget.principals).is_empty());
    }

    #[tokio::test]
    async fn calls_are_counted_for_each_and_in_all() {
        let (budget, limits) = (Arc::new(Budget::default()), limits(Rate::default()));
        let enter = |who| budget.enter(&limits, who);
        let held = [
            enter(Who::Principal("alice")).unwrap(),
            enter(Who::Principal("alice")).unwrap(),
        ];
        let refused = enter(Who::Principal("alice")).unwrap_err();
        assert_eq!(refused.kind, FailureKind::TooManyRequests);
        let stranger = enter(Who::Nobody).unwrap();
        let refused = enter(Who::Principal("bob")).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Overloaded);
        assert_eq!(budget.calls(), 3);
        drop((held, stranger));
        assert_eq!(budget.calls(), 0);
        enter(Who::Principal("alice")).unwrap();
    }
}
